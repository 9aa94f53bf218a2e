// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/runtime/submitter.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// A thread outside waits for the result of a submitted process.

eff<long, pure> fib(long n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}
eff<std::unique_ptr<int>, proc> owned(int n) {
  co_await proc::yield{};
  co_return std::make_unique<int>(n);
}

eff<void, pure, proc, timing> nothing() { co_return; }

/// Runs a scheduler until `outside(submitter)` has returned, on another thread, with its submitter.
template <class Backend, class Outside>
void run_with(Outside outside, typename scheduler<Backend>::options const& how = {}) {
  auto const made = [&] {
    if constexpr (std::is_constructible_v<scheduler<Backend>, decltype(how)>)
      return std::make_unique<scheduler<Backend>>(how);
    else
      return std::make_unique<scheduler<Backend>>();
  }();
  made->start(how, nothing);
  std::thread other([&, to = made->template submitter<pure, proc, timing>()]() mutable {
    outside(*made, std::move(to));
  });
  made->run();
  other.join();
}

TEMPLATE_TEST_CASE("a thread waits for the result of a process", "", one_thread, stealing) {
  every_frame_dies const check;
  long n = 0;
  int owns = 0;
  int plain = 0;
  bool is_done = false;
  run_with<TestType>([&](auto&, auto to) {
    auto first = to.submit_task(fib, 15);
    auto second = to.submit_task(owned, 7);
    auto third = to.submit_task([](int a, int b) { return a * b; }, 6, 7);
    auto fourth = to.submit_task([&is_done] { is_done = true; });
    n = first.get();
    owns = *second.get();
    plain = third.get();
    fourth.get();
  });
  CHECK(n == 610);
  CHECK(owns == 7);
  CHECK(plain == 42);
  CHECK(is_done);
}

eff<void, proc> fails(std::string what) {
  co_await proc::yield{};
  throw wrong(what);
}

TEMPLATE_TEST_CASE(
    "an exception of a submitted task is thrown to the waiting thread, and nowhere else", "",
    one_thread, stealing) {
  every_frame_dies const check;
  std::string thrown;
  std::exception_ptr kept;  // ThreadSanitizer does not see the reference count of libstdc++
  long after = 0;
  run_with<TestType>([&](auto&, auto to) {
    auto failing = to.submit_task(fails, std::string("it"));
    try {
      failing.get();
    } catch (wrong const& e) {
      thrown = e.what();
      kept = std::current_exception();
    }
    after = to.submit_task(fib, 10).get();
  });
  CHECK(thrown == "it");
  CHECK(after == 55);
}

eff<int, timing> sleeps() {
  co_await timing::sleep_for{1h};
  co_return 1;
}

TEMPLATE_TEST_CASE("a shutdown ends a thread's wait for a task", "", one_thread, stealing) {
  every_frame_dies const check;
  bool was_told = false;
  run_with<TestType>([&](auto& s, auto to) {
    auto sleeping = to.submit_task(sleeps);
    (void)s.shut_down(1h);
    try {
      (void)sleeping.get();
    } catch (cancelled const&) {
      was_told = true;
    } catch (std::future_error const&) {  // the task had not begun
      was_told = true;
    }
  });
  CHECK(was_told);
}

/// A backend without memory for processes that yield.
class keeps_no_yields : public locked_queue {
 public:
  class worker : public locked_queue::worker {
   public:
    using locked_queue::worker::worker;
    void put(thunk&& t, put_reason w) {
      if (w == put_reason::yielded) throw std::bad_alloc();
      locked_queue::worker::put(std::move(t), w);
    }
  };
};
static_assert(backend<keeps_no_yields>);

TEST_CASE("a future throws bad_alloc if there was no memory for its process to continue") {
  every_frame_dies const check;
  scheduler<keeps_no_yields> s;
  s.start({}, nothing);
  std::future<void> goes;
  std::future<long> has_not_begun;
  {
    auto const to = s.submitter<pure, proc, timing>();
    goes = to.submit_task(fails, std::string("it"));
    has_not_begun = to.submit_task(fib, 3);
  }
  CHECK_THROWS_AS(s.run(), std::bad_alloc);
  CHECK_THROWS_AS(goes.get(), std::bad_alloc);
  CHECK_THROWS_AS(has_not_begun.get(), std::future_error);
}
