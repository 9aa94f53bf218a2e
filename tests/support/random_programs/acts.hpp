// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// The acts of random programs.
namespace weft::tests {

/// What a statement does.  An interpreter gives a meaning to some of them: `processes.hpp` to all
/// that a scheduler handles, `effekt_*.hpp` to those of Effekt, and `searches_*.hpp` and
/// `captures_*.hpp` to those of programs that resume twice.
// clang-format off
enum class act : unsigned char {
  yields,
  // plain variables
  reads, writes, adds_in_two_steps,
  // handlers outside
  prints, asks, counts_inside,
  // time
  sleeps, looks_at_clock,
  // locks
  locks, unlocks, tries_lock, tries_lock_for, acquires, tries_acquire, tries_acquire_for, releases,
  // conditions and barriers
  waits_notified, waits_notified_for, notifies_one, notifies_all, meets,
  // gates
  waits_at_gate, looks_and_waits, looks_and_waits_for, waits_outside_for, wakes_one, wakes_two,
  wakes_all, releases_gate, releases_all, counts_waiting, ends_gate,
  // shared
  gets, sets, updates, waits_for_value,
  // completions
  completes, drops_completer, waits_completion, waits_completion_for, asks_ready, awaits_given,
  awaits_given_for, gives, drops_given,
  // mail
  sends, sends_to_second, sends_to_full, receives, tries_receive, receives_for, receives_alone,
  receives_alone_for, selects, selects_for, drops_addresses, closes_inbox, makes_address,
  // processes
  forks, asks_child, exits, stops, throws,
  // tasks
  awaits, awaits_for, drops_handle, cancels,
  // the result of the process or task
  adds,
  // Effekt: variables, and a fork whose processes print
  sets_variable, copies_variable, shows_variable, prints_which,
  // programs that resume twice
  picks, picks_wide, picks_into, picks_deep, fails, ends_part, reads_own, writes_own, masks, ticks,
  flips, signs, trades, takes_key,
  // a choice of the world of random handlers
  chooses,
  // statements with parts, from here on
  spawns, attempts, attempts_else, shields, handles, opens_scope, opens_scope_for, starts_task,
  starts_with_handle, starts_alone, does_in_scope, awaits_each, awaits_all, joins, races,
  forks_into, calls, declares, repeats, under_pick, under_flip, under_lock, doubles,
};
// clang-format on
inline constexpr std::size_t acts_there_are = static_cast<std::size_t>(act::doubles) + 1;

[[nodiscard]] std::string_view name_of(act a);

struct count_of_parts {
  unsigned least;
  unsigned most;
};
/// How many parts a statement has.
[[nodiscard]] constexpr count_of_parts parts_of(act a) {
  if (a < act::spawns) return {0, 0};
  if (a >= act::does_in_scope && a <= act::races) return {1, 3};
  bool const are_two = a == act::forks_into || a == act::attempts_else;
  return are_two ? count_of_parts{2, 2} : count_of_parts{1, 1};
}

/// Whether only the first process may do it, which has the inboxes and the completion.
[[nodiscard]] constexpr bool is_the_firsts(act a) {
  return (a >= act::receives && a <= act::receives_for) || a == act::selects ||
         a == act::selects_for || a == act::closes_inbox || a == act::makes_address ||
         a == act::waits_completion || a == act::waits_completion_for || a == act::asks_ready;
}
/// Whether only a process may do it, outside of scopes.
[[nodiscard]] constexpr bool is_of_processes(act a) {
  return a == act::forks || a == act::spawns || a == act::asks_child;
}
/// Whether it only makes sense in a scope.
[[nodiscard]] constexpr bool needs_scope(act a) {
  return a == act::starts_task || a == act::starts_with_handle || a == act::cancels;
}
/// Whether its parts run beside the process.
[[nodiscard]] constexpr bool begins_others(act a) {
  return a == act::spawns || (a >= act::starts_task && a <= act::races);
}
/// Whether it waits until a time, or for some time, which its number says.
[[nodiscard]] bool takes_time(act a);
/// Whether it may wait, without a deadline, for an act of another process.
[[nodiscard]] bool may_wait_forever(act a);

}  // namespace weft::tests
