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
      {awaits_given_for, gives, drops_given, asks_child},
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

dialect dialect_of_every_backend(unsigned most_acts) {
  using enum act;
  dialect d = schedule_dialect(most_acts);
  d.forkable_ones = false;
  for (theme& t : d.themes)
    std::erase_if(t, [](word const& w) {
      return w.what == forks || w.what == ends_gate || w.what == waits_completion;
    });
  return d;
}

dialect dialect_of_threads() {
  using enum act;
  dialect d = dialect_of_every_backend(12);
  for (theme& t : d.themes) std::erase_if(t, [](word const& w) { return w.what == throws; });
  theme const wakings{{wakes_one, 0, 2}, {wakes_two, 0, 2}, {wakes_all, 0, 2}};
  theme const completing{
      yields,     {looks_and_waits, 0, 2}, awaits_given, awaits_given, counts_inside, gives, gives,
      drops_given};
  d.themes.insert(d.themes.end(), 10, completing);
  for (theme t : {theme{throws}, theme{stops}}) {
    t.insert(t.end(), 60, yields);
    d.themes.push_back(t);
  }
  d.always = {yields, yields};
  d.always.insert(d.always.end(), wakings.begin(), wakings.end());
  d.forkable_ones = true;
  d.of_forkable_ones = {forks, spawns, yields, yields, {wakes_two, 0, 2}, counts_inside};
  d.processes = 10;
  d.more_processes = 0;
  d.size = 120;
  d.gates = 3;
  d.forks = 2;
  // The inboxes and the completion are for one process.
  d.accepts = [](program const& p) {
    return p.forks == 0 ||
           !(p.has_mail() || p.has([](statement const& s) { return is_the_firsts(s.what); }));
  };
  return d;
}

dialect dialect_of_deadlines() {
  using enum act;
  constexpr int most = 20'000;  // nanoseconds
  dialect d;
  d.themes = {{{sleeps, 1, most},
               {looks_and_waits_for, 1, most},
               {looks_and_waits_for, 1, most},
               {releases_gate, 0, 2},
               {releases_all, 0, 2},
               {wakes_one, 0, 2},
               {wakes_two, 0, 2},
               {asks_child, 1, most},
               {asks_child, 1, most},
               yields,
               looks_at_clock},
              {{waits_outside_for, 1, most},
               {receives_alone_for, 1, most},
               {awaits_given_for, 1, most},
               gives,
               drops_given,
               counts_inside},
              {{tries_lock_for, 1, most},
               {tries_lock_for, 1, most},
               unlocks,
               tries_lock,
               {tries_acquire_for, 1, most},
               {tries_acquire_for, 1, most},
               releases},
              {{receives_for, 1, most},
               {selects_for, 1, most},
               tries_receive,
               makes_address,
               drops_addresses,
               {waits_completion_for, 1, most},
               completes,
               drops_completer},
              {{opens_scope_for, 1, most},
               opens_scope,
               starts_task,
               starts_task,
               starts_with_handle,
               awaits,
               {awaits_for, 1, most},
               {cancels, 0, 1},
               shields,
               handles},
              {starts_alone, awaits, drops_handle, joins, races, awaits_each, spawns},
              {throws, attempts}};
  d.always = {{sleeps, 1, most}, {looks_and_waits_for, 1, most}, {releases_gate, 0, 2}};
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
  theme const groups{opens_scope,
                     opens_scope,
                     {opens_scope_for, 1, 40},
                     starts_task,
                     starts_task,
                     starts_task,
                     starts_with_handle,
                     awaits,
                     {awaits_for, 1, 90},
                     {cancels, 0, 3},
                     {cancels, 0, 3},
                     joins,
                     races,
                     does_in_scope,
                     awaits_each,
                     awaits_all,
                     shields,
                     handles,
                     attempts,
                     throws};
  dialect d;
  d.themes = {
      {waits_at_gate,
       looks_and_waits,
       {looks_and_waits_for, 1, 90},
       wakes_one,
       releases_gate,
       releases_all},
      {{waits_outside_for, 1, 90}, receives_alone, {receives_alone_for, 1, 90}, sends_to_full},
      {locks,
       unlocks,
       {tries_lock_for, 1, 90},
       waits_notified,
       {waits_notified_for, 1, 90},
       notifies_one,
       notifies_all},
      {acquires, {tries_acquire_for, 1, 90}, releases, meets, counts_inside},
      {waits_for_value, sets, updates, waits_completion, {waits_completion_for, 1, 90}, completes},
      {awaits_given, {awaits_given_for, 1, 90}, gives, drops_given},
      {sends, sends_to_second, receives, {receives_for, 1, 90}, selects, {selects_for, 1, 90}}};
  d.most_themes = 2;
  d.always = groups;
  d.always.insert(d.always.end(), 6, {sleeps, 1, 90});
  d.always.push_back(yields);
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
  d.themes = {{{adds, 1, 99},
               {adds, 1, 99},
               yields,
               yields,
               throws,
               attempts,
               does_in_scope,
               awaits_each,
               awaits_all,
               joins,
               races}};
  d.part = 3;
  d.depth = 5;
  d.size = 100;
  d.one_of_races_fails = false;
  d.never_fails = 2;
  return d;
}

}  // namespace weft::tests
