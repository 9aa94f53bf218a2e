// SPDX-License-Identifier: MIT

/// Scopes and handles of tasks, on every backend.

#include "sched/scope.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "sched/testing.hpp"
#include "sched/when_all.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/threads.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

using pure = tasking<>;
using yields = tasking<proc>;
using sleeps = tasking<timing, proc>;
using mails = tasking<mail>;

struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

eff<int, pure> sum(int a, int b) { co_return a + b; }
eff<int, yields, proc> late_sum(int a, int b) {
  for (int i = 0; i != 3; ++i) co_await proc::yield{};
  co_return a + b;
}

}  // namespace

#define EVERYWHERE                                                                             \
  alone, by_queue, by_stack, by_random, shared_by<1>, shared_by<2>, stolen_by<1>, stolen_by<2>, \
      stolen_by<3>

TEMPLATE_TEST_CASE("a scope waits for all that was started in it", "", EVERYWHERE) {
  every_frame_dies const check;
  std::atomic<int> done = 0;
  int at_end = 0;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      for (int i = 0; i != 20; ++i) {
        s.start([&] { ++done; });
        s.start([&]() -> eff<void, yields, proc> {
          co_await proc::yield{};
          ++done;
        });
      }
      co_await proc::yield{};
    });
    at_end = done;
  });
  CHECK(at_end == 40);
}

TEMPLATE_TEST_CASE("a handle gives what its task gave", "", EVERYWHERE) {
  every_frame_dies const check;
  int got = 0;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    got = co_await with_scope([&](auto& s) -> eff<int, yields, proc> {
      task_handle<int> a;
      task_handle<int> b;
      s.start(a, sum, 1, 2);
      s.start(b, late_sum, 10, 20);
      int const first = co_await a;
      int const second = co_await b;
      int const again = co_await b;
      co_return first + second + again;
    });
  });
  CHECK(got == 63);
}

TEMPLATE_TEST_CASE("a handle has several tasks, and is used again", "", EVERYWHERE) {
  every_frame_dies const check;
  std::vector<int> got;
  int more = 0;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      task_handle<int> h;
      for (int i = 0; i != 5; ++i) s.start(h, late_sum, i, i);
      got = co_await h.all();
      s.start(h, sum, 100, 1);
      more = co_await h.take();
    });
  });
  CHECK(got == std::vector<int>{0, 2, 4, 6, 8});
  CHECK(more == 101);
}

TEMPLATE_TEST_CASE("what the handle of a scope knows outlives it", "", EVERYWHERE) {
  every_frame_dies const check;
  std::string got;
  run_on<TestType>([&]() -> eff<void, pure> {
    task_handle<std::string> h;
    co_await with_scope([&](auto& s) -> eff<void, pure> {
      s.start(h, [] { return std::string("all of it, and more than fits in a word"); });
      co_return;
    });
    got = co_await h.take();
  });
  CHECK(got == "all of it, and more than fits in a word");
}

TEMPLATE_TEST_CASE("tasks that wait for others run after them", "", EVERYWHERE) {
  every_frame_dies const check;
  std::vector<std::string> order;
  run_on<TestType>([&]() -> eff<void, pure> {
    std::atomic<int> at = 0;
    int a_at = 0;
    int b_at = 0;
    int c_at = 0;
    int d_at = 0;
    task_handle<void> a;
    task_handle<void> b;
    task_handle<void> c;
    co_await with_scope([&](auto& s) -> eff<void, pure> {
      s.start(a, [&] { a_at = ++at; });
      s.start(b, [&]() -> eff<void, pure> {
        co_await a;
        b_at = ++at;
      });
      s.start(c, [&]() -> eff<void, pure> {
        co_await a;
        c_at = ++at;
      });
      s.start([&]() -> eff<void, pure> {
        co_await b;
        co_await c;
        d_at = ++at;
      });
      co_return;
    });
    if (a_at == 1 && b_at > 1 && c_at > 1 && d_at == 4) order = {"a", "b and c", "d"};
  });
  CHECK(order == std::vector<std::string>{"a", "b and c", "d"});
}

