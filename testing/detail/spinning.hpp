// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/sched/base/process.hpp"
#include "weft/testing/detail/reused.hpp"
#include "weft/testing/detail/strategy.hpp"

namespace weft::detail {

/// Notes which processes spin: come to one place again and again while another one, which is ready,
/// does not run.  A search that lets such a process go on for ever visits no other schedule.  (Fair
/// schedules: Musuvathi, Qadeer: Fair Stateless Model Checking, PLDI 2008.  In that paper a process
/// that yields twice lets the others go first; in weft only one that spins does.)
///
/// No process is watched while processes take turns, or while only one is ready.  O(1) for each
/// step, and O(n) in the ready processes where one spins.
class spin_watch {
 public:
  /// Called at each choice; `now` is the number of the step.  If the process that ran last spins,
  /// returns the candidate that has to run now; else none.  That candidate has not run since the
  /// spinning began; one for which `may_run(id)` is true comes first, and of these the one that has
  /// not run for the longest time.  None if all candidates have run since.
  template <class F>
  [[nodiscard]] std::size_t choose(candidates const& who, std::size_t now, F may_run) {
    if (now - last_switch_ <= unwatched_steps || who.size() == 1) [[likely]]
      return candidates::none;
    return choose_watched(who, now, may_run);
  }
  [[nodiscard]] std::size_t choose(candidates const& who, std::size_t now) {
    return choose(who, now, [](process_id) { return true; });
  }
  /// Called when a candidate was chosen for the step `now`.
  void note(candidates const& who, std::size_t now, std::size_t chosen) {
    if (chosen == who.last) return;
    last_switch_ = now;
    if (is_watching_) [[unlikely]]
      note_switch(who, now);
  }
  void clear() noexcept {
    last_switch_ = 0;
    if (is_watching_) [[unlikely]]
      forget();
  }

 private:
  /// A process is not watched before it has made so many steps in a row.
  static constexpr std::size_t unwatched_steps = 50;
  /// How often a process may come to one place while another one that is ready does not run.
  static constexpr std::size_t patience = 100;

  /// The visits of a process to one place.
  struct visits {
    std::size_t times;
    std::size_t first;  // the step of the first visit
  };
  template <class F>
  [[nodiscard, gnu::noinline]] std::size_t choose_watched(candidates const& who, std::size_t now,
                                                          F may_run) {
    if (who.last == candidates::none) return candidates::none;
    is_watching_ = true;
    auto const at = who.ready[who.last].who->resumes_at();
    if (!here_ || at.operation.data() != at_.operation.data() ||
        at.where.line() != at_.where.line())
      here_ = &visits_of(who[who.last], at_ = at, now);
    visits& here = *here_;
    if (++here.times <= patience) return candidates::none;
    std::size_t const first = here.first;
    here = {1, now};
    std::size_t longest = candidates::none;
    std::pair<bool, std::size_t> of_longest;
    for (std::size_t i = 0; i != who.size(); ++i) {
      std::pair const of_this(!may_run(who[i]), last_run_of(who[i]));
      if (i == who.last || of_this.second >= first) continue;
      if (longest == candidates::none || of_this < of_longest) longest = i, of_longest = of_this;
    }
    return longest;
  }
  [[gnu::noinline]] void note_switch(candidates const& who, std::size_t now) {
    here_ = nullptr;
    if (who.last != candidates::none) last_run_of(who[who.last]) = now;
  }
  [[gnu::noinline]] void forget() noexcept {
    is_watching_ = false;
    here_ = nullptr;
    last_runs_.clear();
    visits_.clear();
  }
  std::size_t& last_run_of(process_id id) { return last_runs_.enter(id.hash(), 0).first; }
  visits& visits_of(process_id id, process::location const& at, std::size_t now) {
    auto const operation = reinterpret_cast<std::uintptr_t>(at.operation.data());
    std::uint64_t const place = operation + at.where.line() * 0x9E3779B97F4A7C15u;
    return visits_.enter((id.hash() + 1) * 0xD6E8FEB86659FD93u ^ place, {0, now}).first;
  }

  word_table<std::size_t> last_runs_;  // when each process ran last: steps, by the hashes of ids
  word_table<visits> visits_;          // by the hashes of ids and places
  process::location at_;               // where the process was at its last step
  visits* here_ = nullptr;             // its visits to at_; null after a switch
  std::size_t last_switch_ = 0;        // the step of the last switch
  bool is_watching_ = false;           // a process has made many steps in a row
};

}  // namespace weft::detail
