// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "weft/effects/detail/platform.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/change_watch.hpp"
#include "weft/testing/detail/hang_watch.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/exploration.hpp"

namespace weft::detail {

/// The limits of a search.
struct search_limits {
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  run_limits each;
  std::size_t max_schedules;
  std::chrono::nanoseconds max_time;
  weft::progress progress;
  bool stop_at_failure;
  hang_watch* watch = nullptr;  // is told when a run begins; may be null
};

/// Prints the line of progress of a search, once a second and at its end.
class progress_line {
 public:
  explicit progress_line(weft::progress p)
      : is_on_(p == weft::progress::always ||
               (p == weft::progress::on_terminal && is_on_terminal())),
        is_shown_(p == weft::progress::always) {}
  progress_line(progress_line const&) = delete;
  progress_line& operator=(progress_line const&) = delete;
  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  /// Whether the line was shown, or will be at the end.
  [[nodiscard]] bool is_shown() const noexcept { return is_shown_; }
  void tell(exploration const& e, std::chrono::duration<double> since) {
    if (since.count() < next_) return;
    next_ = since.count() + 1;
    is_shown_ = true;
    say(e, since);
  }
  void tell_end(exploration const& e, std::chrono::duration<double> since) {
    say(e, since);
    std::fputc('\n', stderr);
  }

 private:
  /// Asks the system once: the call takes longer than a search of a few schedules.
  static bool is_on_terminal() noexcept {
    static bool const answer = is_error_terminal();
    return answer;
  }
  static void say(exploration const& e, std::chrono::duration<double> since) {
    double const seconds = std::max(since.count(), 1e-9);
    std::fprintf(stderr, "\rweft: %zu schedules, %.0f a second, %zu failed, %zu deadlocks",
                 e.schedules, static_cast<double>(e.schedules) / seconds, e.failed, e.deadlocks);
  }

  bool const is_on_;
  bool is_shown_;
  double next_ = 1;
};

/// A search in progress: its results so far, and whether it must end.
class search {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::string_view at_max_schedules = "max_schedules was reached";

  /// Results that an earlier search has found, and has confirmed by a second run.
  using known_results = std::unordered_set<std::string>;
  [[nodiscard]] static std::string key_of(run_result const& r) {
    return std::to_string(static_cast<int>(r.verdict)) + r.text;
  }

  /// `known` must outlive this object; may be null.
  search(subject& s, search_limits const& l, clock::time_point start = clock::now(),
         known_results const* known = nullptr)
      : subject_(s), limits_(l), line_(l.progress), known_(known), kept_(s.forks()), start_(start) {
    log_.kept = second_log_.kept = &kept_;
  }
  search(search const&) = delete;
  search& operator=(search const&) = delete;

  /// Runs one schedule.  False if the search must end.
  bool run(strategy& c) {
    if (auto const why = limit_reached(); !why.empty()) {
      found_.covered.cut_by = why;
      return found_.complete = false;
    }
    if (limits_.watch) limits_.watch->note_run();
    auto result = subject_.run(c, log_, limits_.each);
    note_leak();
    if (log_.was_given_up) {
      ++found_.redundant;
      return true;
    }
    if (!c.counts()) return true;
    if (log_.was_cut && makes_no_progress()) result.verdict = verdict::no_progress;
    if (auto* const fresh = found_.add(result); fresh && !is_known(result)) {
      note(*fresh);
      fresh->found = fresh->path;
      run_again(*fresh);
      if (found_.nondeterminism) return false;
      if (limits_.stop_at_failure && fresh->is_wrong()) {
        found_.covered.cut_by = at_failure;
        return found_.complete = false;
      }
    }
    return true;
  }
  void differs(std::string how) {
    if (found_.nondeterminism) return;
    found_.nondeterminism = true;
    found_.complete = false;
    found_.what_differed = std::move(how);
  }
  [[nodiscard]] exploration& found() noexcept { return found_; }
  /// Called at the end of the search: ends the kept scheduler, and writes the line of progress a
  /// last time, if it is shown.
  void end() {
    kept_.end();
    if (line_.is_shown()) line_.tell_end(found_, clock::now() - start_);
  }

  /// Whether the search has ended because its time is up.
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }
  /// Returns the results so far, and forgets them.
  [[nodiscard]] exploration take_found() { return std::exchange(found_, {}); }

