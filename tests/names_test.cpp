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

eff<void, emit<int>> ones(int n) {
  for (int i = 0; i != n; ++i) co_await emit<int>::value{1};
}

}  // namespace

TEST_CASE("`using namespace weft` hides nothing of the C library, and is hidden by nothing") {
  std::string text;
  schedule(parent, console_to_string(text));
  persistent_deque<int> const d{1};
  CHECK(text == "xx");
  int sum = 0;
  for (int const one : each(ones, 3)) sum += one;
  CHECK(sum == 3);
  CHECK(std::abs(-d.front()) == 1);
}
