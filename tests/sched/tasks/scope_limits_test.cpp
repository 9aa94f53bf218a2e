// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// What the limits of scopes keep: a body that has a result yields it, at any depth; what is unwound
/// ends at the scope that was cancelled; and a scope's own deadline is told by its type.

using in_limits = row<mail, syncing, timing, tasking<mail, syncing, timing>>;
template <class T>
using limited = eff<T, in_limits>;

/// A receive inside `depth` scopes, the outermost of which has the first deadline.
limited<int> receives_inside(inbox<int>& in, int depth) {
  if (depth == 0) co_return co_await in.receive();
  co_return co_await with_scope({.timeout = 10ms + depth * 1ms}, [&](auto&) -> limited<int> {
    co_return co_await receives_inside(in, depth - 1);
  });
}
struct a_message {
  bool sent = false;
  bool received = false;
  bool is_left = false;
  bool operator()() const { return sent == (received || is_left); }
};
limited<void> sends_later(address<int> to, bool& sent) {
  co_await timing::sleep_for{1ms};
  sent = co_await to.send(1);
}
limited<void> a_message_at_the_deadline(a_message& w, int depth) {
  auto [in, to] = co_await open<int>();
  co_await with_scope([&](auto& s) -> limited<void> {
    s.start(sends_later, std::move(to), std::ref(w.sent));
    try {
      w.received = co_await with_scope({.timeout = 1ms}, [&](auto&) -> limited<int> {
                     co_return co_await receives_inside(in, depth);
                   }) == 1;
    } catch (cancelled const&) {
    }
  });
  w.is_left = (co_await in.try_receive()).has_value();
}

TEST_CASE("a message that comes at the deadline of an outer scope is received, or is still there") {
  for (int depth = 0; depth != 4; ++depth)
    for (auto const how : {granularity::cooperative, granularity::parallel}) {
      CAPTURE(depth, how);
      auto const found = explore(
          {.granularity = how, .reduce = true}, [] { return a_message(); },
          [&](a_message& w) { return a_message_at_the_deadline(w, depth); },
          [](a_message const& w) { return w(); });
      CHECK(found.complete);
      CHECK(found.failed == 0);
    }
}
BACKENDS_TEST_CASE("a message at the deadline of an outer scope is not lost", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  for (int i = 0; i != rounds(200); ++i) {
    a_message w;
    run_on(chosen, virtual_time(), [&] { return a_message_at_the_deadline(w, i % 4); });
    REQUIRE(w());
  }
}

/// A lock that the body of a scope returns is held by the code outside.
BACKENDS_TEST_CASE("a lock that a scope returns after its deadline is held", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  bool was_held = false;
  run_on(chosen, virtual_time(), [&]() -> limited<void> {
    mutex m;
    auto held = co_await with_scope({.timeout = 1ms}, [&](auto& s) -> limited<mutex::guard> {
      s.start([]() -> limited<void> { co_await timing::sleep_for{1h}; });
      auto taken = co_await m.lock();
      // The task waits until the deadline: then it is cancelled, and the scope ends.
      co_return taken;
    });
    was_held = held.owns() && !(co_await m.try_lock()).has_value();
  });
  CHECK(was_held);
}
BACKENDS_TEST_CASE("a scope without a result throws if a task of it has timed out", "",
                   on_one_thread, on_sharing<2>, on_stealing<2>) {
  bool has_thrown = false;
  run_on(chosen, virtual_time(), [&]() -> limited<void> {
    try {
      co_await with_scope({.timeout = 1ms}, [](auto& s) {
        s.start([]() -> limited<void> { co_await timing::sleep_for{1h}; });
      });
    } catch (timed_out const&) {
      has_thrown = true;
    }
  });
  CHECK(has_thrown);
}

// ---- loops that go on although they are cancelled

