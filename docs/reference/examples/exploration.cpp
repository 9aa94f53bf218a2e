// SPDX-License-Identifier: MIT
// The result of a search, field by field: verdicts, outcomes, steps.
#include <iostream>
#include <string>
#include <string_view>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void, syncing> locks(mutex& first, mutex& second, std::string& order, char name) {
  auto const a = co_await first.lock();
  auto const b = co_await second.lock();
  order += name;
}
struct both {
  mutex left, right;
  std::string order;
};
eff<void, spawning<syncing>> crosswise(both& b) {
  co_await spawn(locks, std::ref(b.left), std::ref(b.right), std::ref(b.order), 'a');
  co_await spawn(locks, std::ref(b.right), std::ref(b.left), std::ref(b.order), 'b');
}
run_result check(both const& b) {
  return {.verdict = b.order == "ba" ? verdict::failed : verdict::ok, .text = b.order};
}

char const* name_of(verdict v) {
  switch (v) {
    case verdict::ok:
      return "ok";
    case verdict::failed:
      return "failed";
    case verdict::deadlock:
      return "deadlock";
    case verdict::cut:
      return "cut";
    case verdict::no_progress:
      return "no progress";
  }
  return "";
}

int main() {
  exploration const found = explore(
      {.granularity = granularity::parallel, .progress = progress::never}, [] { return both(); },
      crosswise, check);
  std::cout << found.schedules << " schedules, " << found.failed << " failed, " << found.deadlocks
            << " deadlocks, " << found.cut << " cut, " << found.redundant << " redundant\n";
  std::cout << found.complete << found.nondeterminism << found.what_differed << found.leaked
            << found.leak_path.length() << found.page.size() << found.ok() << '\n';
  for (exploration::outcome const& o : found.outcomes)
    std::cout << name_of(o.result.verdict) << " in " << o.schedules << ", wrong: " << o.is_wrong()
              << ", decisions: " << o.decisions << ", as found: " << (o.found == o.path) << '\n';
  exploration::outcome const& o = *found.first_failure();
  schedule_step const& step = o.trace[2];
  std::cout << step.text() << '\n'
            << step.process.text() << ' ' << step.operation << ' ' << step.switches << step.preempts
            << step.is_event << step.decisions.size() << (step.where.line() != 0)
            << (step.function.find("locks") != std::string_view::npos) << step.values.size()
            << step.wakes.size() << '\n';
  std::cout << (found.report().find(exploration::text(o)) != std::string::npos) << '\n';
  exploration by_hand;  // as an explorer makes it
  std::cout << (by_hand.add({verdict::cut, ""}) != nullptr) << '\n';
}
