// SPDX-License-Identifier: MIT

/// Our names stand beside those of the C library.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>

#include "deque/deque.hpp"
#include "effects/effects.hpp"
#include "sched/schedule.hpp"

using namespace weft;

namespace {

eff<void, proc, console> child() { co_await console::print{"x"}; }
eff<void, proc, console> parent() {
  co_await fork(child, child);
  co_await proc::exit{};
}

}  // namespace

TEST_CASE("`using namespace weft` hides nothing of the C library, and is hidden by nothing") {
  std::string text;
  schedule(parent, console_to_string(text));
  persistent_deque<int> const d{1};
  CHECK(text == "xx");
  CHECK(std::abs(-d.front()) == 1);
}
