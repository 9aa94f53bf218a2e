// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/path.hpp"

namespace weft {

/// How a run ended.
enum class verdict : std::uint8_t {
  ok,        ///< The check agreed.
  failed,    ///< The check did not agree, or an exception was thrown.
  deadlock,  ///< All processes that had not ended were waiting.
  cut        ///< The run was longer than allowed, so it was ended: neither good nor bad.
};

/// A step of a schedule.  Either a process goes on from the operation that `operation` names, or
/// begins, if there is no name; or a deferred event of the process takes effect
/// (deferred_events.hpp), such as an unlock.
struct schedule_step {
  process_id process;
  std::string_view operation;
  std::source_location where;
  bool switches = false;  ///< Another process made the step before.
  bool preempts = false;  ///< Another process made the step before, and could have gone on.

  /// A decision in the step (decision.hpp).
  struct decision {
    unsigned taken;
    std::string name;  ///< May be empty.
    [[nodiscard]] std::string text() const { return name.empty() ? std::to_string(taken) : name; }
  };
  std::vector<decision> decisions{};
  bool is_event = false;  ///< A deferred event takes effect; `operation` names it.

  /// The step as text: a mark of two columns, "! " for a preemption and "> " for another switch;
  /// then the action; then the decisions that are not 0.
  [[nodiscard]] std::string text() const {
    std::string s = preempts ? "! " : switches ? "> " : "  ";
    s += "process " + process.text();
    if (is_event)
      s += ": " + std::string(operation) + " takes effect";
    else if (operation.empty())
      s += " begins";
    else
      s += " goes on from " + std::string(operation) + " at " + detail::text(where);
    char const* between = "; decided: ";
    for (auto const& d : decisions)
      if (d.taken != 0) s += std::exchange(between, ", ") + d.text();
    return s;
  }
};

/// The result of one run.
struct run_result {
  weft::verdict verdict = verdict::ok;
  std::string text;  ///< What the check returned, or the text of the exception.
  friend bool operator==(run_result const&, run_result const&) = default;
};

/// The result of explore, random_walk, follow or shrink.
struct exploration {
  /// One of the distinct results, and a schedule that leads to it.
  struct outcome {
    run_result result;
    schedule_path path;
    std::vector<schedule_step> trace;
    std::size_t switches = 0;
    std::size_t preemptions = 0;
    std::size_t decisions = 0;  ///< How many decisions are not 0.
    std::size_t schedules = 0;  ///< How many schedules have this result.
    /// The path by which the outcome was found; if it was shrunk afterwards, `path` is a smaller
    /// one.
    schedule_path found;

    [[nodiscard]] bool is_wrong() const noexcept {
      return result.verdict == verdict::failed || result.verdict == verdict::deadlock;
    }
  };

  std::size_t schedules = 0;  ///< How many schedules were visited.
  std::size_t failed = 0;     ///< How many of them failed: a false check, or an exception.
  std::size_t deadlocks = 0;  ///< How many of them deadlocked.
  std::size_t cut = 0;        ///< How many of them were cut.
  /// How many runs were given up as soon as they were known to be like schedules that had been
  /// visited: only with `reduce`.  They do not count as schedules.
  std::size_t redundant = 0;
  bool complete = true;  ///< Every schedule, or one that is like it, was visited to its end.
  /// A schedule that was run again, or only its beginning, went another way, or a path did not fit:
  /// then no result here is certain.
  bool nondeterminism = false;
  std::string what_differed;      ///< If so: where and how, or why the path does not fit.
  std::int64_t leaked = 0;        ///< How many frames and the like were never freed, in total.
  schedule_path leak_path;        ///< The first schedule that leaks, if one does.
  std::vector<outcome> outcomes;  ///< In the order in which they were found.

  /// Whether nothing went wrong in the schedules that were visited.
  [[nodiscard]] bool ok() const noexcept {
    return failed == 0 && deadlocks == 0 && !nondeterminism && leaked == 0;
  }
  /// The first outcome that is a failure or a deadlock, null if there is none.
  [[nodiscard]] outcome const* first_failure() const noexcept {
    for (auto const& o : outcomes)
      if (o.is_wrong()) return &o;
    return nullptr;
  }
  /// The whole result as text, with the first failure step by step and how to run it again.
  [[nodiscard]] std::string report() const {
    std::string s = summary();
    if (auto const* const o = first_failure()) s += "the first failure: " + text(*o);
    return s;
  }
  /// The first lines of the report: how many schedules there were and how they ended, and whether
  /// anything differed or leaked.
  [[nodiscard]] std::string summary() const {
    std::string s = several(schedules, "schedule") + ", " + std::to_string(failed) + " failed, " +
                    several(deadlocks, "deadlock");
    if (cut) s += ", " + std::to_string(cut) + " cut";
    if (redundant) s += ", " + std::to_string(redundant) + " given up as redundant";
    if (!complete) s += ", not all there are";
    s += '\n';
    if (nondeterminism) s += "nondeterminism: " + what_differed + '\n';
    if (leaked)
      s += "leak: " + std::to_string(leaked) + " frames are left, first by follow(\"" +
           leak_path.text() + "\", ...)\n";
    return s;
  }
  /// One outcome as text, step by step, with how to run it again.
  [[nodiscard]] static std::string text(outcome const& o) {
    return story(o) + "to see it again: follow(\"" + o.path.text() + "\", ...)\n";
  }
  /// The outcome as text, without how to run it again.
  [[nodiscard]] static std::string story(outcome const& o) {
    std::string s = o.result.text.empty() && o.is_wrong() ? "the check failed" : o.result.text;
    s += '\n' + several(o.preemptions, "preemption") + " (!), " +
         several(o.switches - o.preemptions, "other switch", "es") + " (>)";
    if (o.decisions != 0) s += ", " + several(o.decisions, "decision") + " (decided)";
    s += '\n';
    for (auto const& step : o.trace) s += step.text() + '\n';
    return s;
  }

  /// For the explorers: counts a run.  Returns a new outcome for it, or null if an earlier run had
  /// the same result.
  outcome* add(run_result const& result) {
    ++schedules;
    failed += result.verdict == verdict::failed;
    deadlocks += result.verdict == verdict::deadlock;
    cut += result.verdict == verdict::cut;
    complete = complete && result.verdict != verdict::cut;
    for (auto& o : outcomes)
      if (o.result == result) {
        ++o.schedules;
        return nullptr;
      }
    outcome& fresh = outcomes.emplace_back();
    fresh.result = result;
    fresh.schedules = 1;
    return &fresh;
  }

 private:
  static std::string several(std::size_t n, std::string const& what, std::string const& s = "s") {
    return std::to_string(n) + ' ' + what + (n == 1 ? "" : s);
  }
};

}  // namespace weft
