// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/support/acts.hpp"
#include "tests/support/dice.hpp"

/// Random programs, and shrinking them.
namespace weft::tests {

/// A program from a few kinds of acts, so that its processes interact.
inline scenario random_lives(unsigned seed, std::size_t most_acts) {
  using enum act;
  static std::vector<std::vector<act>> const themes{
      {reads, writes, adds_in_two_steps},
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
      {sends, sends_to_second, selects, selects_for, drops_addresses, sleeps},
      {sends, receives, closes_inbox, makes_address, drops_addresses},
      {forks, forks, writes, reads, prints},
      {spawns_more, exits, throws},
      {opens_scope, starts_task, starts_task, closes_scope, cancels, throws},
      {opens_scope_for, starts_task, closes_scope, sleeps, shields, throws},
      {opens_scope, starts_with_handle, awaits, awaits_for, closes_scope, cancels, throws},
      {starts_alone, starts_alone, awaits, drops_handle, throws},
      {opens_scope, starts_task, starts_with_handle, shields, cancels, waits_at_gate,
       releases_gate},
  };
  dice random(seed);
  std::vector<act> may{yields};
  for (unsigned n = 1 + random(3); n != 0; --n) {
    auto const& theme = themes[random(static_cast<unsigned>(themes.size()))];
    may.insert(may.end(), theme.begin(), theme.end());
  }
  bool const has_scopes = std::ranges::find(may, starts_task) != may.end() ||
                          std::ranges::find(may, starts_with_handle) != may.end();
  scenario l;
  l.capacity = 1 + random(2);
  l.permits = random(2);
  for (unsigned n = 2 + random(2); n != 0; --n) {
    auto& each = l.all.emplace_back();
    each.is_forkable = random(3) == 0;
    bool const opens = has_scopes && random(3) != 0;
    if (opens) each.acts.push_back(opens_scope);
    for (auto left = 1 + random(static_cast<unsigned>(most_acts)); left != 0; --left) {
      act const a = may[random(static_cast<unsigned>(may.size()))];
      // One process has the inboxes and the completion.
      bool const is_the_firsts = (a >= receives && a <= selects_for) || a == closes_inbox ||
                                 a == makes_address || a == waits_completion ||
                                 a == waits_completion_for || a == asks_ready;
      each.acts.push_back(is_the_firsts && l.all.size() != 1 ? yields : a);
    }
  }
  return l;
}

/// A smaller program for which `still(program)` is true.
template <class Still>
scenario smaller(scenario l, Still still) {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t p = 0; p != l.all.size(); ++p)
      for (std::size_t i = 0; i != l.all[p].acts.size(); ++i) {
        scenario other = l;
        other.all[p].acts.erase(other.all[p].acts.begin() + static_cast<std::ptrdiff_t>(i));
        if (!still(other)) continue;
        l = std::move(other);
        again = true;
        --i;
      }
    for (std::size_t p = 0; p != l.all.size(); ++p) {
      scenario other = l;
      other.all[p].is_forkable = false;
      if (l.all[p].is_forkable && still(other)) l = other;
    }
  }
  std::erase_if(l.all, [](auto const& each) { return each.acts.empty(); });
  return l;
}

}  // namespace weft::tests
