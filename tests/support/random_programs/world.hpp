// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/effects.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/sync/barrier.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/condition.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/sync/semaphore.hpp"
#include "weft/sched/sync/shared.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// The state that the processes of a random program share, and that of each process.
namespace weft::tests {

using acting_tasks = tasking<proc, syncing, completions, mail, timing, console, ask>;
/// A process, or a task.
template <class T>
using acting_giving = eff<T, acting_tasks, proc, syncing, completions, mail, timing, console, ask>;
using acting = acting_giving<void>;
using acting_scope = scope<proc, syncing, completions, mail, timing, console, ask>;
/// A process only.
using living =
    eff<void, spawning<acting_tasks, proc, syncing, completions, mail, timing, console, ask>,
        acting_tasks, proc, syncing, completions, mail, timing, console, ask>;

using addresses = std::array<std::optional<address<int>>, 2>;

/// A scope, a join, a shield or a handler around a process or a task.
struct group {
  enum class kind : unsigned char { all, scope, join, shield, handler };

  group* out;  // null around all
  kind is;
  acting_scope* scope = nullptr;
  std::atomic<int> given = 0;  // the sum of the results of its tasks
  /// Where times are checked: when it is cancelled, as far as that is known.
  instant cancelled_at = instant::max();
  bool is_body_open = true;

  void note_cancelled(instant at) { cancelled_at = std::min(cancelled_at, at); }
  /// The nearest one of that kind; null if there is none.
  group* nearest(kind k) {
    group* g = this;
    while (g && g->is != k) g = g->out;
    return g;
  }
  /// The time at which a process inside is cancelled.  A shield is none against the failure of
  /// another process.
  [[nodiscard]] instant end_of_inside() const {
    instant first = instant::max();
    bool is_shielded = false;
    for (group const* g = this; g; g = g->out) {
      is_shielded |= g->is == kind::shield;
      if (!is_shielded || g->is == kind::all) first = std::min(first, g->cancelled_at);
    }
    return first;
  }
};

/// The shared state.  Thread safe, if the processes announce their accesses.
struct shared_world {
  explicit shared_world(program_of_acts const& p)
      : what(p), seats(p.permits), ends(std::make_unique<gate>()) {}

  /// Keeps what an ended process saw, and the addresses that it has not dropped.
  void keep(std::string saw, addresses left) {
    std::lock_guard const lock(mutex_);
    all_saw_.push_back(std::move(saw));
    all_left_.push_back(std::move(left));
  }
  /// Sorted.
  [[nodiscard]] std::vector<std::string> all_saw() const {
    auto sorted = all_saw_;
    std::ranges::sort(sorted);
    return sorted;
  }
  /// Keeps a completer for another process, or a thread outside, to complete with `given`.
  void put(completer<int> c) {
    std::lock_guard const lock(mutex_);
    open_.push_back(std::move(c));
  }
  std::optional<completer<int>> take() {
    std::lock_guard const lock(mutex_);
    if (open_.empty()) return std::nullopt;
    std::optional<completer<int>> last = std::move(open_.back());
    open_.pop_back();
    return last;
  }
  [[nodiscard]] gate& gate_of(statement const& s) {
    return gates.at(static_cast<std::size_t>(s.n) % what.gates);
  }
  /// The processes that wait at gates.
  [[nodiscard]] std::size_t waiting() const {
    std::size_t n = 0;
    for (gate const& g : gates) n += g.waiting();
    return n;
  }

  static constexpr int given = 7;

  program_of_acts const& what;
  mutex key, other_key;
  semaphore seats;
  condition changed;
  barrier meet{2};
  std::array<gate, 3> gates;
  std::unique_ptr<gate> ends;
  std::atomic<int> x = 0;
  shared<int> value{0};
  std::atomic<bool> source_is_taken = false;
  std::atomic<bool> dropped_by_cancelled = false;  // a completer that a cancelled child had
  std::optional<completer<int>> source{std::in_place};
  std::optional<completion<int>> result{source->get_completion()};
  std::array<std::optional<inbox<int>>, 2> in;
  std::stop_source stop;
  std::string out;
  int asked = 0;

