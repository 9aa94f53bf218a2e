// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "sched/base/backend.hpp"
#include "sched/runtime/detail/scheduling_outside.hpp"
#include "sched/runtime/shutdown.hpp"

/// How a scheduler is shut down.
namespace weft::detail {

inline void scheduling_outside::note_left(process const& p) noexcept {
  if (!is_shut_down()) return;
  try {
    auto const [operation, where] = p.resumes_at();
    std::string what(operation);
    if (!what.empty()) what += " at " + weft::detail::text(where);
    std::lock_guard const lock(entrance_->mutex);
    report_.left.push_back({p.id(), std::move(what)});
  } catch (...) {  // no memory to say so
  }
}

inline shutdown_report scheduling_outside::shut_down(instant deadline, std::string const& reason) {
  if (desk const* const d = desk_here())
    throw std::logic_error("weft: shut_down waits until all processes have ended: " +
                           (d->running ? "process " + d->running->id().text()
                                       : std::string("one that is being unwound")) +
                           " of the same scheduler cannot call it");
  require_entrance();
  entrance& e = *entrance_;
  std::unique_lock lock(e.mutex);
  bool const is_first = !is_shut_down();
  bool const is_late = deadline <= instant::clock::now();
  // What needs memory comes first: if there is none, nothing has happened.
  std::shared_ptr<std::string const> why;
  if (is_first && !reason.empty())
    why = std::make_shared<std::string const>("weft: cancelled: " + reason);
  prepared_errand now;
  prepared_errand later;
  if (e.is_running) {
    now = prepared(errand::to_shut_down);
    if (!is_late && deadline != instant::max()) later = prepared(errand::to_shut_down);
  }
  if (is_first) reason_ = std::move(why);
  // Relaxed, these: who runs is told by an errand, who will run takes the lock first.
  is_shut_down_.store(true, std::memory_order_relaxed);
  close_entrance();
  auto const be_late = [this] {
    bool const was_late = is_late_.exchange(true, std::memory_order_relaxed);  // as above
    return !was_late;
  };
  auto const ends = [&e] { return !e.is_running; };
  if (!ends()) {
    bool const news = is_late && be_late();
    if (is_first || news) send(now);
    if (is_late || deadline == instant::max())
      e.changed.wait(lock, ends);
    else if (!e.changed.wait_until(lock, deadline, ends)) {
      if (be_late()) send(later);
      e.changed.wait(lock, ends);
    }
  }
  report_.in_time = alive() == 0 && !is_late_.load(std::memory_order_relaxed);  // as above
  return report_;
}

}  // namespace weft::detail
