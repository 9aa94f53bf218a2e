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
#include "sched/path.hpp"
#include "sched/process_id.hpp"

namespace weft {

/// How a run ended.
enum class verdict : std::uint8_t {
  ok,        ///< The check agreed.
  failed,    ///< It did not, or something was thrown.
  deadlock,  ///< All who were left waited.
  cut        ///< It was longer than it may be: neither good nor bad.
};

/// A step of a schedule: a process goes on from an operation; from its beginning, if that has no
/// name.
struct schedule_step {
  process_id process;
  std::string_view operation;
  std::source_location where;

  [[nodiscard]] std::string text() const {
    std::string const who = "process " + process.text();
    if (operation.empty()) return who + " begins";
    return who + " goes on from " + std::string(operation) + " at " + detail::text(where);
  }
};

/// What one run came to.
struct run_result {
  weft::verdict verdict = verdict::ok;
  std::string text;  ///< What the check returned, or what was thrown.
  friend bool operator==(run_result const&, run_result const&) = default;
};

/// What explore found.
struct exploration {
  /// One of the distinct results, and the first schedule that led to it.
  struct outcome {
    run_result result;
    schedule_path path;
    std::vector<schedule_step> trace;
    std::size_t schedules = 0;  ///< How many came to it.
  };

  std::size_t schedules = 0;  ///< Visited.
  std::size_t failed = 0;     ///< Of them: a false check, or an exception.
  std::size_t deadlocks = 0;  ///< Of them.
  std::size_t cut = 0;        ///< Of them.
  bool complete = true;       ///< Every schedule was visited to its end.
  /// A schedule, run again, went another way: nothing here is certain then.
  bool nondeterminism = false;
  std::int64_t leaked = 0;        ///< Frames and the like that are left over.
  std::vector<outcome> outcomes;  ///< In the order in which they were found.

  /// Nothing went wrong in what was visited.
  [[nodiscard]] bool ok() const noexcept {
    return failed == 0 && deadlocks == 0 && !nondeterminism && leaked == 0;
  }
  /// The first outcome that is a failure or a deadlock, null if there is none.
  [[nodiscard]] outcome const* first_failure() const noexcept {
    for (auto const& o : outcomes)
      if (o.result.verdict == verdict::failed || o.result.verdict == verdict::deadlock) return &o;
    return nullptr;
  }
  /// All of it in words, with the first failure step by step and how to see it again.
  [[nodiscard]] std::string report() const {
    auto const several = [](std::size_t n, std::string const& what) {
      return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
    };
    std::string s = several(schedules, "schedule") + ", " + std::to_string(failed) + " failed, " +
                    several(deadlocks, "deadlock");
    if (cut) s += ", " + std::to_string(cut) + " cut";
    if (!complete) s += ", not all there are";
    s += '\n';
    if (nondeterminism)
      s += "nondeterminism: what the program does depends on more than on its schedule\n";
    if (leaked) s += "leak: " + std::to_string(leaked) + " frames are left over\n";
    if (auto const* const o = first_failure()) {
      s += "the first: ";
      s += o->result.text.empty() ? "the check failed" : o->result.text;
      s += '\n';
      for (auto const& step : o->trace) s += "  " + step.text() + '\n';
      s += "to see it again: follow(\"" + o->path.text() + "\", ...)\n";
    }
    return s;
  }

  /// For explore: counts a run.  The outcome, if there was none like it.
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
    outcomes.push_back({result, {}, {}, 1});
    return &outcomes.back();
  }
};

}  // namespace weft
