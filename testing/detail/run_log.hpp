// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/ready_list.hpp"
#include "weft/testing/detail/reused.hpp"
#include "weft/testing/detail/strategy.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

/// The notes of a run of a program under test (controlled_backend.hpp, CHOICE-n).
namespace weft::detail {

class kept_scheduler;  // one_run.hpp

/// The record of a run.
struct run_log {
  /// A choice of a process, or a decision.
  struct choice {
    unsigned taken;
    unsigned of;
    std::size_t step;  // counted from 1
    bool is_decision;
    process_id process;       // the process that was chosen; without meaning for a decision
    std::uint64_t sum;        // candidates::sum, which stands for their ids; 0 for a decision
    candidates::names names;  // of the candidates, if they are few (CHOICE-4)
  };
  reused_stack<choice> choices;  // CHOICE-2: none where only one candidate was ready
  std::size_t steps = 0;
  std::size_t switches = 0;
  std::size_t preemptions = 0;
  std::size_t decisions = 0;   // how many decisions were not 0
  bool was_quiescent = false;  // no process was ready after the last step
  bool was_cut = false;        // the run was longer than allowed
  bool was_given_up = false;   // the strategy chose no candidate
  bool lacks_memory = false;   // CHOICE-3: then the search throws bad_alloc
  bool lacks_log = false;      // a process has forked that keeps no log
  std::vector<schedule_step>* trace = nullptr;
  /// The notes on a process, for the trace.
  struct known_process {
    std::source_location spawned_at{};
    std::string_view function{};
    char const* call = nullptr;  // the library call in which the process made its last access
    std::source_location called_at{};
  };
  std::map<process_id, known_process> known;
  ready_list room;  // memory for the list of ready processes, kept from run to run
  /// Keeps the scheduler of a run for the next run, which is of the same subject.  If null, the
  /// scheduler ends with the run.
  kept_scheduler* kept = nullptr;

  /// Reserves room for a short run.
  run_log() { choices.reserve(8); }
  void clear() noexcept {
    choices.clear();
    steps = switches = preemptions = decisions = 0;
    was_quiescent = was_cut = was_given_up = lacks_memory = lacks_log = false;
    if (trace) known.clear();
  }
  [[nodiscard]] schedule_path path(granularity g) const;
  /// The step of the choice i; if there is no choice i, a number that no step has.
  [[nodiscard]] std::size_t step_of_choice(std::size_t i) const noexcept {
    return i < choices.size() ? choices[i].step : static_cast<std::size_t>(-1);
  }
  /// Whether the choice i was made in that step with the same candidates, or ways, in both runs.
  /// True, too, if it was made in that step in neither run.
  [[nodiscard]] bool chooses_as(run_log const& other, std::size_t i,
                                std::size_t step) const noexcept;
  /// The candidates, or ways, of the choice i as text; empty if it was not made in that step.
  [[nodiscard]] std::string candidates_at(std::size_t i, std::size_t step) const;
};

/// The limit of one run, and the granularity of its steps.
struct run_limits {
  std::size_t max_steps;
  weft::granularity granularity;
};

}  // namespace weft::detail
