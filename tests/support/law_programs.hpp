// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "tests/support/schedules.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// Programs that print the same words in every order.  The law is in the words; their order under
/// `schedule` has tests of its own.
namespace weft::tests {

inline everything nested_forks() {
  using half = eff<void, proc, console>;
  co_await fork(
      []() -> half {
        co_await console::print{"a "};
        co_await fork([]() -> half { co_await console::print{"b "}; },
                      []() -> half { co_await console::print{"c "}; });
        co_await console::print{"d "};
      },
      []() -> half {
        co_await proc::yield{};
        co_await console::print{"e "};
      });
  co_await console::print{"f "};
}

inline everything copies_its_locals() {
  int y = 0;
  bool const first = co_await proc::fork{};
  y += first ? 1 : 10;
  co_await proc::yield{};
  co_await console::print{std::to_string(y) + " "};
}

/// Forks n times in a row, and so becomes 2 to the n processes.
inline everything says_bits(int n) {
  std::string bits;
  for (int i = 0; i != n; ++i) {
    bool const bit = co_await proc::fork{};
    bits += bit ? '1' : '0';
  }
  co_await console::print{bits + " "};
}

inline eff<void, console> says(std::string what) { co_await console::print{std::move(what)}; }

inline everything has_grandchildren() {
  using descendants = spawning<proc, console, syncing>;
  co_await spawn([]() -> eff<void, console, descendants> {
    co_await console::print{"child "};
    co_await spawn([]() -> eff<void, descendants> {
      co_await spawn(says, std::string("grandchild "));
      co_await spawn([]() -> eff<void> { co_return; });
    });
  });
  co_await console::print{"parent "};
}

inline everything spawns_before_it_forks() {
  co_await spawn([]() -> eff<void, console> { co_await console::print{"child "}; });
  co_await spawn(forkable, []() -> eff<void, console> { co_await console::print{"other "}; });
  co_await proc::fork{};
  co_await proc::fork{};
  co_await console::print{"end "};
}

/// The call of the spawned function throws.
inline everything spawns_in_vain() {
  int caught = 0;
  for (int i = 0; i != 2; ++i) {
    try {
      co_await spawn(
          [](int n) -> eff<void, console> {
            if (n >= 0) throw std::runtime_error("not even begun");
            return says("never ");
          },
          i);
    } catch (std::runtime_error const&) {
      ++caught;
    }
  }
  co_await proc::fork{};
  co_await console::print{std::to_string(caught) + " "};
}

}  // namespace weft::tests
