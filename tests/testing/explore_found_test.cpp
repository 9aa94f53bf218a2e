// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/reduced_searches.hpp"

/// Small programs for which the reduction once missed an outcome, or which the full search could
/// not finish.

using enum weft::tests::act;
using weft::tests::complaint;

TEST_CASE("a process that waits at a gate is counted also if it has read the epoch") {
  CHECK(complaint({{{{looks_and_waits_for}}, {{counts_waiting}}}}, 2) == "");
  CHECK(complaint({{{{looks_and_waits_for}}, {{sleeps, counts_waiting, wakes_one}}}}, 2) == "");
}

using weft::tests::cooperative_complaint;

TEST_CASE("the order of arrival at a gate matters when its processes are woken one by one") {
  // The full parallel search visits so many schedules that a sanitizer needs a minute for them.
  CHECK(cooperative_complaint(
            {{{{looks_and_waits}}, {{wakes_one, looks_and_waits}}, {{wakes_one, waits_at_gate}}}},
            5) == "");
  CHECK(complaint({{{{looks_and_waits}}, {{wakes_one}}, {{waits_at_gate}}}}, 4) == "");
}

TEST_CASE(
    "a process that leaves a condition at its deadline leaves the notification to the next "
    "waiter") {
  CHECK(complaint({{{{waits_notified_for, waits_notified_for}},
                    {{sleeps, notifies_all}},
                    {{notifies_all}}}},
                  3) == "");
}

TEST_CASE("the choice of which process of a fork is replayed makes a difference") {
  CHECK(complaint({{{{reads, writes, forks}, true}}}, 2) == "");
  CHECK(complaint({{{{writes, forks}, true}, {{writes}}}}, 2) == "");
  CHECK(complaint({{{{asks_ready, forks}, true}, {{completes}}}}, 4) == "");
}

TEST_CASE(
    "the first of two sends to different inboxes of one receiver decides what the receiver "
    "selects") {
  CHECK(complaint({{{{selects_for}}, {{yields, sends}}, {{sends_to_second}}}}, 2) == "");
}

TEST_CASE("the progress of a cancelled process matters, since it may throw another exception") {
  CHECK(complaint({{{{ends_gate, throws}}, {{throws}}}}, 2) == "");
}

TEST_CASE(
    "any of the processes that resume with a result while all are cancelled may be the first") {
  CHECK(complaint(
            {{{{acquires, tries_acquire_for}}, {{acquires, throws}}, {{releases, throws}}}, 1, 1},
            3) == "");
}

TEST_CASE("a process in the sleep set whose next step became shorter hides no other process") {
  CHECK(complaint({{{{sends_to_second, sends}}, {{yields, sends_to_second}}, {{sends}}}, 1}, 3) ==
        "");
}

TEST_CASE("the drop of a task's handle decides which process gets the task's exception") {
  CHECK(complaint({{{{{starts_alone, {throws}}, {starts_alone, {throws}}, yields}}, {{throws}}}},
                  7) == "");
}

TEST_CASE("an event that cancels all processes discards the other deferred events of its process") {
  CHECK(complaint(
            {{{{{attempts,
                 {{opens_scope,
                   {{starts_alone, {throws}}, drops_handle, {starts_with_handle, {throws}}}}}}}},
              {{throws}}},
             1,
             1},
            2) == "");
}

using weft::tests::program_of_acts;

