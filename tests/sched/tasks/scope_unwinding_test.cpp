// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// Scopes that are left from within: borrowed objects outlive the tasks.

using sleeps = tasking<timing, proc>;

BACKENDS_TEST_CASE("an exit in a scope waits for its tasks", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::atomic<int> ended = 0;
  bool went_on = false;
  run_on(chosen, [&]() -> eff<void, sleeps, timing, proc> {
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

TEST_CASE("a scheduler that is destroyed destroys tasks before the objects that they borrow") {
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

BACKENDS_TEST_CASE("a resumption that is dropped across a scope waits for its tasks", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int result = 0;
  std::atomic<bool> is_there = false;
  std::atomic<bool> found_it = true;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    result = co_await handle<asking>(
        clauses{[](ask, resumption<int, int>) { return 7; }},
        [&]() -> eff<int, asking, yields, proc> {
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
