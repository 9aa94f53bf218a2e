// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"

/// A search allocates only while its runs get longer, and when it finds an outcome.

eff<void, proc, syncing> steps(gate& door, int n) {
  for (int i = 0; i != n; ++i) {
    co_await syncing::touch{&door, true};
    co_await proc::yield{};
  }
}
eff<void, spawning<proc, syncing>> three(gate& door) {
  for (int i = 0; i != 3; ++i) co_await spawn(steps, std::ref(door), 3);
}
/// The state is one and the same for all schedules: it has no state.
struct shared_gate {
  gate* at;
};
long allocations_of(explore_options options, std::size_t schedules) {
  gate door;
  options.max_schedules = schedules;
  options.progress = progress::never;
  every_frame_dies const here;
  long const before = allocations;
  auto const found = explore(
      options, [&door] { return shared_gate{&door}; }, [](shared_gate& g) { return three(*g.at); },
      [](shared_gate&) {});
  long const made = allocations - before;
  CHECK(found.schedules == schedules);
  CHECK(found.ok());
  return made;
}

TEST_CASE("a search allocates no more for a thousand schedules than for a hundred") {
  (void)allocations_of({}, 100);  // fills the pool of frames
  CHECK(allocations_of({}, 1000) == allocations_of({}, 100));
}

TEST_CASE("a search in small steps allocates no more for a thousand schedules, either") {
  explore_options const small{.granularity = granularity::parallel};
  (void)allocations_of(small, 100);
  CHECK(allocations_of(small, 1000) == allocations_of(small, 100));
}

TEST_CASE("a reduced search allocates no more for a thousand schedules, either") {
  explore_options const reduced{.reduce = true};
  (void)allocations_of(reduced, 1000);
  CHECK(allocations_of(reduced, 1000) <= allocations_of(reduced, 100) + 20);
}
