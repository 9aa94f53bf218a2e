// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/when_any.hpp"

#include "tests/prelude.hpp"

/// The first of several tasks; the others are cancelled.

using waits = tasking<timing>;
using job = eff<void, waits, timing>;

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

eff<int, timing> after(int n) {
  co_await timing::sleep_for{std::chrono::milliseconds(n == 3 ? 1 : 1000 + n)};
  co_return 10 * n;
}

BACKENDS_TEST_CASE(
    "the first task that ends yields its result at its index, and the others are cancelled", "",
    on_one_thread, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::size_t which = 9;
  int n = 0;
  int told = 0;
  run_on(chosen, [&]() -> job {
    auto first = co_await when_any(late("a", 1h, told), soon(5));
    which = first.index();
    n = *std::get<1>(first);
  });
  CHECK(which == 1);
  CHECK(n == 5);
  CHECK(told <= 1);  // none, if it had not begun
}

eff<void, timing> soon_nothing() { co_await timing::sleep_for{1ms}; }

TEST_CASE("a task that yields nothing can be the first") {
  every_frame_dies const check;
  std::size_t which = 9;
  int told = 0;
  run_on<on_one_thread>([&]() -> job {
    auto const first = co_await when_any(late("a", 1h, told), soon_nothing(), late("b", 2h, told));
    which = first.index();
  });
  CHECK(which == 1);
  CHECK(told == 2);
}

eff<int, timing> soon_fails() {
  co_await timing::sleep_for{1ms};
  throw wrong("first");
}

BACKENDS_TEST_CASE("an exception of the first task is thrown", "", on_one_thread, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  std::string thrown;
  int told = 0;
  run_on(chosen, [&]() -> job {
    try {
      (void)co_await when_any(soon_fails(), late("a", 1h, told));
    } catch (wrong const& e) {
      thrown = e.what();
    }
  });
  CHECK(thrown == "first");
}

eff<int> at_once(int n) { co_return n; }

/// Catches its cancellation, and fails with another exception.
eff<int, timing> fails_when_told() {
  try {
    co_await timing::sleep_for{1h};
  } catch (cancelled const&) {
  }
  throw wrong("too late");
}

BACKENDS_TEST_CASE("a late result is dropped, even if it is an exception", "", on_one_thread,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int n = 0;
  run_on(chosen, [&]() -> job {
    auto const first = co_await when_any(fails_when_told(), at_once(3));
    n = std::get<1>(first);
  });
  CHECK(n == 3);
}

TEST_CASE("a process that is cancelled outside of when_any gets the cancellation, and no value") {
  every_frame_dies const check;
  bool was_told = false;
  int told = 0;
  run_on<on_one_thread>([&]() -> job {
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

// ---- ranges

BACKENDS_TEST_CASE("when_any of a range yields the first result with its number", "", on_one_thread,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::pair<std::size_t, int> first;
  std::size_t of_a_vector = 9;
  std::unique_ptr<int> owned;
  run_on(chosen, [&]() -> job {
    first = co_await when_any(std::views::iota(0, 6) | std::views::transform(after));
    std::vector<eff<std::unique_ptr<int>, timing>> one;
    one.push_back(soon(7));
    auto [which, p] = co_await when_any(std::move(one));
    of_a_vector = which;
    owned = std::move(p);
  });
  CHECK(first == std::pair<std::size_t, int>(3, 30));
  CHECK(of_a_vector == 0);
  CHECK(*owned == 7);
}

TEST_CASE("when_any of a range of tasks that yield nothing yields the number") {
  every_frame_dies const check;
  std::size_t which = 9;
  int told = 0;
  auto const waits = [&told](int n) -> eff<void, timing> {
    try {
      co_await timing::sleep_for{n == 2 ? instant::duration(1ms) : instant::duration(1h)};
    } catch (cancelled const&) {
      ++told;
      throw;
    }
  };
  run_on<on_one_thread>([&]() -> job {
    which = co_await when_any(std::views::iota(0, 4) | std::views::transform(waits));
  });
  CHECK(which == 2);
  CHECK(told == 3);
}

TEST_CASE("an exception of the first task of a range is thrown") {
  every_frame_dies const check;
  std::string thrown;
  run_on<on_one_thread>([&]() -> job {
    std::vector<eff<int, timing>> all;
    all.push_back(after(1));
    all.push_back(soon_fails());
    try {
      (void)co_await when_any(std::move(all));
    } catch (wrong const& e) {
      thrown = e.what();
    }
  });
  CHECK(thrown == "first");
}

TEST_CASE("when_any of an empty range is refused") {
  every_frame_dies const check;
  bool is_refused = false;
  run_on<on_one_thread>([&]() -> job {
    try {
      (void)co_await when_any(std::vector<eff<int, timing>>());
    } catch (std::invalid_argument const&) {
      is_refused = true;
    }
  });
  CHECK(is_refused);
}

TEST_CASE("when_any of a computation that was moved from says so, whichever would end first") {
  every_frame_dies const check;
  int refused = 0;
  run_on<on_one_thread>([&]() -> job {
    for (bool const is_last : {false, true}) try {
        eff<int, timing> moved = after(1);
        eff<int, timing> const kept = std::move(moved);
        if (is_last)
          (void)co_await when_any(after(1), std::move(moved));
        else
          (void)co_await when_any(std::move(moved), after(1));
      } catch (eff_empty const&) {
        ++refused;
      }
  });
  CHECK(refused == 2);
}
