// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sched/base/detail/lost_process.hpp"
#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does rarely: processes that are forkable, cancelled or cut, and its end.
namespace weft::detail {

template <backend Backend>
void scheduling<Backend>::exit(process& p) noexcept {
  if constexpr (explores)
    // Those that its frames cause, too; unless others see to its frames (SUSPENSION-3 of suspension.hpp).
    if (process_with_deferred_events() && !p.is_pinned()) {
      std::coroutine_handle<> const leaf = p.leaf();
      p.go_on_unanswered(*this);
      p.unwind_from(leaf);
      set_innermost(this);
      if (defers_end({.who = &p})) return;
    }
  set_innermost(this);
  here().running = nullptr;
  bury(&p, nullptr);
}

/// With an error, or a log, or where others look at it.
template <backend Backend>
[[gnu::noinline]] continuation scheduling<Backend>::finished_somehow(process& p) noexcept {
  std::exception_ptr error = p.take_result();
  if (p.is_forkable()) [[unlikely]] {
    replay_log const& log = log_of_running();
    if (log.replaying() && (log.diverged() || !error))
      error = std::make_exception_ptr(log.divergence());
  }
  // Who fails has all others cancelled; who makes room lets somebody in.
  if constexpr (explores)
    if (bool const is_a_step = error || this->is_limited();
        defers_end({.who = &p, .is_a_step = is_a_step, .error = error}))
      return next();
  here().running = nullptr;
  bury(&p, std::move(error));
  return next();
}

template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::nobody(thunk::reason why) noexcept {
  here().stopped = why == thunk::reason::stopped;
  here().running = nullptr;
  return std::noop_coroutine();
}

/// While all are unwound nothing hinges on who is next, which an exploring backend wants to know;
/// unless somebody goes on with an answer (WAITER-5 of waiter.hpp).
template <backend Backend>
thunk scheduling<Backend>::take_with_care() noexcept {
  if constexpr (explores) {
    if (this->is_cancelling()) try {
        return worker_->take_any(instant::max(), {}, [](process& p) {
          return header_of<typename Backend::header>(p).pending.perform ? p.must_be_answered()
                                                                        : p.has_answer();
        });
      } catch (...) {
        here().broken = std::current_exception();
        return thunk::reason::stopped;
      }
  }
  if constexpr (on_several_threads) this->asks_if_due();
  return take();
}

/// When there is more to do than to run who is next.
template <backend Backend>
[[gnu::noinline]] std::coroutine_handle<> scheduling<Backend>::next_with_care() noexcept {
  while (!this->is_one_step()) {
    thunk t = take_with_care();
    if (!t) return nobody(t.why_empty());
    std::uint64_t const answer = t.answer();
    if constexpr (explores) asks_its_groups(*t.get());
    if (auto const frame = prepare(t.release(), answer)) return frame;
  }
  return nobody(thunk::reason::quiescent);
}
template <backend Backend>
[[gnu::noinline]] std::coroutine_handle<> scheduling<Backend>::next_unless_over(
    process* p, std::uint64_t answer) noexcept {
  if (auto const frame = prepare(p, answer)) return frame;
  return next_with_care();
}

/// Of a process that does not simply go on: the frame that does, none if it is over.
template <backend Backend>
[[gnu::noinline]] std::coroutine_handle<> scheduling<Backend>::prepare(
    process* p, std::uint64_t answer) noexcept {
  here().running = nullptr;
  if (does_what_comes_first(p, answer)) return nullptr;
  try {
    if (p->is_forkable()) {
      p = owned(static_cast<forkable_process*>(p));
      static_cast<forkable_process&>(*p).claim_frames(*this);
    }
    auto const pending = take_pending(*p);
    if (p->was_cut()) throw p->why_cut();
    bool const all_are = this->is_cancelling() && !this->is_new_errand(*p);
    bool const is_to_be_told = all_are || this->is_to_end(*p);
    // WAITER-5 of waiter.hpp.  An operation that is performed now finds the cancellation by itself.
    if (is_to_be_told && (pending.perform ? all_are && !p->must_be_answered() : !p->has_answer())) {
      if (all_are) this->cancels_somebody();
      // One that has no frames is dropped; so is one that will not listen.
      if (!p->has_started() || !p->is_waiting()) return bury(p, nullptr), nullptr;
      if (!p->must_be_answered()) {
        if (p->cancel() > this->patience()) {
          if (all_are) this->note_left(*p);
          return bury(p, nullptr), nullptr;
        }
        p->fail(std::make_exception_ptr(all_are ? this->why_cancelled() : why_with_others()));
      }
    } else if (pending.perform) {
      here().running = p;
      return pending.perform(this, *p, pending);
    }
    if (p->is_forkable()) prepare_log(static_cast<forkable_process&>(*p), answer);
  } catch (...) {
    return bury(p, std::current_exception()), nullptr;
  }
  here().running = p;
  return p->go_on_somehow(answer, *this);
}

template <backend Backend>
[[gnu::cold, gnu::noinline]] void scheduling<Backend>::bury_failed(
    process* p, std::exception_ptr error) noexcept {
  lost_process const lost(error);
  failed(p->id(), error);
  bury(p, nullptr);
}

/// The backend threw.
template <backend Backend>
[[gnu::cold, gnu::noinline]] void scheduling<Backend>::was_not_put(thunk& t) noexcept {
  if (t) return bury(t.release(), std::current_exception());
  --scheduling_base::here().alive;  // it has dropped the process, which it should not
  if (this->is_limited()) this->gives_room();
  failed({}, std::current_exception());
}

/// Its answer enters its log.  One without frames is started again.
template <backend Backend>
void scheduling<Backend>::prepare_log(forkable_process& p, std::uint64_t answer) {
  if (p.has_started()) p.record(answer);
  if (p.is_waiting()) return;
  if (p.log().is_over()) p.log().throw_unforkable(p.waits_at());
  first_frame const first = p.program().start();
  try {
    p.log().rewind();
    if constexpr (explores) note_rerun();
    p.begin(first.handle, this->evidence_for(*first.row, true), *this, sink_);
  } catch (...) {
    first.handle.destroy();
    throw;
  }
}

/// One that a checkpoint has as well stays as it is: a twin goes on.
template <backend Backend>
forkable_process* scheduling<Backend>::owned(forkable_process* p) {
  if (!p->is_shared()) return p;
  auto* const clone = p->clone(p->id(), *this);
  p->release();
  return clone;
}

template <backend Backend>
template <class O>
[[gnu::noinline]] std::coroutine_handle<> scheduling<Backend>::before_recording(
    O const& o, std::coroutine_handle<> leaf, std::source_location where) {
  auto& p = static_cast<forkable_process&>(running());
  site const at = site_of(o, where);
  if (p.log().diverged()) return end_diverged(leaf, at);
  if constexpr (std::is_same_v<O, proc::fork>)
    if (p.log().is_full()) p.log().throw_unforkable(at);
  if constexpr (is_sealing<O>) p.log().seal(at);
  note_if_sealed(p);
  p.waits_at(at);
  return {};
}
template <backend Backend>
void scheduling<Backend>::seal(site const& at) {
  auto& p = static_cast<forkable_process&>(running());
  p.log().seal(at);
  note_if_sealed(p);
}
template <backend Backend>
void scheduling<Backend>::note_if_sealed(forkable_process& p) noexcept {
  if (p.log().is_full() && !std::exchange(p.is_sealed(), true)) ++here().unforkable;
}

template <backend Backend>
template <class Queue>
void scheduling<Backend>::start_over(Queue ready, std::size_t alive, instant time,
                                     std::vector<exceptions::failure> failures) {
  typename scheduling::at_work const now(*this, scheduling::work::nothing);
  this->is_ending_ = true;
  this->drop_who_waits();
  worker_->ready(std::move(ready));
  this->is_ending_ = false;
  virtual_now_ = time;
  own_.alive = static_cast<std::int64_t>(alive) - this->born_outside();
  own_.unforkable = -this->born_outside();
  this->admission_.begin(alive);
  own_.broken = nullptr;
  this->failures(std::move(failures));
}

template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::end_diverged(std::coroutine_handle<> leaf,
                                                          site const& at) {
  if (!this->is_active()) throw log_of_running().divergence(at);
  process& p = running();
  auto error = std::make_exception_ptr(log_of_running().divergence(at));
  p.unwind_from(leaf);
  set_innermost(this);
  here().running = nullptr;
  bury(&p, std::move(error));
  return next();
}

template <backend Backend>
void scheduling<Backend>::end_evidence() noexcept {
  for (auto& r : ours_) r->expire();
}

template <backend Backend>
void scheduling<Backend>::end() noexcept {
  if (own_.running || is_running()) {
    std::fputs("weft: a scheduler was destroyed by one of its own processes\n", stderr);
    std::terminate();
  }
  this->end_outside();
  this->is_ending_ = true;
  apply_all_deferred();
  drop_pending();
  this->drop_who_waits();  // first: a gate that ends with a frame makes them ready
  if constexpr (requires { worker_->ready(); }) {
    // A version of the queue may be kept by the frames of who stands in it: they go now.
    auto const kept = worker_->ready();
    for (thunk const& t : kept)
      if (t.get()->is_forkable()) static_cast<forkable_process&>(*t.get()).drop_frames(*this);
  }
  worker_.reset();
  backend_.reset();
  if (first_) first_->release();
  this->finish();
}

/// Nobody is ready.  Whether to go on all the same; throws what there is to be thrown.
template <backend Backend>
bool scheduling<Backend>::settle() {
  if (own_.broken) std::rethrow_exception(std::exchange(own_.broken, nullptr));
  if (this->registry().exchange_has_put()) return true;
  if (!own_.stopped && (this->let_in_who_wait() || time_goes_on())) return true;
  if ((explores ? this->somebody_waits_anywhere() : this->somebody_waits_inside()) &&
      !own_.stopped) {
    this->nobody_is_ready();
    return true;
  }
  if (this->registry().exchange_has_put()) return true;
  if (!own_.stopped && !this->is_over(!explores)) return true;
  bool const stopped_somebody = std::exchange(stop_asked_, false) && this->has_cancelled();
  this->throw_failures();
  if (stopped_somebody) throw cancelled();
  if (alive() && !own_.stopped)
    throw std::logic_error("weft: the backend has lost " + std::to_string(alive()) + " processes");
  return false;
}

template <backend Backend>
[[noreturn, gnu::cold, gnu::noinline]] void scheduling<Backend>::throw_has_no_log(site const& at) {
  throw unforkable("weft: " + at.text() +
                   " would have the process run again, but it keeps no log: start it with "
                   "spawn(forkable, f), and the first one without {.forkable = false}");
}

template <backend Backend>
[[noreturn, gnu::cold, gnu::noinline]] void scheduling<Backend>::throw_stays_where_it_is(
    site const& at) {
  throw frames_in_use(
      "weft: " + at.text() +
      " would have a process wait, or go on on another thread, inside a body that is "
      "resumed bitwise: its frames are copied, and must stay where they are");
}

template <backend Backend>
std::string scheduling<Backend>::why_not_kept() {
  if (this->somebody_waits_anywhere()) return this->who_waits();
  for (auto const& t : worker_->ready()) {
    process& p = *t.get();
    std::string const who = "process " + p.id().text();
    if (!p.is_forkable()) return who + " keeps no log: it was not started as forkable";
    if (static_cast<forkable_process&>(p).is_sealed())
      return who + " can no longer be run again: its log is over";
  }
  return "a process keeps no log";
}

}  // namespace weft::detail
