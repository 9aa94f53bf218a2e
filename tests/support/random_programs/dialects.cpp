// SPDX-License-Identifier: MIT
#include "tests/support/random_programs/dialects.hpp"

#include <vector>

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/program.hpp"

namespace weft::tests {

dialect schedule_dialect(unsigned most_acts) {
  using enum act;
  dialect d;
  d.themes = {
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
      {spawns, exits, throws},
      {opens_scope, opens_scope, starts_task, starts_task, cancels, attempts, throws},
      {opens_scope_for, opens_scope_for, starts_task, sleeps, shields, attempts, throws},
      {opens_scope, opens_scope, starts_with_handle, awaits, awaits_for, cancels, attempts, throws},
      {starts_alone, starts_alone, awaits, drops_handle, throws},
      {opens_scope, opens_scope, starts_task, starts_with_handle, shields, cancels, waits_at_gate,
       releases_gate},
      {joins, races, attempts, throws, writes},
      {opens_scope, cancels, joins, does_in_scope, awaits_each, sleeps},
      {opens_scope, awaits_all, handles, counts_inside, throws, attempts},
      {awaits_given_for, gives, drops_given, asks_child},
  };
  d.most_themes = 3;
  d.always = {yields};
  d.processes = 2;
  d.more_processes = 1;
  d.acts = most_acts;
  d.part = 2;
  d.depth = 3;
  d.size = 2 * most_acts;
  d.forkable_ones = true;
  return d;
}

dialect dialect_of_every_backend(unsigned most_acts) {
  using enum act;
  dialect d = schedule_dialect(most_acts);
  d.forkable_ones = false;
  for (theme& t : d.themes)
    std::erase_if(t, [](act a) { return a == forks || a == ends_gate || a == waits_completion; });
  return d;
}

dialect dialect_of_threads() {
  using enum act;
  dialect d = dialect_of_every_backend(12);
  for (theme& t : d.themes) std::erase(t, throws);
  d.themes.insert(d.themes.end(), 10,
                  {yields, looks_and_waits, awaits_given, awaits_given, counts_inside, gives, gives,
                   drops_given});
  for (theme t : {theme{throws}, theme{stops}}) {
    t.insert(t.end(), 60, yields);
    d.themes.push_back(t);
  }
  d.always = {yields, yields, wakes_one, wakes_two, wakes_all};
  d.forkable_ones = true;
  d.of_forkable_ones = {forks, spawns, yields, yields, wakes_two, counts_inside};
  d.processes = 10;
  d.more_processes = 0;
  d.size = 120;
  d.gates = 3;
  d.forks = 2;
  // The inboxes and the completion are for one process.
  d.accepts = [](program_of_acts const& p) {
    return p.forks == 0 ||
           !(p.has_mail() || p.has([](statement const& s) { return is_the_firsts(s.what); }));
  };
  return d;
}

dialect dialect_of_deadlines() {
  using enum act;
  dialect d;
  d.most_time = 20'000;  // nanoseconds
  d.themes = {
      {sleeps, looks_and_waits_for, looks_and_waits_for, releases_gate, releases_all, wakes_one,
       wakes_two, asks_child, asks_child, yields, looks_at_clock},
      {waits_outside_for, receives_alone_for, awaits_given_for, gives, drops_given, counts_inside},
      {tries_lock_for, tries_lock_for, unlocks, tries_lock, tries_acquire_for, tries_acquire_for,
       releases},
      {receives_for, selects_for, tries_receive, makes_address, drops_addresses,
       waits_completion_for, completes, drops_completer},
      {opens_scope_for, opens_scope, starts_task, starts_task, starts_with_handle, awaits,
       awaits_for, cancels, shields, handles},
      {starts_alone, awaits, drops_handle, joins, races, awaits_each, spawns},
      {throws, attempts}};
  d.always = {sleeps, looks_and_waits_for, releases_gate};
  d.most_themes = 4;
  d.processes = 6;
  d.acts = 15;
  d.part = 4;
  d.size = 120;
  d.gates = 3;
  return d;
}

dialect dialect_of_cancellations() {
  using enum act;
  dialect d;
  d.most_time = 90;
  d.themes = {
      {waits_at_gate, looks_and_waits, looks_and_waits_for, wakes_one, releases_gate, releases_all},
      {waits_outside_for, receives_alone, receives_alone_for, sends_to_full},
      {locks, unlocks, tries_lock_for, waits_notified, waits_notified_for, notifies_one,
       notifies_all},
      {acquires, tries_acquire_for, releases, meets, counts_inside},
      {waits_for_value, sets, updates, waits_completion, waits_completion_for, completes},
      {awaits_given, awaits_given_for, gives, drops_given},
      {sends, sends_to_second, receives, receives_for, selects, selects_for}};
  d.most_themes = 2;
  d.always = {opens_scope,
              opens_scope,
              opens_scope_for,
              starts_task,
              starts_task,
              starts_task,
              starts_with_handle,
              awaits,
              awaits_for,
              cancels,
              cancels,
              joins,
              races,
              does_in_scope,
              awaits_each,
              awaits_all,
              shields,
              handles,
              attempts,
              throws,
              yields};
  d.always.insert(d.always.end(), 6, sleeps);
  d.more_processes = 1;
  d.acts = 6;
  d.part = 4;
  d.depth = 6;
  d.size = 60;
  d.ends_at = 1'000'000;
  d.ends_by_itself = true;
  return d;
}

dialect dialect_of_results() {
  using enum act;
  dialect d;
  d.themes = {{adds, adds, yields, yields, throws, attempts, does_in_scope, awaits_each, awaits_all,
               joins, races}};
  d.part = 3;
  d.depth = 5;
  d.size = 100;
  d.one_of_races_fails = false;
  d.never_fails = 2;
  return d;
}

}  // namespace weft::tests