 private:
  [[nodiscard]] std::string_view limit_reached() {
    if (found_.schedules == limits_.max_schedules) return at_max_schedules;
    bool const is_timed = limits_.max_time != std::chrono::nanoseconds::max();
    if (!is_timed && !line_.is_on()) return {};
    auto const since = clock::now() - start_;
    if (line_.is_on()) line_.tell(found_, since);
    is_late_ = is_timed && since >= limits_.max_time;
    return is_late_ ? "the time was up" : "";
  }
  [[nodiscard]] std::int64_t alive() const noexcept { return frames.alive() - kept_.blocks(); }
  /// Frames that are alive now, and were not before the run, are leaks of this run.
  void note_leak() {
    auto const before = std::exchange(alive_, alive());
    if (alive_ == before) return;
    if (found_.leaked == 0) found_.leak_path = log_.path(limits_.each.granularity);
    found_.leaked += alive_ - before;
  }
  [[nodiscard]] bool is_known(run_result const& r) const {
    return known_ && !known_->empty() && known_->contains(key_of(r));
  }
  void note(exploration::outcome& o) {
    o.path = log_.path(limits_.each.granularity);
    o.switches = log_.switches;
    o.preemptions = log_.preemptions;
    o.decisions = log_.decisions;
  }
  [[nodiscard]] bool makes_no_progress() {
    if (log_.steps < fewest_steps_of_livelock) return false;
    auto const path = log_.path(limits_.each.granularity);
    bool const no_progress = detail::makes_no_progress(subject_, path, second_log_);
    alive_ = alive();
    return no_progress;
  }
  /// Runs a schedule once more, to record its trace, and to check that it goes the same way.
  void run_again(exploration::outcome& o) {
    o.trace.reserve(log_.steps);
    second_log_.trace = &o.trace;
    change_watch again(o.path, limits_.each.max_steps);
    auto result = subject_.run(again, second_log_, limits_.each);
    if (log_.was_cut) o.last_change = again.last_change();
    if (o.result.verdict == verdict::no_progress && result.verdict == verdict::cut)
      result.verdict = verdict::no_progress;
    alive_ = alive();
    if (auto how = difference(log_, second_log_); !how.empty())
      differs(std::move(how));
    else if (result != o.result)
      differs("the same schedule, run again, ends differently: " + two_ends(o.result, result));
  }
  [[nodiscard]] static std::string two_ends(run_result const& a, run_result const& b) {
    auto const text = [says_how = a.verdict != b.verdict](run_result const& r) {
      static constexpr char const* how[] = {"well", "with a failure", "in a deadlock", "cut",
                                            "cut"};
      std::string quoted = '"' + r.text + '"';
      if (!says_how) return quoted;
      std::string const s = how[static_cast<std::size_t>(r.verdict)];
      return r.text.empty() ? s : s + ", " + quoted;
    };
    return text(a) + ", and then " + text(b);
  }
  /// Where two runs of one schedule differ first; empty if they do not differ.
  [[nodiscard]] static std::string difference(run_log const& a, run_log const& b) {
    for (std::size_t i = 0; i < a.choices.size() || i < b.choices.size(); ++i) {
      std::size_t const step = std::min(a.step_of_choice(i), b.step_of_choice(i));
      if (!a.chooses_as(b, i, step))
        return "at step " + std::to_string(step) + " of the same schedule, run twice, " +
               two_choices(a.candidates_at(i, step), b.candidates_at(i, step));
    }
    if (a.steps == b.steps) return "";
    return "the same schedule, run twice, has " + std::to_string(a.steps) + " steps, and then " +
           std::to_string(b.steps);
  }
  [[nodiscard]] static std::string two_choices(std::string const& first,
                                               std::string const& second) {
    static constexpr char can[] = " can be chosen";
    if (first.empty()) return "there is no choice, and then " + second + can;
    return first + can + ", and then " + (second.empty() ? "there is no choice" : second);
  }

  subject& subject_;
  search_limits const limits_;
  progress_line line_;
  exploration found_;
  known_results const* known_;
  run_log log_;
  run_log second_log_;
  kept_scheduler kept_;
  std::int64_t alive_ = alive();
  clock::time_point const start_;
  bool is_late_ = false;
};

/// How many threads an option asks for: 0 stands for as many as the machine has.
[[nodiscard]] inline unsigned threads_of(unsigned option) noexcept {
  return option != 0 ? option : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace weft::detail