/// One way to ignore a cancellation, again and again.
using ignores = std::function<limited<void>()>;
std::vector<std::pair<char const*, ignores>> ways_to_ignore() {
  return {
      {"scopes that time out",
       []() -> limited<void> {
         co_await with_scope({.timeout = 5ms},
                             [](auto&) -> limited<void> { co_await timing::sleep_for{1h}; });
       }},
      {"sleeping", []() -> limited<void> { co_await timing::sleep_for{1ms}; }},
      {"a scope of tasks",
       []() -> limited<void> {
         co_await with_scope(
             [](auto& s) { s.start([]() -> limited<void> { co_await timing::sleep_for{1ms}; }); });
       }},
      {"when_any",
       []() -> limited<void> {
         auto const sleeps = []() -> limited<void> { co_await timing::sleep_for{1ms}; };
         (void)co_await when_any(sleeps(), sleeps());
       }},
      {"receiving",
       []() -> limited<void> {
         auto [in, to] = co_await open<int>();
         (void)co_await in.receive_until(co_await timing::now{} + 1ms);
       }},
  };
}
limited<void> goes_on_for_ever(ignores const& once, int depth) {
  if (depth != 0)
    co_await with_scope(
        [&](auto&) -> limited<void> { co_await goes_on_for_ever(once, depth - 1); });
  for (;;) try {
      co_await once();
    } catch (cancelled const&) {
    }
}

BACKENDS_TEST_CASE("what ignores its cancellation is unwound up to the scope that was cancelled",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  for (auto const& [name, once] : ways_to_ignore())
    for (int depth = 0; depth != 3; ++depth) {
      CAPTURE(name, depth);
      every_frame_dies const check;
      bool is_told = false;
      bool goes_on = false;
      ignores const& way = once;
      run_on(chosen, virtual_time(), [&]() -> limited<void> {
        try {
          co_await with_scope({.timeout = 20ms}, [&](auto&) -> limited<void> {
            co_await goes_on_for_ever(way, depth);
          });
        } catch (timed_out const&) {
          is_told = true;
        }
        co_await timing::sleep_for{1ms};
        goes_on = true;
      });
      CHECK(is_told);
      CHECK(goes_on);
    }
}
BACKENDS_TEST_CASE("a task that ignores its cancellation ends with its scope", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  bool goes_on = false;
  auto const all = ways_to_ignore();
  run_on(chosen, virtual_time(), [&]() -> limited<void> {
    for (auto const& way : all) try {
        co_await with_scope({.timeout = 20ms}, [&](auto& s) -> limited<void> {
          s.start([&]() -> limited<void> { co_await goes_on_for_ever(way.second, 1); });
          co_await timing::sleep_for{1h};
        });
      } catch (timed_out const&) {
      }
    goes_on = true;
  });
  CHECK(goes_on);
}

// ---- whose deadline it is

BACKENDS_TEST_CASE("a scope's own deadline has a type of its own, and ends only a retry of its own",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  int tries = 0;
  std::string said;
  run_on(chosen, virtual_time(), [&]() -> limited<void> {
    try {
      co_await with_scope({.timeout = 22ms}, [&](auto&) -> limited<void> {
        for (;;) try {
            co_await with_scope({.timeout = 5ms},
                                [](auto&) -> limited<void> { co_await timing::sleep_for{1h}; });
          } catch (timed_out const&) {
            ++tries;
          }
      });
    } catch (timed_out const& e) {
      said = e.what();
    }
  });
  CHECK(tries == 4);
  CHECK(said == "weft: cancelled, because the deadline of the scope has passed");
}
// ---- handlers between a scope and the scopes inside it

