// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>
#include <string>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/proc.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"

/// Processes that keep a log of their answers, and can be run again: after a fork, or from a
/// checkpoint.
namespace weft::detail {

/// Records the answer with which a process goes on (FORK-2 of forkable_process.hpp).  If the
/// process has no frames, starts its program, for the first time or again.
template <class S>
void prepare_log(S& s, forkable_process& p, std::uint64_t answer) {
  if (p.has_started()) p.record(answer);
  if (p.is_suspended()) return;
  if (p.log().is_over()) p.log().throw_unforkable(p.waits_at());
  first_frame const first = p.program().start();
  try {
    p.log().rewind();
    S::observer::on_rerun(s);
    p.begin(first.handle, s.evidence_for(*first.row, true, s.worker_here()), s, s.unread_answer_);
  } catch (...) {
    first.handle.destroy();
    throw;
  }
}
/// Returns the process to go on with: `p`; or, if a checkpoint holds `p` too, a clone, so that `p`
/// stays as it is.
template <class S>
forkable_process* make_sole_owner(S& s, forkable_process* p) {
  if (!p->is_shared()) return p;
  auto* const clone = p->clone(p->id(), s);
  p->release();
  return clone;
}
/// Implements scheduler_core::end_diverged().
template <class S>
std::coroutine_handle<> end_diverged_process(S& s, std::coroutine_handle<> leaf, site const& at) {
  if (!s.is_active()) throw s.log_of_running().divergence(at);
  process& p = s.running();
  auto error = std::make_exception_ptr(s.log_of_running().divergence(at));
  p.unwind_from(leaf);
  S::set_innermost(&s);
  s.here().running = nullptr;
  s.retire(&p, std::move(error));
  return s.next();
}

// ---- checkpoints

template <class S>
[[nodiscard]] bool can_checkpoint(S const& s) noexcept {
  return s.own.unforkable() + s.incoming.started() == 0 && !s.waits.has_waiters();
}
template <class S>
[[nodiscard]] std::string why_no_checkpoint(S& s) {
  if (s.waits.has_waiters()) return s.first_waiter_text();
  for (auto const& t : s.worker().ready()) {
    process& p = *t.get();
    std::string const name = "process " + p.id().text();
    if (!p.is_forkable()) return name + " keeps no log: it was not started as forkable";
    if (static_cast<forkable_process&>(p).is_sealed())
      return name + " can no longer be run again: its log has ended";
  }
  return "a process keeps no log";
}
/// Drops the processes that exist, and puts those of a checkpoint in their place.
template <class S, class Queue>
void start_over(S& s, Queue ready, std::size_t alive, instant time,
                std::vector<exceptions::failure> failures) {
  typename S::at_work const now(s, S::work::nothing);
  s.is_dropping_ = true;
  s.waits.drop_all();
  s.worker_->ready(std::move(ready));
  s.is_dropping_ = false;
  s.virtual_now_ = time;
  s.own.alive = static_cast<std::int64_t>(alive) - s.incoming.started();
  s.own.repeatable = static_cast<std::int64_t>(alive);
  s.waits.room.begin(alive);
  s.own.broken = nullptr;
  s.set_failures(std::move(failures));
}

}  // namespace weft::detail
