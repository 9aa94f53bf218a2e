// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/scheduler_core.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/runtime/detail/incoming/admission.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"
#include "weft/sched/runtime/detail/outer/outer_recorder.hpp"
#include "weft/sched/runtime/detail/reports/deadlock_report.hpp"

namespace weft::detail {

scheduler_core::scheduler_core(bool several_threads, unsigned wakes, bool outside_may_come)
    : waits(*this, several_threads, wakes), incoming(*this, waits.room, outside_may_come) {
  borrowed_ = true;
  if (several_threads) become_shared();
}
scheduler_core::~scheduler_core() {
  while (auto* const e = evidence_) {
    evidence_ = e->next;
    delete e;
  }
  for (auto* const p : outers_) p->release_by_inner();
}

void scheduler_core::add_counts(worker_state& w) noexcept {
  std::lock_guard const lock(sums_mutex_);
  own.alive += w.alive;
  own.repeatable += w.repeatable;
  own.stopped |= w.stopped;
  if (w.broken) own.broken = std::move(w.broken);
}

scheduler_core::at_work::at_work(scheduler_core& s, work w) noexcept
    : home_(s), gate_(s.incoming.gate()), what_(w) {
  s.is_at_work_ = true;
  // Relaxed: a reader compares the id with its own, and sees its own stores (find_worker_here()).
  s.worker_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (w == work::nothing || !gate_) return;
  std::lock_guard const lock(gate_->mutex);
  gate_->is_running = gate_->accepts_internal = true;
}
scheduler_core::at_work::~at_work() {
  home_.is_at_work_ = false;
  home_.worker_thread_.store({}, std::memory_order_relaxed);  // relaxed: as in at_work()
  if (what_ == work::nothing || !gate_) return;
  if (what_ == work::all) home_.close_outside();
  // From here on only `gate_` is used: a thread that waits until is_running is false may then
  // destroy the scheduler.
  std::lock_guard const lock(gate_->mutex);
  gate_->is_running = false;
  if (what_ != work::polling) gate_->accepts_internal = false;
  gate_->changed.notify_all();
}

std::uint64_t scheduler_core::next_serial() noexcept {
  // Each thread takes the numbers in blocks: an atomic step for each scheduler would slow down a
  // program that runs millions of small schedulers.
  static constexpr std::uint64_t block = 1024;
  if (next_serial_ % block == 0)
    // Relaxed: the numbers only have to differ.
    next_serial_ = blocks_of_serials_.fetch_add(1, std::memory_order_relaxed) * block;
  return next_serial_++;
}

// ---- evidence

void scheduler_core::keep_evidence(expirable_evidence& e) noexcept {
  e.next = evidence_;
  evidence_ = &e;
}
void scheduler_core::end_evidence() noexcept {
  for (auto* e = evidence_; e; e = e->next) e->expire();
}
void scheduler_core::keep_outer(prompt& p) {
  outers_.push_back(&p);
  p.keep();
}
void scheduler_core::share_outers() {
  std::vector<prompt*> all = outers_;
  for (std::size_t i = 0; i != all.size(); ++i) {
    all[i]->become_shared();
    all[i]->add_outers(all);
  }
}

// ---- failing and cancelling

void scheduler_core::fail(process_id id, std::exception_ptr error) noexcept {
  if (cancellation.is_of_all() && is_cancelled(error)) return;
  failures.add({id, std::move(error)});
  cancel_all();
}
void scheduler_core::cancel_all() noexcept {
  if (!cancellation.begin_of_all()) return;
  note_all_cancelled();
  close_outside();
  waits.external.close();
  waits.alarms.close();
  waits.alarms.cancel_all();
}
void scheduler_core::close_outside() noexcept {
  incoming.close();
  waits.room.close();
}
void scheduler_core::report_deadlock() {
  if (!cancellation.is_of_all()) fail({}, std::make_exception_ptr(deadlock(waiters_of(waits))));
  waits.cancel_all();
}
void scheduler_core::set_failures(std::vector<exceptions::failure> f) noexcept {
  bool const none = f.empty();
  failures.assign(std::move(f));
  if (none)
    end_cancelling();
  else
    cancel_all();
}
void scheduler_core::throw_failures() {
  if (cancellation.is_of_all()) end_cancelling();
  failures.throw_all();
}
void scheduler_core::end_cancelling() noexcept {
  cancellation.end_of_all();
  waits.external.reopen();
  waits.alarms.reopen();
}
std::string scheduler_core::first_waiter_text() {
  auto const all = waiters_of(waits);
  if (all.empty()) return "a process that waited has been woken, and has not continued yet";
  return "process " + all.front().process.text() + " waits in " + all.front().text();
}
cancelled scheduler_core::why_all_cancelled() const noexcept {
  auto const& gate = incoming.gate();
  if (!gate) return {};
  std::lock_guard const lock(gate->mutex);
  return cancelled(shutdown.reason);
}
bool scheduler_core::is_quiescent_outside(void const* core) {
  auto const& self = *static_cast<scheduler_core const*>(core);
  // Virtual time does not wait for external events: it advances to the next alarm.
  if (!self.waits.alarms.empty()) return self.has_virtual_time;
  return !self.waits.external.has_waiters() && !self.incoming.may_come();
}

// ---- room for processes (admission.hpp)

void scheduler_core::throw_too_many(std::string const& what) {
  throw too_many_processes(what + " of process " + worker_here().running->id().text(),
                           waits.room.most());
}
void scheduler_core::give_room() noexcept {
  note_access(&waits.room, true);
  (void)admit_from(waits.room.leave());
}
bool scheduler_core::admit_from(admission::ticket* t) noexcept {
  bool const was_any = t != nullptr;
  for (; t; t = waits.room.next()) on_admitted(*std::unique_ptr<admission::ticket>(t));
  return was_any;
}

// ---- running (running.hpp)

worker_state const* scheduler_core::find_worker_here() const noexcept {
  for (worker_state const* w = worker_state::of_thread; w; w = w->outside)
    if (w->home == this) return w;
  // Relaxed: if the stored id is this thread's, this thread has stored it.
  auto const worker = worker_thread_.load(std::memory_order_relaxed);
  return worker == std::this_thread::get_id() ? &own : nullptr;
}

}  // namespace weft::detail
