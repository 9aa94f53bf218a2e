// SPDX-License-Identifier: MIT

/// Likely mistakes that compile, and what weft says of them when they run.  The output is in
/// docs/mistakes.md.

#include <unistd.h>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};
struct promised : handler<question>, region {
  std::vector<resumption<int>> waiting;
  void on(question::ask, resumption<int> k) { waiting.push_back(std::move(k)); }
};
eff<void, question> asks() {
  int const n = co_await question::ask{};
  std::cout << n << '\n';
}

// ---- a handler ends before what it keeps is resumed

void handler_ends_too_early() {
  promised p;
  run(handle(p, asks));
}
void resumed_too_late() {
  std::vector<resumption<int>> kept;
  {
    promised p;
    p.allow_dropping();
    run(handle(p, asks));
    kept = std::move(p.waiting);
  }
  resume(std::move(kept.front()), 42);
}
struct forgetful : handler<question> {
  std::vector<resumption<int>> waiting;
  void on(question::ask, resumption<int> k) { waiting.push_back(std::move(k)); }
};
void borrowed_handler_is_no_region() {
  forgetful f;
  run(handle(f, asks));
}

// ---- a computation, or a resumption, is used twice

eff<int> answer() { co_return 42; }
eff<int> awaits_twice() {
  auto later = answer();
  int const n = co_await std::move(later);
  co_return n + co_await std::move(later);
}
void computation_awaited_twice() { (void)run(awaits_twice()); }
struct resumes_twice : handler<question> {
  eff<int> on(question::ask, resumption<int, int> k) {
    int const n = co_await std::move(k)(1);
    co_return n + co_await std::move(k)(2);
  }
};
eff<int, question> asks_for_a_number() { co_return co_await question::ask{}; }
void resumption_used_twice() { (void)run(handle(resumes_twice(), asks_for_a_number)); }

// ---- processes

eff<void, mail> waits_for_itself() {
  auto [in, to] = co_await open<int>();
  (void)co_await in.receive();
}
void no_process_sends() { schedule(waits_for_itself); }
eff<void, mail> receives_from_nobody() {
  auto [in, to] = co_await open<int>();
  {
    auto const gone = std::move(to);
  }
  (void)co_await in.receive();
}
void all_addresses_are_gone() { schedule(receives_from_nobody); }
eff<void, syncing> locks_twice(mutex& m) {
  auto const held = co_await m.lock();
  auto const again = co_await m.lock();
}
void mutex_locked_twice() {
  mutex m;
  schedule([&m] { return locks_twice(m); });
}
eff<void, proc> throws() {
  co_await proc::yield{};
  throw std::runtime_error("a process has thrown");
}
eff<void, spawning<proc>, proc> spawns_one_that_throws() {
  co_await spawn(throws);
  for (;;) co_await proc::yield{};
}
void process_throws() { schedule(spawns_one_that_throws); }
int visits = 0;
eff<void, proc, console> depends_on_a_global() {
  if (++visits == 1) co_await console::print("once");
  co_await proc::fork{};
}
void run_again_with_another_past() {
  std::string text;
  schedule(depends_on_a_global, console_to_string(text));
}

// ---- a clause that cannot be suspended

struct numbered : handler<console> {
  void on(console::print const& p, outer<console> up) { up(p); }
  void on(console::print_line const& p, outer<console> up) { up(p); }
};
struct stops : handler<console> {
  void on(console::print const&, resumption<void>) const {}
  void on(console::print_line const&, resumption<void>) const {}
};
eff<void, console> prints() { co_await console::print("text"); }
void clause_asks_for_control() { run(handle(numbered() | stops(), prints)); }

void tries(char const* mistake, void (*makes)()) {
  std::cout << mistake << ":\n";
  try {
    makes();
  } catch (std::exception const& e) {
    std::cout << e.what() << '\n';
  }
  std::cout << '\n';
}

int main() {
  ::dup2(1, 2);  // the notice is on stderr
  std::cout << std::unitbuf;
  tries("a handler that keeps resumptions ends after run()", handler_ends_too_early);
  tries("a resumption is resumed after its handler has ended", resumed_too_late);
  tries("a handler keeps resumptions, and is no region", borrowed_handler_is_no_region);
  tries("a computation is awaited twice", computation_awaited_twice);
  tries("a resumption is used twice", resumption_used_twice);
  tries("a process waits for a message of its own", no_process_sends);
  tries("a process waits for a message when all addresses are gone", all_addresses_are_gone);
  tries("a process locks a mutex twice", mutex_locked_twice);
  tries("a process throws", process_throws);
  tries("code that runs twice depends on a global", run_again_with_another_past);
  tries("a value clause asks a handler that takes the resumption", clause_asks_for_control);
}
