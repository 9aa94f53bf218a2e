// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "sched/base/process_id.hpp"
#include "testing/path.hpp"

namespace weft {

/// How a run ended.
enum class verdict : std::uint8_t {
  ok,        ///< The check agreed.
  failed,    ///< It did not, or something was thrown.
  deadlock,  ///< All who were left waited.
  cut        ///< It was longer than it may be: neither good nor bad.
};

/// A step of a schedule: a process goes on from an operation; from its beginning, if that has no
/// name.  Or something takes effect that a process has done without an operation: an unlock, the
/// end of an address.
struct schedule_step {
  process_id process;
  std::string_view operation;
  std::source_location where;
  bool switches = false;  ///< Another process ran before.
  bool preempts = false;  ///< The same, and could have gone on.

  /// What was decided in it (decision.hpp).
  struct decision {
    unsigned taken;
    std::string name;  ///< May be empty.
    [[nodiscard]] std::string text() const { return name.empty() ? std::to_string(taken) : name; }
  };
  std::vector<decision> decisions{};
  bool is_event = false;  ///< Something takes effect; `operation` names it.

  /// Two columns, "! " for a preemption and "> " for another switch; then what is done; then those
  /// decisions that are not 0.
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

/// What one run came to.
struct run_result {
  weft::verdict verdict = verdict::ok;
  std::string text;  ///< What the check returned, or what was thrown.
  friend bool operator==(run_result const&, run_result const&) = default;
};

/// What was found by explore, random_walk, follow or shrink.
struct exploration {
  /// One of the distinct results, and a schedule that leads to it.
  struct outcome {
    run_result result;
    schedule_path path;
    std::vector<schedule_step> trace;
    std::size_t switches = 0;
    std::size_t preemptions = 0;
    std::size_t decisions = 0;  ///< That are not 0.
    std::size_t schedules = 0;  ///< How many came to it.
    /// Before it was made smaller: how it was found.  The same as `path` if it was not.
    schedule_path found;

    [[nodiscard]] bool is_wrong() const noexcept {
      return result.verdict == verdict::failed || result.verdict == verdict::deadlock;
    }
  };

  std::size_t schedules = 0;  ///< Visited.
  std::size_t failed = 0;     ///< Of them: a false check, or an exception.
  std::size_t deadlocks = 0;  ///< Of them.
  std::size_t cut = 0;        ///< Of them.
  /// Begun, and given up as soon as it was clear that they are like others: with a reduction.
  std::size_t redundant = 0;
  bool complete = true;  ///< Every schedule was visited to its end, or one that is like it.
  /// A schedule, run again, went another way: nothing here is certain then.
  bool nondeterminism = false;
  std::string what_differed;      ///< Then: where, and how; or why a path does not fit.
  std::int64_t leaked = 0;        ///< Frames and the like that are left over, of all schedules.
  schedule_path leak_path;        ///< Then: the first that leaves some.
  std::vector<outcome> outcomes;  ///< In the order in which they were found.

  /// Nothing went wrong in what was visited.
  [[nodiscard]] bool ok() const noexcept {
    return failed == 0 && deadlocks == 0 && !nondeterminism && leaked == 0;
  }
  /// The first outcome that is a failure or a deadlock, null if there is none.
  [[nodiscard]] outcome const* first_failure() const noexcept {
    for (auto const& o : outcomes)
      if (o.is_wrong()) return &o;
    return nullptr;
  }
  /// All of it in words, with the first failure step by step and how to see it again.
  [[nodiscard]] std::string report() const {
    std::string s = summary();
    if (auto const* const o = first_failure()) s += "the first failure: " + text(*o);
    return s;
  }
  /// Its first lines: how many schedules, and what is wrong with all of it.
  [[nodiscard]] std::string summary() const {
    std::string s = several(schedules, "schedule") + ", " + std::to_string(failed) + " failed, " +
                    several(deadlocks, "deadlock");
    if (cut) s += ", " + std::to_string(cut) + " cut";
    if (redundant) s += ", " + std::to_string(redundant) + " given up as redundant";
    if (!complete) s += ", not all there are";
    s += '\n';
    if (nondeterminism) s += "nondeterminism: " + what_differed + '\n';
    if (leaked)
      s += "leak: " + std::to_string(leaked) + " frames are left over, first by follow(\"" +
           leak_path.text() + "\", ...)\n";
    return s;
  }
  /// One outcome in words, step by step, and how to see it again.
  [[nodiscard]] static std::string text(outcome const& o) {
    return story(o) + "to see it again: follow(\"" + o.path.text() + "\", ...)\n";
  }
  /// The same without the last line.
  [[nodiscard]] static std::string story(outcome const& o) {
    std::string s = o.result.text.empty() && o.is_wrong() ? "the check failed" : o.result.text;
    s += '\n' + several(o.preemptions, "preemption") + " (!), " +
         several(o.switches - o.preemptions, "other switch", "es") + " (>)";
    if (o.decisions != 0) s += ", " + several(o.decisions, "decision") + " (decided)";
    s += '\n';
    for (auto const& step : o.trace) s += step.text() + '\n';
    return s;
  }

  /// For who runs them: counts a run.  The outcome, if there was none like it.
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
