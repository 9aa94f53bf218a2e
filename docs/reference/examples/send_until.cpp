// SPDX-License-Identifier: MIT
// A full mailbox: sending with a deadline, or not at all; the message comes back.
#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

char const* name_of(delivery d) {
  switch (d) {
    case delivery::sent:
      return "sent";
    case delivery::too_late:
      return "too late";
    case delivery::no_inbox:
      return "no inbox";
  }
  return "";
}

eff<void, mail, timing> program() {
  auto [in, to] = co_await open<std::string>({.capacity = 1});
  instant const now = co_await timing::now{};
  send_result<std::string> const first = co_await to.try_send("first");
  send_result<std::string> const second = co_await to.send_until(now + 1s, "second");
  std::cout << name_of(first.what) << ", " << name_of(second.what) << ": " << *second.unsent
            << '\n';
  {
    auto const gone = std::move(in);
  }
  auto const third = co_await to.try_send("third");
  bool const fourth = co_await to.send("fourth");
  std::cout << name_of(third.what) << ", " << bool(third) << fourth << '\n';
}

int main() { schedule({.virtual_time = true}, program); }
