// SPDX-License-Identifier: MIT

/// The first of several tasks; the others are cancelled.

#include "sched/when_any.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "sched/timing.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/threads.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

using waits = tasking<timing>;
using job = eff<void, waits, timing>;

struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

eff<int> at_once(int n) { co_return n; }
eff<std::string, timing> late(char const* what, std::chrono::hours after, int& told) {
  try {
    co_await timing::sleep_for{after};
  } catch (cancelled const&) {
    ++told;
    throw;
  }
  co_return what;
}
eff<std::unique_ptr<int>, timing> soon(int n) {
  co_await timing::sleep_for{1ms};
  co_return std::make_unique<int>(n);
}
eff<void, timing> soon_nothing() { co_await timing::sleep_for{1ms}; }
eff<int, timing> soon_fails() {
  co_await timing::sleep_for{1ms};
  throw wrong("first");
}
/// Catches what it is told, and fails of itself.
eff<int, timing> fails_when_told() {
  try {
    co_await timing::sleep_for{1h};
  } catch (cancelled const&) {
  }
  throw wrong("too late");
}

}  // namespace

TEMPLATE_TEST_CASE("the first that ends is given in its place, and the others are told", "", alone,
                   shared_by<2>, stolen_by<2>) {
  every_frame_dies const check;
  std::size_t which = 9;
  int n = 0;
  int told = 0;
  run_on<TestType>([&]() -> job {
    auto first = co_await when_any(late("a", 1h, told), soon(5));
    which = first.index();
    n = *std::get<1>(first);
  });
  CHECK(which == 1);
  CHECK(n == 5);
  CHECK(told <= 1);  // none, if it had not begun
}

TEST_CASE("one that gives nothing can be the first") {
  every_frame_dies const check;
  std::size_t which = 9;
  int told = 0;
  run_on<alone>([&]() -> job {
    auto const first = co_await when_any(late("a", 1h, told), soon_nothing(), late("b", 2h, told));
    which = first.index();
  });
  CHECK(which == 1);
  CHECK(told == 2);
}

TEMPLATE_TEST_CASE("what the first throws is thrown", "", alone, shared_by<2>, stolen_by<2>) {
  every_frame_dies const check;
  std::string thrown;
  int told = 0;
  run_on<TestType>([&]() -> job {
    try {
      (void)co_await when_any(soon_fails(), late("a", 1h, told));
    } catch (wrong const& e) {
      thrown = e.what();
    }
  });
  CHECK(thrown == "first");
}

TEMPLATE_TEST_CASE("what comes too late is dropped, also if it is an error", "", alone,
                   shared_by<2>, stolen_by<2>) {
  every_frame_dies const check;
  int n = 0;
  run_on<TestType>([&]() -> job {
    auto const first = co_await when_any(fails_when_told(), at_once(3));
    n = std::get<1>(first);
  });
  CHECK(n == 3);
}

TEST_CASE("who is cancelled round it finds that, and no value") {
  every_frame_dies const check;
  bool was_told = false;
  int told = 0;
  run_on<alone>([&]() -> job {
    try {
      co_await with_scope({.timeout = 1ms}, [&](auto&) -> job {
        (void)co_await when_any(late("a", 1h, told), late("b", 1h, told));
      });
    } catch (cancelled const&) {
      was_told = true;
    }
  });
  CHECK(was_told);
  CHECK(told == 2);
}