TEMPLATE_TEST_CASE("tasks of a scope start others in it, and scopes of their own", "", EVERYWHERE) {
  every_frame_dies const check;
  std::atomic<int> done = 0;
  int at_end = 0;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    co_await with_scope([&](scope<proc>& s) -> eff<void, yields, proc> {
      s.start([&]() -> eff<void, yields, proc> {
        co_await proc::yield{};
        for (int i = 0; i != 3; ++i)
          s.start([&]() -> eff<void, yields, proc> {
            co_await with_scope([&](auto& inner) -> eff<void, yields, proc> {
              inner.start([&] { ++done; });
              inner.start([&]() -> eff<void, yields, proc> {
                co_await proc::yield{};
                ++done;
              });
              co_return;
            });
          });
      });
      co_return;
    });
    at_end = done;
  });
  CHECK(at_end == 6);
}

TEMPLATE_TEST_CASE("what a task throws, its scope throws", "", EVERYWHERE) {
  every_frame_dies const check;
  std::string caught;
  int told = 0;
  run_on<TestType>([&]() -> eff<void, mails, mail> {
    auto [in, to] = co_await open<int>();
    auto& box = in;
    try {
      co_await with_scope([&](auto& s) -> eff<void, mails, mail> {
        s.start([&]() -> eff<void, mail> {
          try {
            (void)co_await box.receive();  // for ever
          } catch (cancelled const&) {
            ++told;
            throw;
          }
        });
        s.start([&]() -> eff<void, mail> {
          auto [mine, other] = co_await open<int>();
          co_await other.send(1);
          (void)co_await mine.receive();
          throw wrong("it");
        });
        co_return;
      });
    } catch (wrong const& e) {
      caught = e.what();
    }
    co_await to.send(1);
    (void)co_await box.receive();
  });
  CHECK(caught == "it");
  CHECK(told <= 1);  // none, if it has not begun by then
}

TEMPLATE_TEST_CASE("a body that throws cancels its scope", "", EVERYWHERE) {
  every_frame_dies const check;
  std::string caught;
  int told = 0;
  run_on<TestType>([&]() -> eff<void, sleeps, timing, proc> {
    try {
      co_await with_scope([&](auto& s) -> eff<void, sleeps, timing, proc> {
        s.start([&]() -> eff<void, sleeps, timing, proc> {
          try {
            co_await timing::sleep_for{1h};
          } catch (cancelled const&) {
            ++told;
            throw;
          }
        });
        for (int i = 0; i != 3; ++i) co_await proc::yield{};
        throw wrong("body");
      });
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "body");
  CHECK(told <= 1);
}

TEMPLATE_TEST_CASE("who waits for a task finds what it threw, and may go on", "", EVERYWHERE) {
  every_frame_dies const check;
  std::string caught;
  int after = 0;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
      task_handle<int> h;
      s.start(h, [&]() -> eff<int, yields, proc> {
        co_await proc::yield{};
        throw wrong("here");
      });
      try {
        (void)co_await h;
      } catch (wrong const& e) {
        caught = e.what();
      }
      co_await proc::yield{};
      ++after;
    });
    ++after;
  });
  CHECK(caught == "here");
  CHECK(after == 2);
}

TEMPLATE_TEST_CASE("of several tasks that fail none is lost", "", EVERYWHERE) {
  every_frame_dies const check;
  std::size_t failed = 0;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    try {
      co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
        task_handle<void> h;
        for (int i = 0; i != 3; ++i)
          s.start(h, [&]() -> eff<void, yields, proc> {
            co_await proc::yield{};
            throw wrong("one");
          });
        co_await h;
      });
    } catch (exceptions const& e) {
      failed = e.all.size();
    }
  });
  CHECK(failed == 3);
}

