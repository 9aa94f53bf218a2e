// SPDX-License-Identifier: MIT

// failing FILE: writes the page of a failing schedule, that of a lost update, which is not the smallest
// one when it is found.

#include <cstdint>
#include <cstdlib>
#include <functional>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/testing.hpp"

using namespace weft;

namespace {

eff<void, proc> adds_one(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> three_add(int& n) {
  for (int i = 0; i != 3; ++i) co_await spawn(adds_one, std::ref(n));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (std::uint64_t seed = 1; seed != 100; ++seed) {
    auto const found = random_walk(
        {.seed = seed, .page = argv[1]}, [] { return 0; }, three_add,
        [](int const& n) { return n == 3; });
    auto const* const o = found.first_failure();
    if (o && o->path != o->found && o->preemptions != 0) return EXIT_SUCCESS;
  }
  return EXIT_FAILURE;
}
