// SPDX-License-Identifier: MIT
// A test of a program with processes: a verdict, and which schedules it stands for.
#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void, syncing> increments(shared<int>& n) {
  int const seen = co_await n.get();
  co_await n.set(seen + 1);
}
eff<void, spawning<syncing>> two_increments(shared<int>& n) {
  co_await spawn(increments, std::ref(n));
  co_await spawn(increments, std::ref(n));
}
eff<void, syncing> reads(shared<int>& n, int& to) { to = co_await n.get(); }
bool is_right(shared<int>& n) {
  int result = 0;
  schedule([&] { return reads(n, result); });
  return result == 2;
}

int main() {
  check_options const how{.time = std::chrono::seconds(1),
                          .max_steps = 1000,
                          .seed = 7,
                          .threads = 1,
                          .max_shrinking_runs = 1000,
                          .progress = progress::never,
                          .page = ""};
  auto const wrong = check_schedules(how, [] { return shared<int>(0); }, two_increments, is_right);
  std::cout << wrong.conclusion() << '\n';

  auto const right =
      check_schedules([] { return shared<int>(0); }, two_increments, [](shared<int>&) {});
  exploration::coverage const& covered = right.covered;
  std::cout << right.conclusion() << '\n'
            << (covered.granularity == granularity::parallel) << covered.is_reduced << ' '
            << covered.within << " of " << right.schedules << ", at random " << covered.random
            << '\n'
            << covered.preemptions.has_value() << covered.cut_by << right.livelocks
            << covered.leaves_spins << wrong.first_failure()->last_change << '\n';
  exploration const required = [] {
    try {
      return exploration(
          require_schedules([] { return shared<int>(0); }, two_increments, [](shared<int>&) {}));
    } catch (std::logic_error const&) {  // no test of Catch2 or GoogleTest is running
      return exploration();
    }
  }();
  std::cout << required.schedules << '\n';
  exploration all;
  all.leave_out("nothing was tried");
  all.leave_out_spins();
  std::cout << all.conclusion() << '\n';
  schedule_path path;
  path.cut_after(10);
  std::cout << path.steps_if_cut() << (right.first_failure() != nullptr) << '\n';
}
