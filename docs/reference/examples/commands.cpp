// SPDX-License-Identifier: MIT
// Commands to the world outside: issued, in flight, answered at once, later by a tag, or not at all.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/commands/commands.hpp>
#include <weft/sched/commands/replies.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

struct resolve : command<std::string> {
  explicit resolve(std::string h) : host(std::move(h)) {}
  std::string host;
};

eff<void, commands<resolve>> program() {
  in_flight<std::string> a = co_await issue(resolve("a"));
  in_flight<std::string> b = co_await issuing<resolve>::issue(resolve("b"));
  std::cout << a.is_ready() << a.tag() << b.tag() << '\n';
  auto const in_time = co_await b.wait_until(instant());
  std::string const at_a = co_await a.wait();
  std::cout << at_a << in_time.has_value() << '\n';
  std::string const at_c = co_await perform(resolve("c"));
  std::cout << at_c << '\n';
  try {
    co_await perform(resolve("lost"));
  } catch (command_dropped const& e) {
    std::cout << "command_dropped, tag " << e.tag() << '\n';
  }
  try {
    co_await b.wait();
  } catch (std::runtime_error const& e) {
    std::cout << e.what() << '\n';
  }
}

int main() {
  replies<std::string> book;
  thread_safe_dispatchers d{[&book](resolve c, reply<std::string> r) {
    if (c.host == "a" || c.host == "b")
      book.keep(std::move(r));
    else if (c.host == "c")
      r.complete("at once, tag " + std::to_string(r.tag()));
    if (c.host == "c") book.fail(2, std::make_exception_ptr(std::runtime_error("no such host")));
    if (book.size() == 2) book.complete(1, "10.0.0.1");
  }};
  schedule(program, d);

  dispatchers failing{[](resolve, reply<std::string> r) {
    r.fail(std::make_exception_ptr(std::runtime_error("offline")));
  }};
  try {
    schedule([]() -> eff<void, commands<resolve>> { (void)co_await perform(resolve("a")); },
             failing);
  } catch (std::runtime_error const& e) {
    std::cout << e.what() << '\n';
  }
  auto later = reply<int>::to<resolve>(7);  // as a handler of one's own makes it
  std::cout << later.get_in_flight().tag() << '\n';
}