BACKENDS_TEST_CASE("a deadline passes through a handler, whichever process waits first inside", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  for (bool const task_first : {false, true}) {
    every_frame_dies const check;
    instant ended;
    run_on(chosen, virtual_time(), [&]() -> limited<void> {
      auto const sleeps = []() -> limited<void> { co_await timing::sleep_for{1h}; };
      auto const innermost = [&](auto& s) -> limited<void> {
        s.start(sleeps);
        if (task_first) co_await timing::sleep_for{1ms};
        co_await timing::sleep_for{1h};
      };
      auto const inside = [&]() -> eff<void, state<int>, in_limits> {
        co_await with_scope(
            [&](auto&) -> eff<void, state<int>, in_limits> { co_await with_scope(innermost); });
      };
      try {
        co_await with_scope({.timeout = 10ms},
                            [&](auto&) -> limited<void> { co_await handle(state_of(0), inside); });
      } catch (timed_out const&) {
      }
      ended = co_await timing::now{};
    });
    CHECK(ended == instant() + 10ms);
  }
}
/// Keeps the continuation of the operation, which is resumed elsewhere.
struct leaves {
  struct here : op<void> {};
  using operations = op_list<here>;
};
struct keeps_it : handler<leaves>, region {
  resumption<void> k;
  void on(leaves::here, resumption<void> r) { k = std::move(r); }
};
TEST_CASE("a scope that is resumed inside another one ends with that one") {
  every_frame_dies const check;
  instant ended;
  schedule({.forkable = false, .virtual_time = true}, [&]() -> limited<void> {
    keeps_it keeps;
    auto const moves = []() -> eff<void, leaves, in_limits> {
      co_await with_scope([](auto&) -> eff<void, leaves, in_limits> {
        co_await timing::sleep_for{1ms};
        co_await leaves::here{};
        co_await timing::sleep_for{1h};
      });
    };
    co_await with_scope([&](auto&) -> limited<void> {
      co_await handle(keeps, moves);
      try {
        co_await with_scope({.timeout = 10ms},
                            [&](auto&) -> limited<void> { co_await std::move(keeps.k)(); });
      } catch (timed_out const&) {
      }
    });
    ended = co_await timing::now{};
  });
  CHECK(ended == instant() + 11ms);
}
TEST_CASE("a process that keeps a log may be run again after many operations that never wait") {
  every_frame_dies const check;
  int clones = 0;
  schedule({.virtual_time = true}, [&]() -> eff<void, proc, timing> {
    for (int i = 0; i != 300; ++i) (void)co_await timing::now{};
    bool const is_first = co_await proc::fork{};
    if (!is_first) ++clones;
  });
  CHECK(clones == 1);
}

TEST_CASE("a deadline that the clock cannot represent lasts for ever, or has passed") {
  using years = std::chrono::duration<std::int64_t, std::ratio<31556952>>;
  CHECK(instant::duration(time_span(std::chrono::hours::max())) == instant::duration::max());
  CHECK(instant::duration(time_span(std::chrono::hours::min())) == instant::duration::min());
  CHECK(instant::duration(time_span(years(300))) == instant::duration::max());
  std::chrono::duration<double> const no_number(std::numeric_limits<double>::quiet_NaN());
  CHECK(instant::duration(time_span(no_number)) == instant::duration::zero());
  CHECK(instant::duration(time_span(std::chrono::duration<double>(1e300))) ==
        instant::duration::max());
  CHECK(instant::duration(time_span(-1.5s)) == -1500ms);
  CHECK(detail::time_after(instant(-1h), std::chrono::hours::max()) == instant::max());
  CHECK(detail::time_after(instant(1h), std::chrono::hours::min()) == instant::min());
  CHECK(detail::time_after(instant::max() - 1min, 1h) == instant::max());
  CHECK(detail::time_after(instant::min() + 1min, -1h) == instant::min());
  std::string said;
  schedule({.virtual_time = true}, [&]() -> limited<void> {
    co_await with_scope({.timeout = std::chrono::hours::max()},
                        [](auto&) -> limited<void> { co_await timing::sleep_for{1h}; });
    try {
      co_await with_scope({.timeout = std::chrono::hours::min()},
                          [](auto&) -> limited<void> { co_await timing::sleep_for{years(300)}; });
    } catch (timed_out const& e) {
      said = e.what();
    }
  });
  CHECK(said != "");
}
