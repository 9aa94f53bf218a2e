// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/path.hpp"

namespace weft {

/// Whether a search reports its progress on the standard error stream: in one line, which is
/// rewritten once a second and at the end.
enum class progress : std::uint8_t {
  on_terminal,  ///< Reports if the stream is a terminal, and the search takes over a second.
  always,       ///< Reports even if the stream is no terminal.
  never         ///< No progress is reported.
};

/// How a run ended.
enum class verdict : std::uint8_t {
  ok,        ///< The check agreed.
  failed,    ///< The check did not agree, or an exception was thrown.
  deadlock,  ///< All processes that had not ended were waiting.
  cut,       ///< The run was longer than allowed, so it was ended: neither good nor bad.
  /// A livelock: the run was longer than allowed, and in as many steps more, in which the processes
  /// took turns, each came to the same few places again and again, and no operation changed
  /// anything.
  no_progress
};

/// A step of a schedule: a process begins; or it goes on from an operation, or from the call of the
/// library that performs the operation; or a deferred event of the process, such as an unlock,
/// takes effect (deferred_events.hpp).
struct schedule_step {
  process_id process;          ///< The process that goes on, or whose event takes effect.
  std::string_view operation;  ///< The operation, call or event; empty if the process begins.
  std::source_location where;  ///< Where the operation was performed, or the process was spawned.
  bool switches = false;       ///< Another process made the previous step.
  bool preempts = false;       ///< Another process made the previous step, and could have gone on.

  /// A decision in the step (decision.hpp).
  struct decision {
    unsigned taken;    ///< The way that was taken, counted from 0.
    std::string name;  ///< The name of that way; may be empty.
    /// The name, or else the number.  O(n); allocates the text.
    [[nodiscard]] std::string text() const { return name.empty() ? std::to_string(taken) : name; }
  };
  std::vector<decision> decisions{};  ///< The decisions in the step, in order.
  bool is_event = false;              ///< A deferred event takes effect; `operation` names it.
  /// The function that the process runs, as std::source_location::function_name() spells it.  Empty
  /// if it is not known, as when the process begins.
  std::string_view function{};
  std::vector<std::string> values{};  ///< The `shared` values read or written, as text, in order.
  std::vector<process_id> wakes{};    ///< The processes that the step has woken, in order.

  /// The step as text: a mark of two columns, "! " for a preemption and "> " for another switch;
  /// then the action; then the decisions that are not 0.  O(n); allocates the text.
  [[nodiscard]] std::string text() const;
};

/// The result of one run.
struct run_result {
  weft::verdict verdict = verdict::ok;  ///< How the run ended.
  std::string text;                     ///< What the check returned, or the text of the exception.
  friend bool operator==(run_result const&, run_result const&) = default;
};

namespace detail {
/// The value of coverage::cut_by if a search has stopped at a failure.
inline constexpr std::string_view at_failure = "a failure was found";
/// The most characters of a path in a report: a longer path is left out.
inline constexpr std::size_t most_to_copy = 2000;
inline constexpr char too_long_to_copy[] = "its path is long: exploration::outcome::path\n";
}  // namespace detail

/// The result of explore, random_walk, follow or shrink.  The functions that return text are O(n)
/// in the steps that the text tells; they allocate the text.
struct exploration {
  /// One of the distinct results, and a schedule that leads to it.
  struct outcome {
    run_result result;                 ///< How the run ended.
    schedule_path path;                ///< A schedule that leads to the result.
    std::vector<schedule_step> trace;  ///< The steps of that schedule.
    std::size_t switches = 0;          ///< How many steps follow a step of another process.
    std::size_t preemptions = 0;       ///< How many of these preempt a process that could go on.
    std::size_t decisions = 0;         ///< How many decisions are not 0.
    std::size_t schedules = 0;         ///< How many schedules have this result.
    /// If the schedule was cut: the last step in which an operation has changed something.
    std::size_t last_change = 0;
    /// The path by which the outcome was found; if it was shrunk afterwards, `path` is a smaller
    /// one.
    schedule_path found;

    /// Whether the outcome is a failure, a deadlock, or a livelock.
    [[nodiscard]] bool is_wrong() const noexcept {
      return result.verdict != verdict::ok && result.verdict != verdict::cut;
    }
  };

