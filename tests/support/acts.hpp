// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

/// Lists of acts for processes of random programs.
namespace weft::tests {

/// The next act of a process.
enum class act : unsigned char {
  yields,
  // plain variables
  reads,
  writes,
  adds_in_two_steps,
  // handlers outside
  prints,
  asks,
  // time
  sleeps,
  looks_at_clock,
  // locks
  locks,
  unlocks,
  tries_lock,
  tries_lock_for,
  acquires,
  tries_acquire,
  tries_acquire_for,
  releases,
  // conditions and barriers
  waits_notified,
  waits_notified_for,
  notifies_one,
  notifies_all,
  meets,
  // gates
  waits_at_gate,
  looks_and_waits,
  looks_and_waits_for,
  wakes_one,
  wakes_all,
  releases_gate,
  counts_waiting,
  ends_gate,
  // shared
  gets,
  sets,
  updates,
  waits_for_value,
  // completions
  completes,
  drops_completer,
  waits_completion,
  waits_completion_for,
  asks_ready,
  // mail
  sends,
  sends_to_second,
  receives,
  tries_receive,
  receives_for,
  selects,
  selects_for,
  drops_addresses,
  closes_inbox,
  makes_address,
  // processes
  spawns_more,
  forks,
  exits,
  throws,
  // scopes and tasks
  opens_scope,
  opens_scope_for,
  closes_scope,
  starts_task,
  starts_with_handle,
  starts_alone,
  awaits,
  awaits_for,
  drops_handle,
  cancels,
  shields,
};
inline constexpr std::size_t acts_there_are = static_cast<std::size_t>(act::shields) + 1;
inline constexpr std::array<char const*, acts_there_are> names_of_acts{"yields",
                                                                       "reads",
                                                                       "writes",
                                                                       "adds_in_two_steps",
                                                                       "prints",
                                                                       "asks",
                                                                       "sleeps",
                                                                       "looks_at_clock",
                                                                       "locks",
                                                                       "unlocks",
                                                                       "tries_lock",
                                                                       "tries_lock_for",
                                                                       "acquires",
                                                                       "tries_acquire",
                                                                       "tries_acquire_for",
                                                                       "releases",
                                                                       "waits_notified",
                                                                       "waits_notified_for",
                                                                       "notifies_one",
                                                                       "notifies_all",
                                                                       "meets",
                                                                       "waits_at_gate",
                                                                       "looks_and_waits",
                                                                       "looks_and_waits_for",
                                                                       "wakes_one",
                                                                       "wakes_all",
                                                                       "releases_gate",
                                                                       "counts_waiting",
                                                                       "ends_gate",
                                                                       "gets",
                                                                       "sets",
                                                                       "updates",
                                                                       "waits_for_value",
                                                                       "completes",
                                                                       "drops_completer",
                                                                       "waits_completion",
                                                                       "waits_completion_for",
                                                                       "asks_ready",
                                                                       "sends",
                                                                       "sends_to_second",
                                                                       "receives",
                                                                       "tries_receive",
                                                                       "receives_for",
                                                                       "selects",
                                                                       "selects_for",
                                                                       "drops_addresses",
                                                                       "closes_inbox",
                                                                       "makes_address",
                                                                       "spawns_more",
                                                                       "forks",
                                                                       "exits",
                                                                       "throws",
                                                                       "opens_scope",
                                                                       "opens_scope_for",
                                                                       "closes_scope",
                                                                       "starts_task",
                                                                       "starts_with_handle",
                                                                       "starts_alone",
                                                                       "awaits",
                                                                       "awaits_for",
                                                                       "drops_handle",
                                                                       "cancels",
                                                                       "shields"};

struct life {
  std::vector<act> acts;
  bool is_forkable = false;
  [[nodiscard]] bool operator==(life const&) const = default;
};
/// The first process starts all but the last; each process that spawns starts the last.  A task of
/// the n-th list follows the next list, if there is one.
struct scenario {
  std::vector<life> all;
  std::size_t capacity = 2;  // of ports
  std::size_t permits = 1;   // of the semaphore

  [[nodiscard]] bool has(act a) const {
    return std::ranges::any_of(
        all, [a](life const& l) { return std::ranges::find(l.acts, a) != l.acts.end(); });
  }
  [[nodiscard]] bool has_mail() const {
    auto const is_mail = [](act a) { return a >= act::sends && a <= act::makes_address; };
    return std::ranges::any_of(all,
                               [&](life const& l) { return std::ranges::any_of(l.acts, is_mail); });
  }
  [[nodiscard]] std::string text() const {
    std::string s =
        "capacity " + std::to_string(capacity) + ", permits " + std::to_string(permits) + '\n';
    for (auto const& l : all) {
      s += l.is_forkable ? "  forkable:" : "  process:";
      for (act const a : l.acts) s += ' ' + std::string(names_of_acts[static_cast<std::size_t>(a)]);
      s += '\n';
    }
    return s;
  }
};

}  // namespace weft::tests
