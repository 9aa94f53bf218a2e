// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "tests/support/printing_programs.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/gate.hpp"

/// Programs for tests of failures, and of the cancellations that follow.
namespace weft::tests {

[[noreturn]] inline void throws(std::string const& what) { throw std::runtime_error(what); }

/// Yields until an exception, prints what it found, and ends.
inline program tells_of_cancellation(std::string name) {
  std::string found;
  try {
    for (;;) co_await proc::yield{};
  } catch (cancelled const&) {
    found = "cancelled ";
  }
  co_await console::print{name + found};
}

}  // namespace weft::tests