  /// Which schedules were visited.
  struct coverage {
    weft::granularity granularity = weft::granularity::cooperative;  ///< Where steps ended.
    /// Whether only one, or few, of schedules that differ in the order of independent steps were
    /// visited.
    bool is_reduced = false;
    std::size_t random = 0;  ///< How many schedules were drawn at random.
    /// All schedules with at most this many preemptions were visited; empty if that is not known.
    std::optional<std::size_t> preemptions{};
    std::size_t within = 0;     ///< How many schedules these are; all of them if `complete`.
    std::string_view cut_by{};  ///< Why the search has ended early; may be empty.
    /// Whether a process that spins always lets the others go first in the schedules visited.
    bool leaves_spins = false;
  };

  std::size_t schedules = 0;  ///< How many schedules were visited.
  std::size_t failed = 0;     ///< How many schedules failed: a false check, or an exception.
  std::size_t deadlocks = 0;  ///< How many schedules deadlocked.
  std::size_t cut = 0;        ///< How many schedules were cut.
  std::size_t livelocks = 0;  ///< How many of the schedules that were cut made no progress.
  /// How many runs were given up as soon as they were known to be like schedules that had been
  /// visited: only with `reduce`.  They do not count as schedules.
  std::size_t redundant = 0;
  bool complete = true;  ///< Every schedule, or one that is like it, was visited to its end.
  /// A schedule, or its beginning, was run again and went another way, or a path did not fit: then
  /// no result here is certain.
  bool nondeterminism = false;
  std::string what_differed;      ///< Where and how runs differed, or why the path does not fit.
  std::int64_t leaked = 0;        ///< How many frames and the like were never freed, in total.
  schedule_path leak_path;        ///< The first schedule that leaks, if one does.
  std::vector<outcome> outcomes;  ///< In the order in which they were found.
  std::string page;               ///< The file of the page that was written; empty if none was.
  coverage covered;               ///< Which schedules were visited.

  /// Whether nothing went wrong in the schedules that were visited.
  [[nodiscard]] bool ok() const noexcept {
    return failed == 0 && deadlocks == 0 && livelocks == 0 && !nondeterminism && leaked == 0;
  }
  /// The first outcome that is a failure, a deadlock or a livelock; null if there is none.  O(n) in
  /// the outcomes.
  [[nodiscard]] outcome const* first_failure() const noexcept;
  /// One sentence: the failure that the search has found, or else the schedules that have none.
  [[nodiscard]] std::string conclusion() const;
  /// The whole result as text, with the first failure step by step and how to run it again.
  [[nodiscard]] std::string report() const;
  /// The first lines of the report: the conclusion, how many schedules there were and how they
  /// ended, whether anything differed or leaked, and the file of the page.
  [[nodiscard]] std::string summary() const;
  /// One outcome as text, step by step, with the line that runs it again.
  [[nodiscard]] static std::string text(outcome const& o);
  /// One outcome as text, step by step, without the line that runs it again.
  [[nodiscard]] static std::string story(outcome const& o);

  /// For the explorers: counts a run.  Returns a new outcome for it, or null if an earlier run had
  /// the same result.  O(1) in the outcomes, on average; allocates the new one.
  outcome* add(run_result const& result);
  /// For the explorers: notes that some schedules are not visited, and why.
  void leave_out(std::string_view why) noexcept {
    complete = false;
    if (covered.cut_by.empty()) covered.cut_by = why;
  }
  /// For the explorers: notes that schedules in which a process spins are not visited.
  void leave_out_spins() noexcept {
    complete = false;
    covered.leaves_spins = true;
  }
  /// For the explorers: adds the results of another search, of schedules that come after these.
  void add(exploration&& later);

 private:
  /// The outcome with that result; null if there is none.
  [[nodiscard]] outcome* find(run_result const& result);
  void index_last();

  [[nodiscard]] std::size_t slot_of(run_result const& result) const noexcept;

  // If there are many outcomes, a hash table of their numbers, from 1; a collision takes the next
  // slot.
  std::vector<std::size_t> index_;
  static std::string several(std::size_t n, std::string const& what, std::string const& s = "s");
};

}  // namespace weft
