// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/reused.hpp"
#include "weft/testing/detail/strategy.hpp"
#include "weft/testing/path.hpp"

namespace weft::detail {

/// Makes the choices of a path; after the step in which the path was cut, lets all processes run in
/// turn.  Notes the last step in which an operation has changed something.
class change_watch final : public replay_strategy, public location_listener {
 public:
  change_watch(schedule_path const& p, std::size_t cut_after)
      : replay_strategy(p), cut_after_(cut_after) {}

  std::size_t choose(candidates const& who) override {
    ready_ = who.size();
    std::size_t const next = replay_strategy::choose(who);
    return steps() > cut_after_ ? in_turn(who) : next;
  }
  [[nodiscard]] location_listener* listener() noexcept override { return this; }
  [[nodiscard]] std::size_t last_change() const noexcept { return last_; }
  /// Whether a process has waited for the clock, or read it: then the schedule proves no livelock,
  /// since virtual time stands still while a process is ready.
  [[nodiscard]] bool uses_clock() const noexcept { return uses_clock_; }
  /// How many processes were ready at the last step.
  [[nodiscard]] std::size_t ready_at_last() const noexcept { return ready_; }

  // ---- location_listener

  void note_created(void const*) noexcept override {}
  void note_destroyed(void const*) noexcept override {}
  void note_access(void const*, bool is_written) noexcept override {
    if (is_written) changes();
  }
  void note_time() noexcept override { changes(); }
  void note_clock() noexcept override { uses_clock_ = true; }
  void note_all_cancelled() noexcept override { changes(); }
  void note_fork(process_id, process_id, void const*) noexcept override { changes(); }
  void note_rerun() noexcept override {}

 private:
  void changes() noexcept { last_ = steps(); }
  /// The candidate that has not run for the longest time.
  [[nodiscard]] std::size_t in_turn(candidates const& who) {
    std::size_t longest = 0;
    std::size_t since = steps();
    for (std::size_t i = 0; i != who.size(); ++i)
      if (auto const last = last_runs_.enter(who[i].hash(), 0).first; last < since)
        longest = i, since = last;
    last_runs_.enter(who[longest].hash(), 0).first = steps();
    return longest;
  }

  std::size_t const cut_after_;
  word_table<std::size_t> last_runs_;  // each process's last step after the cut, by hashes of ids
  std::size_t last_ = 0;
  std::size_t ready_ = 0;
  bool uses_clock_ = false;
};

/// A shorter schedule proves no livelock: a process may count its attempts in a plain variable.
inline constexpr std::size_t fewest_steps_of_livelock = 1000;
/// Whether a schedule that was cut is a livelock (verdict::no_progress).  Runs the schedule again,
/// and as many steps more.
[[nodiscard]] bool makes_no_progress(subject& program, schedule_path const& path, run_log& log);

}  // namespace weft::detail
