// SPDX-License-Identifier: MIT
#include "tests/durable/crashes.hpp"

#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/memory_store.hpp"

/// Every crash point of every schedule, of small programs: before each change of the store and after
/// it, also while the engine recovers.  A program ends as it does without a crash.

using row = bank_row;

// ---- steps

eff<int, row> pays_twice() {
  int const a = co_await durable::step("first", pay, 1);
  int const b = co_await durable::step("second", pay, a + 1);
  co_return a + b;
}
constexpr durable::function pays_twice_process{"pays twice", 1, pays_twice};

TEST_CASE("steps survive crashes at any point") {
  crash_options const o{.crashes = GENERATE(0U, 1U, 2U), .end = "completed 3, paid 3"};
  auto const begin = [](auto& e) { e.start("p", pays_twice_process); };
  require_one_end(o, explore_crashes(o, begin, pays_twice_process), "steps");
}

eff<int, row> tries_again() {
  co_return co_await durable::step({.name = "pay", .attempts = 10, .first_delay = 1h}, pay, 1);
}
constexpr durable::function tries_again_process{"tries again", 1, tries_again};

TEST_CASE("a step that is tried again survives crashes at any point") {
  crash_options const o{
      .crashes = GENERATE(0U, 1U, 2U), .end = "completed 1, paid 1", .failures = 1};
  auto const begin = [](auto& e) { e.start("p", tries_again_process); };
  require_one_end(o, explore_crashes(o, begin, tries_again_process), "retry");
}

eff<void, row> pays_at_most_once() {
  try {
    co_await durable::step({.name = "pay", .at_most_once = true}, pay, 1);
  } catch (durable::step_interrupted const&) {
  }
}
constexpr durable::function at_most_once_process{"pays at most once", 1, pays_at_most_once};

TEST_CASE("a step that runs at most once does so, whatever crashes") {
  std::size_t const crashes = GENERATE(0U, 1U, 2U);
  using world = crash_world<durable::memory_store, decltype(at_most_once_process)>;
  auto const make = [=] {
    auto w = std::make_unique<world>(crashes, engine_options_of({}), at_most_once_process);
    w->e.start("p", at_most_once_process);
    return w;
  };
  using state = std::unique_ptr<world>;
  auto const found = explore(
      {.reduce = true}, make, [](state& w) { return restarting(*w); },
      [](state const& w) {
        bool const has_ended = w->store.find("p")->status == durable::process_status::completed;
        return has_ended && w->outside.most_calls() <= 1;
      },
      [](state& w) -> auto& { return w->outside; });
  show_counts("at most once", crashes, found);
  INFO(found.report());
  CHECK(found.complete);
  CHECK(found.ok());
}

// ---- time

eff<int, row> sleeps() {
  co_await timing::sleep_for{1h};
  int const a = co_await durable::step("awake", pay, 1);
  co_await timing::sleep_for{1h};
  co_return a;
}
constexpr durable::function sleeps_process{"sleeps", 1, sleeps};

TEST_CASE("timers survive crashes at any point") {
  crash_options o{.end = "completed 1, paid 1"};
  auto const begin = [](auto& e) { e.start("p", sleeps_process); };
  SECTION("of a process that keeps its frames") {
    o.crashes = GENERATE(0U, 1U, 2U);
    o.keep_waiting = 10h;
    require_one_end(o, explore_crashes(o, begin, sleeps_process), "timer, with frames");
  }
  SECTION("of a process that is let go of") {
    o.crashes = GENERATE(0U, 1U);
    o.keep_waiting = 0h;
    require_one_end(o, explore_crashes(o, begin, sleeps_process), "timer");
  }
}

// ---- messages and children

TEST_CASE("messages arrive once, in their order, whatever crashes") {
  crash_options const o{.crashes = GENERATE(0U, 1U),
                        .end = "completed 12, paid 0",
                        .keep_waiting = 0h,
                        .max_running = 1};
  auto const begin = [](auto& e) {
    e.start("p", receives_process);
    e.start("s", sends_process);
  };
  require_one_end(o, explore_crashes(o, begin, receives_process, sends_process), "messages");
}

eff<int, row> receives_one() {
  auto const a = co_await durable::receive<int>();
  co_return a.message;
}
constexpr durable::function receives_one_process{"receives one", 1, receives_one};
eff<void, row> sends_one() { co_await durable::send("p", 1); }
constexpr durable::function sends_one_process{"sends one", 1, sends_one};

TEST_CASE("a message arrives once at a process that runs at the same time, whatever crashes") {
  crash_options const o{.crashes = GENERATE(0U, 1U), .end = "completed 1, paid 0"};
  auto const begin = [](auto& e) {
    e.start("p", receives_one_process);
    e.start("s", sends_one_process);
  };
  require_one_end(o, explore_crashes(o, begin, receives_one_process, sends_one_process),
                  "messages at once");
}

eff<int, row> pays_once() { co_return co_await durable::step("pay", pay, 1); }
constexpr durable::function pays_once_process{"pays once", 1, pays_once};
eff<int, row> parent() {
  auto const c = co_await durable::start("c", pays_once_process);
  co_return 10 * co_await c.outcome();
}
constexpr durable::function parent_process{"parent", 1, parent};

TEST_CASE("a child is started once, and its result arrives, whatever crashes") {
  crash_options const o{.crashes = GENERATE(0U, 1U), .end = "completed 10, paid 1"};
  auto const begin = [](auto& e) { e.start("p", parent_process); };
  require_one_end(o, explore_crashes(o, begin, parent_process, pays_once_process), "child");
}

// ---- cancellation

eff<int, row> takes_back() {
  int const n = co_await durable::step("pay", pay, 5);
  co_await durable::child<int>("p").cancel();  // itself
  bool was_cancelled = false;
  try {
    co_await timing::sleep_for{1000h};
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  if (was_cancelled) co_await durable::step("take back", pay, -4);
  co_return n;
}
constexpr durable::function takes_back_process{"takes back", 1, takes_back};

TEST_CASE("a cancelled process takes back what it did, whatever crashes") {
  crash_options const o{.crashes = GENERATE(0U, 1U, 2U), .end = "completed 5, paid 1"};
  auto const begin = [](auto& e) { e.start("p", takes_back_process); };
  require_one_end(o, explore_crashes(o, begin, takes_back_process), "cancellation");
}

// ---- the next run

eff<int, row> again(int n, int sum) {
  int const a = co_await durable::step("pay", pay, n);
  if (n > 0) co_await durable::continue_as_new(n - 1, sum + a);
  co_return sum;
}
constexpr durable::function again_process{"again", 1, again};

TEST_CASE("a process continues as new once, whatever crashes") {
  crash_options const o{.crashes = GENERATE(0U, 1U, 2U), .end = "completed 1, paid 1"};
  auto const begin = [](auto& e) { e.start("p", again_process, 1, 0); };
  require_one_end(o, explore_crashes(o, begin, again_process), "continue as new");
}