  group everything{nullptr, group::kind::all};
  counter alive = 0;          // processes and tasks, and their arguments
  counter begun = 0;          // processes
  counter ended = 0;          // those that came to their end
  counter wrong = 0;          // answers that no process may get
  counter result_of_all = 0;  // the sum of the results of processes
  /// Collects the acts in the order in which they are done; null if they are not traced.  Not on
  /// several threads.
  std::vector<int>* trace = nullptr;
  /// Whether the times of all acts are noted, and compared with those at which groups are
  /// cancelled.  On one thread, and in virtual time.
  bool is_timed = false;
  std::string too_early_or_late = {};
  std::size_t cancelled_while_waiting = 0;

 private:
  std::mutex mutex_;
  std::vector<std::string> all_saw_;
  std::vector<addresses> all_left_;
  std::vector<completer<int>> open_;
};

/// The result of a run.
inline std::string text(shared_world const& w) {
  std::string s = w.out + "| x " + std::to_string(w.x) + " |";
  for (auto const& each : w.all_saw()) s += ' ' + each + ';';
  return s;
}

inline std::string text(instant t) { return std::to_string(t.time_since_epoch().count()); }

/// The statements that a process or a task is to do.
struct errand {
  shared_world* w;
  block const* acts;
  int n;
};

/// A process or a task.  The children of number n have numbers from 10 n on.
struct liver {
  liver(errand const& e, addresses to_whom, group& around)
      : w(*e.w),
        n(e.n),
        mine(std::move(to_whom)),
        in(&around),
        saw(std::to_string(e.n) + ":"),
        here(w.alive) {
    notes(-n);
  }
  liver(liver const&) = delete;
  liver& operator=(liver const&) = delete;
  ~liver() { w.keep(std::move(saw), std::move(mine)); }

  /// Traces an act, or -n for the beginning, unless the process was cancelled: the order in which processes are unwound is
  /// no part of a schedule.
  void notes(int act) const {
    if (w.trace && !was_cancelled) w.trace->push_back(act);
  }
  /// The time at which a task of the handle is cancelled.
  [[nodiscard]] instant end_of_tasks() const {
    instant first = end_of_handle;
    for (group const* g : scopes_of_handle) first = std::min(first, g->end_of_inside());
    return first;
  }
  void sees(std::string const& what) { saw += ' ' + what; }
  void sees(char const* what, int v) { sees(what + (' ' + std::to_string(v))); }
  void sees(char const* what, std::optional<int> v) {
    sees(what + (v ? ' ' + std::to_string(*v) : " -"));
  }
  /// The number of the next act.
  int next() { return n * 10 + acts_done++; }

  shared_world& w;
  int n;
  int acts_done = 0;
  int result = 0;
  addresses mine;
  group* in;  // the innermost
  std::string saw;
  std::optional<mutex::guard> held = {}, other = {};
  task_handle<int> handle = {};
  std::vector<group*> scopes_of_handle = {};  // in which its tasks were started
  instant end_of_handle =
      instant::max();  // of those tasks, if they were cancelled in scopes that ended
  instant last_look = instant::min();
  bool was_cancelled = false;
  lives here;
};

/// The time; it never goes back.
inline eff<instant, timing> looks(liver& me) {
  instant const now = co_await timing::now{};
  if (now < me.last_look) ++me.w.wrong;
  me.last_look = now;
  co_return now;
}
inline std::chrono::nanoseconds time_of(statement const& s) {
  return std::chrono::nanoseconds(s.n != 0 ? s.n : 2);
}
inline eff<instant, timing> deadline(liver& me, statement const& s) {
  instant const now = co_await looks(me);
  co_return now + time_of(s);
}

}  // namespace weft::tests
