// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/ending/shutting_down.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"
#include "weft/sched/runtime/detail/incoming/submissions.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"
#include "weft/sched/runtime/shutdown.hpp"

namespace weft::detail {

void report_left(scheduler_core& s, process const& p) noexcept {
  // Relaxed: the flag only decides whether to report.  The report is under the lock.
  if (!s.shutdown.is_on.load(std::memory_order_relaxed)) return;
  try {
    auto const [operation, where] = p.resumes_at();
    std::string what(operation);
    if (!what.empty()) what += " at " + text(where);
    std::lock_guard const lock(s.incoming.gate()->mutex);
    s.shutdown.report.left.push_back({p.id(), std::move(what)});
  } catch (...) {  // no memory: the report lacks the process
  }
}

shutdown_report shut_down(scheduler_core& s, instant deadline, std::string const& reason) {
  if (worker_state const* const w = s.find_worker_here())
    throw std::logic_error("weft: shut_down waits until all processes have ended: " +
                           (w->running ? "process " + w->running->id().text()
                                       : std::string("one that is being unwound")) +
                           " of the same scheduler cannot call it");
  s.incoming.require_gate();
  submission_gate& gate = *s.incoming.gate();
  auto& state = s.shutdown;
  std::unique_lock lock(gate.mutex);
  // Relaxed, as all accesses of `state` in this function.  A worker that runs learns of the
  // shutdown by an internal process; a worker that begins later takes the lock first, which this
  // thread holds.
  bool const is_first = !state.is_on.load(std::memory_order_relaxed);
  bool const is_late = deadline <= instant::clock::now();
  // Allocates first: if that throws, nothing has happened.
  std::shared_ptr<std::string const> why;
  if (is_first && !reason.empty())
    why = std::make_shared<std::string const>("weft: cancelled: " + reason);
  submissions::prepared now;
  submissions::prepared later;
  if (gate.accepts_internal) {
    now = s.incoming.prepare(internal_task::shut_down);
    if (!is_late && deadline != instant::max())
      later = s.incoming.prepare(internal_task::shut_down);
  }
  if (is_first) state.reason = std::move(why);
  state.is_on.store(true, std::memory_order_relaxed);  // relaxed: as the load above
  s.close_outside();
  auto const become_late = [&state] {
    // Relaxed: as the first load of is_on.
    bool const was_late = state.is_late.exchange(true, std::memory_order_relaxed);
    return !was_late;
  };
  auto const is_over = [&gate] { return !gate.is_running; };
  if (is_over()) {
    if (is_first) s.incoming.send(now);  // between two calls of poll(): this calls the loop back
  } else {
    bool const news = is_late && become_late();
    if (is_first || news) s.incoming.send(now);
    if (is_late || deadline == instant::max()) {
      gate.changed.wait(lock, is_over);
    } else if (!gate.changed.wait_until(lock, deadline, is_over)) {
      if (become_late()) s.incoming.send(later);
      gate.changed.wait(lock, is_over);
    }
  }
  // Relaxed: as the first load of is_on.
  state.report.in_time = s.alive() == 0 && !state.is_late.load(std::memory_order_relaxed);
  return state.report;
}

}  // namespace weft::detail
