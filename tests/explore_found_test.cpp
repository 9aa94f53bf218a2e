// SPDX-License-Identifier: MIT

/// Small programs of which the reduction once did not find all that may come of them, or which the
/// full search did not come through.

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "effects/effects.hpp"
#include "sched/completion.hpp"
#include "sched/path.hpp"
#include "sched/testing.hpp"
#include "tests/support/acts.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/random_processes.hpp"
#include "tests/support/reduced_searches.hpp"

using namespace weft;
using enum weft::tests::act;
using weft::tests::lives;

namespace {

/// Nothing, if the reduction finds what the full search does, and that is so much.
std::string complaint(lives const& l, std::size_t outcomes) {
  weft::tests::every_frame_dies const here;
  auto const c = weft::tests::compare(l, granularity::cooperative, 100'000);
  auto const fine = weft::tests::compare(l, granularity::parallel, 100'000);
  if (!c.is_small || !fine.is_small) return "too many schedules";
  if (!c.complaint.empty()) return c.complaint;
  if (!fine.complaint.empty()) return "in parallel: " + fine.complaint;
  if (c.all.size() == outcomes) return "";
  std::string s = "another number of outcomes:";
  for (auto const& o : c.all) s += "\n  " + o;
  return s;
}

}  // namespace

TEST_CASE("who waits at a gate is counted also if it has asked for the epoch") {
  CHECK(complaint({{{{looks_and_waits_for}}, {{counts_waiting}}}}, 2) == "");
  CHECK(complaint({{{{looks_and_waits_for}}, {{sleeps, counts_waiting, wakes_one}}}}, 2) == "");
}

TEST_CASE("of those at a gate who are woken one by one it matters who came first") {
  CHECK(complaint(
            {{{{looks_and_waits}}, {{wakes_one, looks_and_waits}}, {{wakes_one, waits_at_gate}}}},
            5) == "");
}

TEST_CASE("who leaves a condition because its time is up leaves the message to the next") {
  CHECK(complaint({{{{waits_notified_for, waits_notified_for}},
                    {{sleeps, notifies_all}},
                    {{notifies_all}}}},
                  3) == "");
}

TEST_CASE("which of two twins is run again is no matter of indifference") {
  CHECK(complaint({{{{reads, writes, forks}, true}}}, 2) == "");
  CHECK(complaint({{{{writes, forks}, true}, {{writes}}}}, 2) == "");
  CHECK(complaint({{{{asks_ready, forks}, true}, {{completes}}}}, 4) == "");
}

TEST_CASE("of two who send to different inboxes of one receiver the first is heard") {
  CHECK(complaint({{{{selects_for}}, {{yields, sends}}, {{sends_elsewhere}}}}, 2) == "");
}

TEST_CASE("who is cancelled may throw something else, and so it matters how far it had come") {
  CHECK(complaint({{{{ends_gate, throws}}, {{throws}}}}, 2) == "");
}

TEST_CASE("who is asleep, and then comes less far than it had come, hides nobody") {
  CHECK(complaint({{{{sends_elsewhere, sends}}, {{yields, sends_elsewhere}}, {{sends}}}, 1}, 3) ==
        "");
}

TEST_CASE("who waits for what nobody completes is in a deadlock, as nothing is outside") {
  weft::tests::every_frame_dies const here;
  using waits = eff<void, completing>;
  auto const found = explore([] { return std::make_unique<completer<int>>(); },
                             [](std::unique_ptr<completer<int>>& source) -> waits {
                               auto result = source->get_completion();
                               (void)co_await result.wait();
                             },
                             [](auto const&) { return true; });
  CHECK(found.deadlocks == 1);
  REQUIRE(found.outcomes.size() == 1);
  CHECK(found.outcomes[0].result.text.find("weft::completing::wait at ") != std::string::npos);
}
