// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"

/// Programs of everything that a scheduler handles, small enough to visit all their schedules.
namespace weft::tests {

/// A program has a few kinds of acts, so that its processes interact.
inline dialect schedule_dialect(unsigned most_acts) {
  using enum act;
  dialect d;
  d.themes = {
      {reads, writes, adds_in_two_steps},
      {prints, asks, reads, writes},
      {{sleeps, 1, 3}, looks_at_clock},
      {locks, unlocks, tries_lock, tries_lock_for},
      {acquires, tries_acquire, tries_acquire_for, releases},
      {locks, unlocks, waits_notified, waits_notified_for, notifies_one, notifies_all},
      {waits_notified_for, waits_notified_for, notifies_one, {sleeps, 1, 3}},
      {meets},
      {waits_at_gate, looks_and_waits, looks_and_waits_for, wakes_one, wakes_all, releases_gate,
       counts_waiting},
      {looks_and_waits, looks_and_waits_for, wakes_one, releases_gate, {sleeps, 1, 3}},
      {ends_gate},
      {gets, sets, updates, waits_for_value},
      {completes, drops_completer, waits_completion, waits_completion_for, asks_ready},
      {sends, receives, tries_receive, receives_for, drops_addresses},
      {sends, sends_to_second, selects, selects_for, drops_addresses, {sleeps, 1, 3}},
      {sends, receives, closes_inbox, makes_address, drops_addresses},
      {forks, forks, writes, reads, prints},
      {spawns, exits, throws},
      {opens_scope, opens_scope, starts_task, starts_task, cancels, attempts, throws},
      {opens_scope_for, opens_scope_for, starts_task, {sleeps, 1, 3}, shields, attempts, throws},
      {opens_scope, opens_scope, starts_with_handle, awaits, awaits_for, cancels, attempts, throws},
      {starts_alone, starts_alone, awaits, drops_handle, throws},
      {opens_scope, opens_scope, starts_task, starts_with_handle, shields, cancels, waits_at_gate,
       releases_gate},
      {joins, races, attempts, throws, writes},
      {{opens_scope, 0, 0}, {cancels, 0, 1}, joins, does_in_scope, awaits_each, {sleeps, 1, 3}},
      {opens_scope, awaits_all, handles, counts_inside, throws, attempts},
      {awaits_given_for, gives, drops_given},
  };
  d.most_themes = 3;
  d.always = {yields};
  d.processes = 2;
  d.more_processes = 1;
  d.acts = most_acts;
  d.part = 2;
  d.depth = 3;
  d.size = 2 * most_acts + 2;
  d.forkable_ones = true;
  return d;
}

}  // namespace weft::tests
