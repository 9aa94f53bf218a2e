// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "bench/harness.hpp"
#include "bench/rivals_threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/commands/run_stepper.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"

/// Two questions about commands.
///
///   command  A process performs a command, its dispatcher hands it to another thread, which
///            answers it, many times in a row.  ns a round trip.
///   step     A hand-written state machine issues one command a step, which is answered at once;
///            beside a coroutine that does the same.  ns a step.
///
/// The rival of `command` is two threads that pass the same numbers to and fro, each with a mutex
/// and a condition variable.  Both sides sleep and are woken equally often, so the difference is
/// the cost of a command.
namespace weft::bench {

/// A number, whose reply is another number.
struct next_number : command<std::uint64_t> {
  explicit next_number(std::uint64_t n) : number(n) {}
  std::uint64_t number;
};
inline std::uint64_t next_of(std::uint64_t n) { return n * 31 + 7; }

// ---- command

/// A thread that answers until it gets a question without a reply.
class answering_thread {
 public:
  struct question {
    std::uint64_t number = 0;
    std::optional<reply<std::uint64_t>> from{};  // empty: the thread ends
  };
  answering_thread() : thread_([this] { work(); }) {}
  answering_thread(answering_thread const&) = delete;
  answering_thread& operator=(answering_thread const&) = delete;
  ~answering_thread() {
    box_.put(question{});
    thread_.join();
  }
  void ask(std::uint64_t n, reply<std::uint64_t> r) { box_.put({n, std::move(r)}); }

 private:
  void work() {
    for (;;) {
      question q = box_.wait();
      if (!q.from) return;
      q.from->complete(next_of(q.number));
    }
  }
  letter_box<question> box_;
  std::thread thread_;  // last: the thread uses the box
};

inline eff<void, commands<next_number>> asks_in_a_row(std::uint64_t* number, std::size_t rounds) {
  for (std::size_t i = 0; i != rounds; ++i) *number = co_await perform(next_number(*number));
}
template <class Backend>
timed commands_in_a_row(typename scheduler<Backend>::options how, std::size_t rounds) {
  answering_thread other;
  std::uint64_t number = 0;
  return whole([&] {
    schedule<Backend>(
        how, [&] { return asks_in_a_row(&number, rounds); },
        thread_safe_dispatchers{
            [&](next_number c, reply<std::uint64_t> r) { other.ask(c.number, std::move(r)); }});
    return number;
  });
}
inline timed hand_shakes_in_a_row(std::size_t rounds) {
  letter_box<std::optional<std::uint64_t>> there;
  letter_box<std::uint64_t> back;
  std::thread other([&] {
    for (auto n = there.wait(); n; n = there.wait()) back.put(next_of(*n));
  });
  std::uint64_t number = 0;
  timed const t = whole([&] {
    for (std::size_t i = 0; i != rounds; ++i) {
      there.put(number);
      number = back.wait();
    }
    return number;
  });
  there.put({});
  other.join();
  return t;
}

// ---- step

/// Issues one command after the other.
class counting_machine {
 public:
  using commands = command_list<next_number>;
  using input = std::pair<std::uint64_t*, std::size_t>;

  void init(std::string_view method, input with) {
    static entry_points<int> const methods{{"count", 0}};
    (void)methods.at<counting_machine>(method);
    number_ = with.first;
    left_ = with.second;
  }
  void step(std::span<event> events, step_output<next_number>& out) {
    for (event& e : events) *number_ = e.result<std::uint64_t>();
    if (left_-- == 0)
      out.status = step_status::done;
    else
      out.issue(next_number(*number_));
  }
  void close() noexcept {}

 private:
  std::uint64_t* number_ = nullptr;
  std::size_t left_ = 0;
};
inline eff<void, spawning<steppers<counting_machine>>> starts_counting(std::uint64_t* number,
                                                                       std::size_t n) {
  co_await start_stepper(counting_machine(), "count", {number, n});
}
/// Yields after each command, as the driver of a stepper does.
inline eff<void, yielding, commands<next_number>> counts_itself(std::uint64_t* number,
                                                                std::size_t n) {
  for (std::size_t i = 0; i != n; ++i) {
    *number = co_await perform(next_number(*number));
    co_await yielding::yield{};
  }
}
template <class Counting>
timed counted(Counting counting, std::size_t n) {
  std::uint64_t number = 0;
  return whole([&] {
    schedule(
        [&] { return counting(&number, n); },
        dispatchers{[](next_number c, reply<std::uint64_t> r) { r.complete(next_of(c.number)); }});
    return number;
  });
}

/// Measures both.
inline void compare_commands(suite& bench) {
  std::size_t const rounds = bench.is_quick() ? 100 : 20'000;
  auto const rival = [=] { return hand_shakes_in_a_row(rounds); };
  bench.compare_runs(
      "command", [=] { return commands_in_a_row<one_thread>({}, rounds); }, "condvar hand-shake",
      rival, rounds);
  bench.compare_runs(
      "command/sharing", [=] { return commands_in_a_row<sharing>({.threads = 1}, rounds); },
      "condvar hand-shake", rival, rounds);
  bench.compare_runs(
      "command/stealing", [=] { return commands_in_a_row<stealing>({.threads = 1}, rounds); },
      "condvar hand-shake", rival, rounds);

  std::size_t const steps = bench.is_quick() ? 1000 : 100'000;
  bench.compare_runs(
      "step", [=] { return counted(starts_counting, steps); }, "coroutine process",
      [=] { return counted(counts_itself, steps); }, steps);
}

}  // namespace weft::bench
