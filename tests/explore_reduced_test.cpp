// SPDX-License-Identifier: MIT

/// The reduction, against the search that visits every schedule.

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sched/path.hpp"
#include "tests/support/acts.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/random_processes.hpp"
#include "tests/support/reduced_searches.hpp"
#include "tests/support/seeds.hpp"

using namespace weft;
using weft::tests::act;
using weft::tests::compare;
using weft::tests::dice;
using weft::tests::lives;

namespace {

/// Of a few things that processes may do, so that they meet.
lives random_lives(unsigned seed, std::size_t most_acts) {
  using enum act;
  static std::vector<std::vector<act>> const themes{
      {reads, writes, adds_slowly},
      {prints, asks, reads, writes},
      {sleeps, looks_at_clock},
      {locks, unlocks, tries_lock, tries_lock_for},
      {acquires, tries_acquire, tries_acquire_for, releases},
      {locks, unlocks, waits_notified, waits_notified_for, notifies_one, notifies_all},
      {waits_notified_for, waits_notified_for, notifies_one, sleeps},
      {meets},
      {waits_at_gate, looks_and_waits, looks_and_waits_for, wakes_one, wakes_all, releases_gate,
       counts_waiting},
      {looks_and_waits, looks_and_waits_for, wakes_one, releases_gate, sleeps},
      {ends_gate},
      {gets, sets, updates, waits_for_value},
      {completes, drops_completer, waits_completion, waits_completion_for, asks_ready},
      {sends, receives, tries_receive, receives_for, drops_addresses},
      {sends, sends_elsewhere, selects, selects_for, drops_addresses, sleeps},
      {sends, receives, closes_inbox, makes_address, drops_addresses},
      {forks, forks, writes, reads, prints},
      {spawns_more, exits, throws},
  };
  dice random(seed);
  std::vector<act> may{yields};
  for (unsigned n = 1 + random(3); n != 0; --n) {
    auto const& theme = themes[random(static_cast<unsigned>(themes.size()))];
    may.insert(may.end(), theme.begin(), theme.end());
  }
  lives l;
  l.capacity = 1 + random(2);
  l.permits = random(2);
  for (unsigned n = 2 + random(2); n != 0; --n) {
    auto& each = l.all.emplace_back();
    each.is_forkable = random(3) == 0;
    for (auto left = 1 + random(static_cast<unsigned>(most_acts)); left != 0; --left) {
      act const a = may[random(static_cast<unsigned>(may.size()))];
      // One process has the inboxes, and the completion.
      bool const is_the_firsts = (a >= receives && a <= selects_for) || a == closes_inbox ||
                                 a == makes_address || a == waits_completion ||
                                 a == waits_completion_for || a == asks_ready;
      each.acts.push_back(is_the_firsts && l.all.size() != 1 ? yields : a);
    }
  }
  return l;
}

/// The same complaint of a smaller program.
lives smaller(lives l, granularity grain, std::size_t most) {
  auto const still = [&](lives const& other) {
    auto const c = compare(other, grain, most);
    return c.is_small && !c.complaint.empty();
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t p = 0; p != l.all.size(); ++p)
      for (std::size_t i = 0; i != l.all[p].acts.size(); ++i) {
        lives other = l;
        other.all[p].acts.erase(other.all[p].acts.begin() + static_cast<std::ptrdiff_t>(i));
        if (!still(other)) continue;
        l = std::move(other);
        again = true;
        --i;
      }
    for (std::size_t p = 0; p != l.all.size(); ++p) {
      lives other = l;
      other.all[p].is_forkable = false;
      if (l.all[p].is_forkable && still(other)) l = other;
    }
  }
  std::erase_if(l.all, [](auto const& each) { return each.acts.empty(); });
  return l;
}

/// Programs that have too many schedules do not count.
void compares_all(weft::tests::seeds const& seeds, granularity grain, std::size_t most_acts,
                  std::size_t most) {
  unsigned tried = 0, small = 0;
  std::size_t full = 0, reduced = 0;
  seeds.for_each([&](unsigned seed) {
    auto const l = random_lives(seed, most_acts);
    // Between the look and the wait another may end the gate: a program that must not be written.
    if (grain == granularity::parallel && l.has(act::ends_gate)) return;
    auto c = compare(l, grain, most);
    if (!c.complaint.empty()) {
      auto const s = smaller(l, grain, most);
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

TEST_CASE("the reduction finds what the full search finds, in fewer schedules") {
  weft::tests::every_frame_dies const here;
  compares_all(weft::tests::seeds(600), granularity::cooperative, 4, 2000);
}

TEST_CASE("and so where each operation on something shared is a step") {
  weft::tests::every_frame_dies const here;
  compares_all(weft::tests::seeds(150), granularity::parallel, 3, 3000);
}
