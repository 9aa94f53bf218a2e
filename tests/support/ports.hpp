// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "tests/support/tracked.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/ready/console.hpp"
#include "weft/sched/mail/mail.hpp"

/// Messages and processes for tests of ports.
namespace weft::tests {

using message = tracked<moves::safely>;

/// Checks that constructions and destructions of messages are balanced, and that there are some.
class every_message_dies {
 public:
  every_message_dies() = default;
  every_message_dies(every_message_dies const&) = delete;
  every_message_dies& operator=(every_message_dies const&) = delete;
  ~every_message_dies() {
    CHECK(message::births - births_ == message::deaths - deaths_);
    CHECK(message::births != births_);
  }

 private:
  long const births_ = message::births;
  long const deaths_ = message::deaths;
};

inline auto say(std::string s) { return console::print{std::move(s)}; }
inline std::string text(int n) { return std::to_string(n) + ' '; }

/// Prints all messages, until no sender is left.
inline eff<void, console, mail> receives_all(inbox<int> in) {
  for (auto m = co_await in.next(); m; m = co_await in.next()) co_await say(text(*m));
  co_await say("end ");
}

}  // namespace weft::tests