TEST_CASE("a process that has cancelled its scope does not get a shared value afterwards") {
  program_of_acts const l{{{{{opens_scope, {cancels, waits_for_value}}}}, {{updates}}}};
  CHECK(complaint(l, 1) == "");
  CHECK(weft::tests::compare(l, granularity::parallel, 100'000).all.size() == 1);
}

TEST_CASE("a task may print before the process that started it exits and cancels it") {
  program_of_acts const l{{{{{opens_scope, {{starts_task, {prints}}, exits}}}}, {{prints}}}};
  CHECK(complaint(l, 1) == "");
  CHECK(weft::tests::compare(l, granularity::parallel, 100'000).all.size() == 3);
}

TEST_CASE("a scope with a timeout notices at its deadline whether it has ended") {
  CHECK(complaint({{{{{opens_scope_for, {waits_notified_for}}}}, {{{opens_scope, {{sleeps, 3}}}}}}},
                  2) == "");
}

TEST_CASE("a process that exits a scope with an open task waits for that task") {
  CHECK(complaint({{{{{opens_scope, {{starts_with_handle, {{opens_scope, {asks, asks}}}}, exits}}}},
                    {{{opens_scope, {asks, asks}}}}}},
                  1) == "");
}

TEST_CASE("a process without a log is refused a fork that follows a deferred event") {
  CHECK(complaint({{{{notifies_one, forks}}, {{reads, waits_notified_for}}}}, 2) == "");
}

TEST_CASE("a process that waits for a completion without a completer is in a deadlock") {
  weft::tests::every_frame_dies const here;
  using waits = eff<void, completions>;
  auto const found = explore([] { return std::make_unique<completer<int>>(); },
                             [](std::unique_ptr<completer<int>>& source) -> waits {
                               auto result = source->get_completion();
                               (void)co_await result.wait();
                             },
                             [](auto const&) { return true; });
  CHECK(found.deadlocks == 1);
  REQUIRE(found.outcomes.size() == 1);
  CHECK(found.outcomes[0].result.text.find("weft::completions::wait at ") != std::string::npos);
}

using spinning = eff<void, spawning<proc>>;

eff<void, proc> yields_for_ever() {
  for (;;) co_await proc::yield{};
}
eff<void, proc> throws_at_once() {
  throw std::runtime_error("at once");
  co_return;
}
spinning spins_and_throws(int&) {
  co_await spawn(yields_for_ever);
  co_await spawn(throws_at_once);
}

TEST_CASE("a process that never ends does not keep the reduction from outcomes of the others") {
  auto const found = explore(
      {.max_schedules = 1000, .max_steps = 300, .reduce = true}, [] { return 0; }, spins_and_throws,
      [](int) {});
  CHECK(found.failed != 0);
}

using receiving = eff<void, mail, proc>;
receiving receives_next(inbox<int> from) { (void)co_await from.next(); }
receiving keeps(address<int>, address<int>) { co_await proc::yield{}; }
receiving throws_after_a_yield() {
  co_await proc::yield{};
  throw std::runtime_error("thrown");
}
eff<void, spawning<mail, proc>, mail> last_addresses(int&) {
  auto one = co_await open<int>();
  auto two = co_await open<int>();
  co_await spawn(receives_next, std::move(one.in));
  co_await spawn(receives_next, std::move(two.in));
  co_await spawn(keeps, std::move(one.to), std::move(two.to));
  co_await spawn(throws_after_a_yield);
}

TEST_CASE("an event that arises while all processes are unwound is no step of a schedule") {
  weft::tests::every_frame_dies const here;
  for (bool const reduce : {false, true}) {
    auto const found = explore({.reduce = reduce}, [] { return 0; }, last_addresses, [](int) {});
    CHECK(found.complete);
    CHECK(found.failed == found.schedules);
    auto const* const wrong = found.first_failure();
    REQUIRE(wrong);
    CHECK(wrong->result.text == "thrown");
    REQUIRE(!wrong->trace.empty());
    CHECK(wrong->trace.back().process.text() == "1.4");  // the process that threw
  }
}

TEST_CASE("a state that cannot be made is a failure without a schedule, in each search") {
  int made = 0;
  auto const flaky = [&made] {
    if (++made > 1) throw std::runtime_error("no state");
    return 0;
  };
  auto const twice = [](int&) -> spinning {
    for (int i = 0; i != 2; ++i)
      co_await spawn([]() -> eff<void, proc> { co_await proc::yield{}; });
  };
  for (bool const reduce : {false, true}) {
    made = 0;
    auto const found = explore({.reduce = reduce}, flaky, twice, [](int) {});
    CHECK_FALSE(found.ok());
    CHECK(found.nondeterminism);  // the first schedule ends differently when it is run again
  }
}

struct ask {
  struct on_the_way : op<int> {};
  using operations = op_list<on_the_way>;
};
/// Resumes from an ordinary function, whose native frame is below the body from then on.
struct resumes_by_a_call : handler<ask> {
  void on(ask::on_the_way, resumption<int> k) const { resume(std::move(k), 1); }
};
eff<void, proc, console> prints_behind_a_call(std::string&) {
  co_await handle(resumes_by_a_call(), []() -> eff<void, ask, console> {
    (void)co_await ask::on_the_way{};
    co_await console::print{"behind"};
  });
}

TEST_CASE(
    "an operation below an ordinary function's frame is no step of its own if it need not wait") {
  weft::tests::every_frame_dies const here;
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    auto const found = explore(
        {.granularity = grain}, [] { return std::string(); },
        [](std::string& s) { return prints_behind_a_call(s); },
        [](std::string const& s) { return s == "behind"; },
        [](std::string& s) { return console_to_string(s); });
    INFO(found.report());
    CHECK(found.ok());
  }
}