TEST_CASE("tasks that wait for each other are reported as what they are") {
  every_frame_dies const check;
  std::string report;
  try {
    schedule([]() -> eff<void, yields, proc> {
      task_handle<void> a;
      task_handle<void> b;
      co_await with_scope([&](auto& s) -> eff<void, yields, proc> {
        s.start(a, [&]() -> eff<void, yields, proc> {
          co_await proc::yield{};
          co_await b;
        });
        s.start(b, [&]() -> eff<void, yields, proc> { co_await a; });
        co_return;
      });
    });
  } catch (deadlock const& e) {
    report = e.what();
  }
  CHECK_THAT(report, Catch::Contains("weft::tasking<weft::proc>::await at tests/scope_test.cpp"));
  CHECK_THAT(report, Catch::Contains("weft::tasking<weft::proc>::leave"));
}

TEMPLATE_TEST_CASE("an exit in a scope waits for its tasks", "", EVERYWHERE) {
  every_frame_dies const check;
  std::atomic<int> ended = 0;
  bool went_on = false;
  run_on<TestType>([&]() -> eff<void, sleeps, timing, proc> {
    struct counts {
      std::atomic<int>& n;
      ~counts() { ++n; }
    } const last{ended};
    co_await with_scope([&](auto& s) -> eff<void, sleeps, timing, proc> {
      s.start([&]() -> eff<void, sleeps, timing, proc> {
        counts const mine{ended};
        co_await timing::sleep_for{1h};
      });
      co_await proc::yield{};
      co_await proc::exit{};
    });
    went_on = true;
  });
  CHECK_FALSE(went_on);
  CHECK(ended >= 1);
}

TEST_CASE("a scheduler that ends takes tasks before what they borrow") {
  every_frame_dies const check;
  std::vector<std::string> order;
  struct notes {
    std::vector<std::string>& to;
    char const* what;
    ~notes() { to.emplace_back(what); }
  };
  {
    scheduler<> s;
    s.start([&]() -> eff<void, sleeps, timing, proc> {
      notes const borrowed{order, "borrowed"};
      co_await with_scope([&](auto& in) -> eff<void, sleeps, timing, proc> {
        notes const body{order, "body"};
        in.start([&]() -> eff<void, sleeps, timing, proc> {
          notes const mine{order, "task"};
          co_await timing::sleep_for{1h};
        });
        co_await when_all(
            [](std::vector<std::string>& to) -> eff<void, timing> {
              notes const mine{to, "of two"};
              co_await timing::sleep_for{1h};
            }(order),
            [](std::vector<std::string>& to) -> eff<void, timing> {
              notes const mine{to, "of two"};
              co_await timing::sleep_for{1h};
            }(order));
      });
    });
    for (int i = 0; i != 4; ++i) (void)s.step();
  }
  CHECK(order == std::vector<std::string>{"task", "of two", "of two", "body", "borrowed"});
}

namespace {
struct is_there_while {
  explicit is_there_while(std::atomic<bool>& b) : there(b) { there = true; }
  ~is_there_while() { there = false; }
  std::atomic<bool>& there;
};
struct finds_it_at_last {
  finds_it_at_last(std::atomic<bool>& t, std::atomic<bool>& f) : there(t), found(f) {}
  ~finds_it_at_last() {
    if (!there) found = false;
  }
  std::atomic<bool>& there;
  std::atomic<bool>& found;
};
struct ask : op<int> {};
struct asking {
  using operations = op_list<ask>;
};
}  // namespace

TEMPLATE_TEST_CASE("a resumption that is dropped across a scope waits for its tasks", "",
                   EVERYWHERE) {
  every_frame_dies const check;
  int result = 0;
  std::atomic<bool> is_there = false;
  std::atomic<bool> found_it = true;
  run_on<TestType>([&]() -> eff<void, yields, proc> {
    result = co_await handle<asking>(
        clauses{[](ask, resumption<int, int>) { return 7; }}, [&]() -> eff<int, asking, yields, proc> {
          is_there_while const here(is_there);
          co_return co_await with_scope([&](auto& s) -> eff<int, asking, yields, proc> {
            for (int i = 0; i != 3; ++i)
              s.start([&]() -> eff<void, yields, proc> {
                finds_it_at_last const last{here.there, found_it};
                for (;;) co_await proc::yield{};
              });
            co_await proc::yield{};
            co_return co_await ask{};
          });
        });
    co_await proc::yield{};
  });
  CHECK(result == 7);
  CHECK(found_it);
  CHECK_FALSE(is_there);
}

