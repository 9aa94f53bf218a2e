// SPDX-License-Identifier: MIT

/// Compares the reduction with the search that visits every schedule.

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/acts.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/random_lives.hpp"
#include "tests/support/random_processes.hpp"
#include "tests/support/reduced_searches.hpp"
#include "tests/support/seeds.hpp"
#include "weft/testing/path.hpp"

using namespace weft;
using weft::tests::act;
using weft::tests::compare;
using weft::tests::random_lives;
using weft::tests::scenario;
using weft::tests::smaller;

namespace {

/// Compares random programs; those with too many schedules do not count.
void compares_all(weft::tests::seeds const& seeds, granularity grain, std::size_t most_acts,
                  std::size_t most) {
  unsigned tried = 0, small = 0;
  std::size_t full = 0, reduced = 0;
  seeds.for_each([&](unsigned seed) {
    auto const l = random_lives(seed, most_acts);
    // Another process may end the gate between the look and the wait: not a valid program.
    if (grain == granularity::parallel && l.has(act::ends_gate)) return;
    auto c = compare(l, grain, most);
    if (!c.complaint.empty()) {
      auto const s = smaller(l, [&](scenario const& other) {
        auto const now = compare(other, grain, most);
        return now.is_small && !now.complaint.empty();
      });
      INFO("seed " << seed << ", program\n" << s.text());
      CHECK(compare(s, grain, most).complaint == "");
    }
    ++tried;
    small += c.is_small;
    full += c.is_small ? c.full : 0;
    reduced += c.reduced;
    if (grain == granularity::cooperative || !c.is_small) return;
    auto const coarse = compare(l, granularity::cooperative, most);
    for (auto const& o : coarse.all) {
      INFO("seed " << seed << ", program\n" << l.text());
      CHECK((coarse.complaint + (c.all.contains(o) ? "" : "not found: " + o)) == "");
    }
  });
  if (seeds.only_some()) return;
  CHECK(small > tried * 8 / 10);
  CHECK(reduced < full / 4);
}

}  // namespace

TEST_CASE("the reduction finds the full search's outcomes in fewer schedules") {
  weft::tests::every_frame_dies const here;
  compares_all(weft::tests::seeds(150), granularity::cooperative, 4, 2000);
}

TEST_CASE("the reduction finds the full search's outcomes in fewer parallel schedules, too") {
  weft::tests::every_frame_dies const here;
  compares_all(weft::tests::seeds(40), granularity::parallel, 2, 8000);
}
