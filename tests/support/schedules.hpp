// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/gate.hpp"

/// For tests of the scheduler: running a program to its end, and a few programs.
namespace weft::tests {

/// The output of a program; checks that every frame is destroyed.
template <class Backend = one_thread, class Program, class... Handlers>
std::string printed_by(schedule_options options, Program p, Handlers&&... handlers) {
  every_frame_dies const check;
  std::string text;
  schedule<Backend>(options, std::move(p), console_to_string(text), handlers...);
  return text;
}
template <class Backend = one_thread, class Program, class... Handlers>
std::string printed_by(Program p, Handlers&&... handlers) {
  return printed_by<Backend>(schedule_options(), std::move(p), handlers...);
}

/// The output of a program, and the exception of schedule, with the processes that threw.
template <class Backend = one_thread, class Program>
std::string end_of(Program p) {
  every_frame_dies const check;
  std::string text;
  try {
    schedule<Backend>(std::move(p), console_to_string(text));
  } catch (exceptions const& e) {
    for (auto const& f : e.all) {
      text += " [" + f.process.text() + ": ";
      try {
        std::rethrow_exception(f.error);
      } catch (std::exception const& inner) {
        text += inner.what();
      }
      text += ']';
    }
  } catch (std::exception const& e) {
    text += " [" + std::string(e.what()) + ']';
  }
  return text;
}

/// The message of the exception of a resume in ordinary code.
template <class K>
std::string refusal(K k) {
  try {
    resume(std::move(k));
  } catch (std::exception const& e) {
    return e.what();
  }
  return "none";
}

/// May perform everything, and spawn children.
using everything = eff<void, spawning<proc, console, syncing>, proc, console, syncing>;

/// Ticks once, and prints `name` before and after.
inline eff<void, tick, everything::effects> ticks(std::string name) {
  co_await console::print{name + " before "};
  co_await proc::yield{};
  co_await tick::now{};
  co_await proc::yield{};
  co_await console::print{name + " after "};
}

/// Spawns, forks, yields and exits.
inline everything talks() {
  co_await spawn(forkable, []() -> everything {
    for (int i = 0; i != 3; ++i) {
      co_await console::print{"s" + std::to_string(i) + " "};
      co_await proc::yield{};
    }
  });
  int n = 0;
  for (int i = 0; i != 2; ++i) {
    bool const bit = co_await proc::fork{};
    n = 2 * n + bit;
    co_await console::print{std::to_string(n) + " "};
  }
  co_await proc::yield{};
  if (n == 2) co_await proc::exit{};
  co_await console::print{"end" + std::to_string(n) + " "};
}

/// Gives a different answer each time.
struct counts {
  int n = 0;
  int on(ask::get) { return ++n; }
};

}  // namespace weft::tests
