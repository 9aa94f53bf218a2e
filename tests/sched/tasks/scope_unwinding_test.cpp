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

// ---- 21.2: the body of a scope is resumed by its own process only

struct park : op<int> {};
struct parking {
  using operations = op_list<park>;
};
using kept = resumption<int, int>;
/// The clause of `O` keeps the resumption in `k`.
template <class O, class K>
auto keeps_in(K& k) {
  return clauses{[&k](O, K it) {
    k = std::move(it);
    return 0;
  }};
}
bool is_refusal(std::string const& text) {
  return text.find("is in a scope of process 1: only that process may resume it") !=
         std::string::npos;
}
using scoped = eff<int, parking, yields, proc>;

/// A body that performs `park` in a scope, in which a task runs meanwhile.
scoped parks_in_a_scope() {
  co_return co_await with_scope([](auto& s) -> scoped {
    s.start([]() -> eff<void, yields, proc> { co_await proc::yield{}; });
    int const n = co_await park{};
    co_await proc::yield{};
    co_return n;
  });
}
/// How the resume of `k` in another process ends: its answer, or the text of the exception.
eff<void, yields, proc> resumes(kept& k, std::string& how) {
  try {
    how = std::to_string(co_await std::move(k)(1));
  } catch (std::logic_error const& e) {
    how = e.what();
  }
}
eff<void, yields, proc> yields_once() { co_await proc::yield{}; }
/// Keeps the resumption of `body` while another process tries to resume it, and then resumes it.
template <class Body>
eff<int, yields, proc> is_resumed_twice(Body body, std::string& how) {
  kept k;
  (void)co_await handle<parking>(keeps_in<park>(k), body);
  co_await when_all(resumes(k, how), yields_once());
  if (!k) co_return 0;
  co_return co_await std::move(k)(7);
}

BACKENDS_TEST_CASE("only the process that has opened a scope resumes the body of it", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string how;
  int n = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    n = co_await is_resumed_twice(parks_in_a_scope, how);
  });
  CHECK(is_refusal(how));
  CHECK(how.find("park") != std::string::npos);
  CHECK(n == 7);
}

BACKENDS_TEST_CASE("after its scopes have ended, any process resumes a body", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string how;
  int n = 7;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    n = co_await is_resumed_twice(
        []() -> scoped {
          co_await with_scope([](auto& s) { s.start([] {}); });
          co_return co_await park{} + 1;
        },
        how);
  });
  CHECK(how == "2");
  CHECK(n == 0);
}

BACKENDS_TEST_CASE("a scope around the handler of a resumption does not matter", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string how;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    co_await with_scope([&](auto&) -> eff<void, yields, proc> {
      (void)co_await is_resumed_twice([]() -> scoped { co_return co_await park{} + 1; }, how);
    });
  });
  CHECK(how == "2");
}

BACKENDS_TEST_CASE("a scope of another process is found behind handlers and calls", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string how;
  int n = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    n = co_await is_resumed_twice(
        []() -> scoped {
          co_return co_await with_scope([](auto&) -> scoped {
            co_return co_await handle(state_of(5), []() -> eff<int, parking, state<int>> {
              co_return co_await park{} + co_await state<int>::get{};
            });
          });
        },
        how);
  });
  CHECK(is_refusal(how));
  CHECK(n == 12);
}

// ---- the scope is found wherever it stands in the chain

struct leave_out : op<int> {};
struct leaving {
  using operations = op_list<leave_out>;
};
template <class... Es>
using nested = eff<int, Es..., yields, proc>;

/// Performs `leave_out` in a scope, inside the handler of `parking`.
nested<parking, leaving> leaves_in_a_scope() {
  co_return co_await with_scope([](auto& s) -> nested<parking, leaving> {
    s.start([]() -> eff<void, yields, proc> { co_await proc::yield{}; });
    int const n = co_await park{};
    co_return n + co_await leave_out{};
  });
}
/// A clause of the inner handler keeps the scope while it performs to the outer one.
nested<leaving> left_by_a_clause() {
  co_return co_await handle<parking>(clauses{[](park, kept inner) -> eff<int, leaving> {
                                       int const n = co_await leave_out{};
                                       co_return co_await std::move(inner)(n);
                                     }},
                                     leaves_in_a_scope);
}
BACKENDS_TEST_CASE("a scope that a clause hides for a while is found when it is there again", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string how;
  int n = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    kept k;
    (void)co_await handle<leaving>(keeps_in<leave_out>(k), left_by_a_clause);
    (void)co_await std::move(k)(
        1);  // the clause resumes the scope, which performs to the outer handler
    co_await when_all(resumes(k, how), yields_once());
    n = co_await std::move(k)(7);
  });
  CHECK(is_refusal(how));
  CHECK(n == 8);
}

BACKENDS_TEST_CASE("a scope is found by a handler that was suspended when it was opened", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string how;
  int n = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    kept inner, outer;
    (void)co_await handle<leaving>(keeps_in<leave_out>(outer), [&]() -> nested<leaving> {
      (void)co_await handle<parking>(keeps_in<park>(inner), []() -> nested<parking, leaving> {
        (void)co_await park{};
        co_return co_await leaves_in_a_scope();
      });
      (void)co_await leave_out{};
      co_return co_await std::move(inner)(1);
    });
    (void)co_await std::move(inner)(1);  // opens the scope, and parks in it
    (void)co_await std::move(outer)(1);  // its body resumes the scope, which performs to it
    co_await when_all(resumes(outer, how), yields_once());
    n = co_await std::move(outer)(7);
  });
  CHECK(is_refusal(how));
  CHECK(n == 8);
}

TEST_CASE("a task of a scope does not resume the body of the scope") {
  every_frame_dies const check;
  std::string how;
  int n = 0;
  run_on<on_one_thread>([&]() -> eff<void, yields, proc> {
    kept k;
    task_handle<void> h;
    (void)co_await handle<parking>(keeps_in<park>(k), [&]() -> scoped {
      co_return co_await with_scope([&](auto& s) -> scoped {
        s.start(h, [&]() -> eff<void> {
          try {
            (void)co_await std::move(k)(1);
          } catch (std::logic_error const& e) {
            how = e.what();
          }
        });
        co_return co_await park{};
      });
    });
    co_await h;
    n = co_await std::move(k)(7);
  });
  CHECK(is_refusal(how));
  CHECK(n == 7);
}

TEST_CASE("ordinary code does not resume the body of a scope") {
  every_frame_dies const check;
  std::string how[3];
  int n = 0;
  run_on<on_one_thread>([&]() -> eff<void, yields, proc> {
    kept k;
    (void)co_await handle<parking>(keeps_in<park>(k), parks_in_a_scope);
    auto const tries = [&k](std::string& said) {
      try {
        (void)resume(std::move(k), 1);
      } catch (std::logic_error const& e) {
        said = e.what();
      }
    };
    tries(how[0]);
    std::thread([&] { tries(how[1]); }).join();
    schedule([&]() -> eff<void, yields, proc> { co_await resumes(k, how[2]); });
    n = co_await std::move(k)(7);
  });
  for (auto const& said : how) CHECK(is_refusal(said));
  CHECK(n == 7);
}
