// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/tasks/detail/task_errors.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// The cost of a cancellation: proportional to the size of the scope, independent of everything
/// else.  The tests count accesses to shared locations (sched/base/detail/location_listener.hpp),
/// among them each query whether a group is cancelled.

TEST_CASE("of a hundred thousand errors of cancelled tasks one is kept") {
  weft::detail::task_errors errors;
  for (int i = 0; i != 100'000; ++i) {
    errors.add(process_id(), std::make_exception_ptr(cancelled()));
    REQUIRE(errors.size() == 1);
  }
  SECTION("the kept error is thrown") { CHECK_THROWS_AS(errors.throw_them(), cancelled); }
  SECTION("another exception is thrown in its place") {
    errors.add(process_id(), std::make_exception_ptr(1));
    errors.add(process_id(), std::make_exception_ptr(cancelled()));
    CHECK(errors.size() == 2);
    CHECK_THROWS_AS(errors.throw_them(), int);
  }
  SECTION("drop_cancelled removes it") {
    errors.drop_cancelled();
    CHECK(errors.empty());
    errors.add(process_id(), std::make_exception_ptr(cancelled()));
    CHECK(errors.size() == 1);
  }
}

/// Counts accesses while it lives.
class counting final : public weft::detail::location_listener {
 public:
  explicit counting(std::size_t& n) noexcept : n_(n) { of_thread = this; }
  ~counting() { of_thread = nullptr; }

  void note_created(void const*) noexcept override {}
  void note_destroyed(void const*) noexcept override {}
  void note_access(void const*, bool) noexcept override { ++n_; }
  void note_time() noexcept override {}
  void note_all_cancelled() noexcept override {}
  void note_fork(process_id, process_id, void const*) noexcept override {}
  void note_rerun() noexcept override {}

 private:
  std::size_t& n_;
};
/// The growth of the number of accesses for a size four times as large: 4 if it is linear, 16 if it
/// is quadratic.
template <class Asked>
double growth(Asked asked, int n) {
  return static_cast<double>(asked(4 * n)) / static_cast<double>(asked(n));
}

using sleeping = row<proc, timing, tasking<proc, timing>>;

/// Runs `inside` in so many nested scopes.
template <class Inside>
eff<void, sleeping> nested(int depth, bool with_tasks, Inside& inside) {
  if (depth == 0) {
    co_await inside();
    co_return;
  }
  co_await with_scope([&](auto& s) -> eff<void, sleeping> {
    if (with_tasks) s.start([]() -> eff<void, proc, timing> { co_await timing::sleep_for(1h); });
    co_await nested(depth - 1, with_tasks, inside);
  });
}
std::size_t asked_by_a_throw(int depth) {
  std::size_t n = 0;
  counting const on(n);
  bool was_caught = false;
  schedule<one_thread>([&]() -> eff<void, sleeping> {
    auto throws = []() -> eff<void, sleeping> {
      throw 1;
      co_return;
    };
    try {
      co_await nested(depth, false, throws);
    } catch (int) {
      was_caught = true;
    }
  });
  CHECK(was_caught);
  return n;
}

TEST_CASE("an exception that passes deeply nested scopes queries each a bounded number of times") {
  every_frame_dies const check;
  CHECK(growth(asked_by_a_throw, 500) < 4.1);
}

std::size_t asked_by_cancelling_outermost(int depth, bool with_tasks) {
  std::size_t n = 0;
  schedule<one_thread>([&]() -> eff<void, sleeping> {
    bool is_there = false;
    auto sleeps = [&]() -> eff<void, sleeping> {
      is_there = true;
      co_await timing::sleep_for(1h);
    };
    co_await with_scope([&](auto& s) -> eff<void, sleeping> {
      s.start([&] { return nested(depth, with_tasks, sleeps); });
      while (!is_there) co_await proc::yield{};
      weft::detail::location_listener::of_thread = new counting(n);
      s.cancel();
    });
  });
  delete static_cast<counting*>(weft::detail::location_listener::of_thread);
  return n;
}

TEST_CASE(
    "cancelling the outermost of deeply nested scopes queries each a bounded number of times") {
  every_frame_dies const check;
  CHECK(growth([](int n) { return asked_by_cancelling_outermost(n, false); }, 500) < 4.1);
  CHECK(growth([](int n) { return asked_by_cancelling_outermost(n, true); }, 500) < 4.1);
}

/// Scopes whose timeouts pass one by one, while all others wait; or all at once.
template <class Where>
std::size_t asked_by_timeouts(int scopes, bool at_once = false) {
  std::size_t n = 0;
  int late = 0;
  {
    counting const on(n);
    using here = row<proc, timing, completions, tasking<proc, timing, completions>>;
    run_on<Where>(virtual_time<Where>(), [&]() -> eff<void, here> {
      co_await with_scope([&](auto& s) -> eff<void, here> {
        for (int i = 0; i != scopes; ++i)
          s.start([&, i]() -> eff<void, here> {
            try {
              co_await with_scope({.timeout = at_once ? 1s : i * 1s}, [](auto&) -> eff<void, here> {
                co_await timing::sleep_for(1'000'000s);
              });
            } catch (cancelled const&) {
              ++late;
            }
          });
        co_return;
      });
    });
  }
  CHECK(late == scopes);
  return n;
}

TEST_CASE("a timeout queries the waiting processes of its scope only") {
  every_frame_dies const check;
  auto const one_by_one = [](auto where) {
    return [](int n) { return asked_by_timeouts<decltype(where)>(n); };
  };
  CHECK(growth(one_by_one(on_one_thread()), 300) < 4.1);
  CHECK(growth(one_by_one(in_random_order()), 300) < 4.1);
}

TEMPLATE_TEST_CASE(
    "timeouts that pass together query each waiting process a bounded number of times", "",
    on_sharing<1>, on_stealing<1>) {
  every_frame_dies const check;
  CHECK(growth([](int n) { return asked_by_timeouts<TestType>(n, true); }, 300) < 4.5);
}

/// Tasks of a join that wait, each in a scope of its own.
std::size_t asked_by_cancelling_joins(int tasks) {
  std::size_t n = 0;
  schedule<one_thread>([&]() -> eff<void, sleeping> {
    int there = 0;
    auto waits = [&]() -> eff<void, sleeping> {
      co_await with_scope([&](auto& s) -> eff<void, sleeping> {
        s.start([&]() -> eff<void, proc, timing> {
          ++there;
          co_await timing::sleep_for(1h);
        });
        co_return;
      });
    };
    co_await with_scope([&](auto& s) -> eff<void, sleeping> {
      s.start([&]() -> eff<void, sleeping> {
        std::vector<eff<void, sleeping>> all;
        for (int i = 0; i != tasks; ++i) all.push_back(waits());
        co_await when_all(std::move(all));
      });
      while (there != tasks) co_await proc::yield{};
      weft::detail::location_listener::of_thread = new counting(n);
      s.cancel();
    });
  });
  delete static_cast<counting*>(weft::detail::location_listener::of_thread);
  return n;
}

TEST_CASE("cancelling a join whose tasks have scopes queries each a bounded number of times") {
  every_frame_dies const check;
  CHECK(growth(asked_by_cancelling_joins, 300) < 4.1);
}
