// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/sched/runtime/detail/clause_dispatch.hpp"
#include "weft/sched/runtime/detail/direct_here.hpp"
#include "weft/sched/runtime/detail/outer/delegating_evidence.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"
#include "weft/sched/runtime/detail/outer/outer_recorder.hpp"
#include "weft/sched/runtime/detail/reports/dumping.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"
#include "weft/sched/runtime/polling.hpp"

/// A scheduler from its start to its end: it learns the effects of the program, starts the first
/// process, runs on one thread or several, is stopped, and ends.
namespace weft::detail {

// ---- starting

template <class F, class S>
[[nodiscard]] known_effect scheduled_effect(S& s) {
  auto* const plain = keep_evidence<scheduler_evidence<S, F>>(s, s, false);
  auto* const recorded = keep_evidence<scheduler_evidence<S, F>>(s, s, true);
  S::observer::template on_learnt<F>(s);
  return {&identity_of<F>, S::observer::template in_front<F>(s, *plain, s, nullptr),
          S::observer::template in_front<F>(s, *recorded, s, nullptr)};
}
template <class F>
void learn_delegating(scheduler_core& s, known_effect const& general) {
  using to = evidence<typename F::general>;
  evidence<F>* const plain =
      keep_evidence<delegating_evidence<F>>(s, *static_cast<to*>(general.plain));
  evidence<F>* const recorded =
      keep_evidence<delegating_evidence<F>>(s, *static_cast<to*>(general.recorded));
  s.effects.learn({&identity_of<F>, plain, recorded});
}
template <class F, class S, class Find>
void learn_outer(S& s, Find& find) {
  evidence<F>* outer = find.template operator()<F>();
  prompt& home = outer->clauses->prompt_of(*outer);
  evidence<F>* const further_out = beyond(*outer);
  prompt const* const next = further_out ? &further_out->clauses->prompt_of(*further_out) : nullptr;
  s.keep_outer(home);
  outer = S::observer::template watched<F, Find>(s, *outer, further_out);
  using recorder = outer_recorder<F>;
  evidence<F>* const recorded = interpose<F>(s, recorder(s, outer), recorder(s, beyond(*outer)));
  s.effects.learn({&identity_of<F>, S::observer::template in_front<F>(s, *outer, home, next),
                   S::observer::template in_front<F>(s, *recorded, home, next)});
}
template <class S, class F, class Find>
void learn_effect(S& s, identity<F> effect, Find& find) {
  if constexpr (has_general_effect<F>)
    learn_delegating<F>(s, s.general(identity<typename F::general>()));
  else if constexpr (is_scheduled<F>)
    s.learn(effect);
  else
    learn_outer<F>(s, find);
}
/// Adds the evidence for `All`, the effects that any process may perform, to the scheduler's table.
/// `find.template operator()<F>()` returns the evidence of the outer handler of `F`.
template <class S, class... All, class Find>
void learn_all(S& s, row<All...>, Find&& find) {
  s.effects.expect(sizeof...(All));
  S::observer::on_handlers(s, find);
  s.was_started = true;
  (learn_effect(s, identity<All>(), find), ...);
  if constexpr (S::on_several_threads) s.share_outers();
}
/// Starts the first process.  Takes over the reference to the program.
template <class S>
void start_first(S& s, start_options how, program* first, bool forkable) {
  s.log_limit_ = how.log_limit;
  s.stop_token_ = std::move(how.stop);
  s.has_virtual_time = how.virtual_time;
  s.waits.room.limit(how.max_processes, how.when_full);
  s.waits.room.begin(1);
  if (forkable) {
    begin_process(s, new_process(s, {}, first), true);
  } else {
    s.first_ = first;  // kept: the frames refer to captures of the program
    begin_process(s, new_process(s, {}, first->start()), false);
  }
  if (s.cancellation.is_of_all()) s.throw_failures();  // no memory to put the process
}
/// Throws std::logic_error if the options of a scheduler that keeps no trace name one.
void require_no_trace(trace const* t);
/// Throws std::logic_error unless the effect of a submitter is known.
void require_known(std::string_view effect, bool known);
template <class... Es, class S>
[[nodiscard]] std::shared_ptr<submission_gate> let_submit(S& s, row<Es...>) {
  if (!s.was_started)
    throw std::logic_error(
        "weft: a submitter is for a scheduler that was started: start() it first");
  (require_known(name_of<Es>, s.effects.knows(identity_of<Es>)), ...);
  return s.incoming.add_submitter();
}

// ---- being stopped

template <class S>
void stop_all(S& s) noexcept {
  S::observer::on_event(s, {.kind = trace_kind::cancel});
  s.was_asked_to_stop_ = true;
  s.cancel_all();
  s.waits.cancel_all();
}
/// Performs the action of an internal process.  Called on a thread of the scheduler, or when none
/// of them runs.
template <class S>
void do_internal(S& s, internal_task what) noexcept {
  switch (what) {
    case internal_task::stop:
      return stop_all(s);
    case internal_task::shut_down:
      S::observer::on_event(s, {.kind = trace_kind::cancel});
      s.cancel_all();
      return s.waits.cancel_all();
    case internal_task::dump:
      return give_dump(s);
    case internal_task::ask_again:
      return;
  }
}
/// Listens to the stop token while processes run: a thread that requests a stop sends an internal
/// process, which in its turn cancels all others.  So the cancellation happens on a thread of the
/// scheduler, whatever the backend.  The internal process is made beforehand, so requesting a stop
/// needs no memory.
template <class S>
class stop_listener {
 public:
  explicit stop_listener(S& s) {
    if (s.stop_token_.stop_possible()) callback_.emplace(heeded(s), request{*this, s});
  }
  stop_listener(stop_listener const&) = delete;
  stop_listener& operator=(stop_listener const&) = delete;

 private:
  struct request {
    stop_listener& by;
    S& home;
    void operator()() const noexcept {
      std::lock_guard const lock(home.incoming.gate()->mutex);
      try {
        home.incoming.send(by.to_stop_);
      } catch (...) {  // no memory to put the process: stops the backend itself
        home.base().stop();
      }
    }
  };
  /// The token to listen to.  If a stop was requested before, cancels all processes now, and
  /// returns no token.
  std::stop_token heeded(S& s) {
    if (!s.stop_token_.stop_requested()) {
      auto const& gate = s.incoming.gate();
      if (!gate) return s.stop_token_;
      std::lock_guard const lock(gate->mutex);
      to_stop_ = s.incoming.prepare(internal_task::stop);
      return s.stop_token_;
    }
    stop_all(s);
    return {};
  }
  submissions::prepared to_stop_;
  // The destructor of callback_ waits for a request that has begun.
  std::optional<std::stop_callback<request>> callback_;
};

// ---- running

template <class S>
void run_here(S& s) {
  [[maybe_unused]] auto const observed = S::observer::here(s);
  direct_here const direct(s);
  prompt::driver const outside;
  S::set_innermost(&s);
  drive(s.next());
}
template <class S>
void run_worker(S& s, unsigned index) noexcept {
  typename S::worker_slot here(s, index);
  here.outside = std::exchange(worker_state::of_thread, &here);
  run_here(s);
  worker_state::of_thread = here.outside;
  s.add_counts(here);
}
/// Runs the processes on `threads` threads, by `work(s, index)` on each; the calling thread is one
/// of the workers.  Returns when all workers are done: no process is ready and nothing is due, or
/// the backend was stopped.
void run_on_threads(scheduler_core& s, unsigned threads,
                    void (*work)(scheduler_core& s, unsigned index) noexcept);
template <class S>
void run_one_round(S& s) {
  s.own.stopped = false;
  if constexpr (S::on_several_threads)
    run_on_threads(s, s.base().threads(), [](scheduler_core& core, unsigned index) noexcept {
      run_worker(static_cast<S&>(core), index);
    });
  else
    run_here(s);
}
[[noreturn, gnu::cold]] void throw_lost(std::size_t processes);
/// Called when no process is ready: admits processes that wait for room, advances virtual time,
/// reports a deadlock, or ends the run.  Returns whether there is more to run.  At the end of the
/// run, throws the failures of processes.
template <class S>
bool settle(S& s) {
  if (s.own.broken) std::rethrow_exception(std::exchange(s.own.broken, nullptr));
  auto& mail = s.waits.mail();
  if (mail.exchange_has_put()) return true;
  if (!s.own.stopped && (s.admit_waiting() || advance_time(s))) return true;
  if ((S::observer::outside_may_come ? s.waits.has_waiters_inside() : s.waits.has_waiters()) &&
      !s.own.stopped) {
    S::observer::on_event(s, {.kind = trace_kind::cancel});
    s.report_deadlock();
    return true;
  }
  if (mail.exchange_has_put()) return true;
  if (!s.own.stopped && !s.incoming.end_run(S::observer::outside_may_come)) return true;
  bool const stopped_some =
      std::exchange(s.was_asked_to_stop_, false) && s.cancellation.was_found();
  S::observer::on_run_end(s);
  s.throw_failures();
  if (stopped_some) throw cancelled();
  if (s.alive() && !s.own.stopped) {
    s.own.running = nullptr;  // may refer to a process that the backend has lost
    throw_lost(s.alive());
  }
  return false;
}
template <class S>
void run_to_end(S& s) {
  s.poll_stops.reset();
  typename S::at_work const now(s, S::work::all);
  stop_listener<S> const stops(s);
  s.cancellation.set_last_step(false);
  // Relaxed: shut_down() sets the flag under the gate's lock, which `now` has taken.  If
  // shut_down() held the lock before, this thread sees the flag; if after, shut_down() sends an
  // internal process.
  if (s.shutdown.is_on.load(std::memory_order_relaxed)) do_internal(s, internal_task::shut_down);
  do run_one_round(s);
  while (settle(s));
}
/// Runs one process up to its next operation that ends a step.  False if none is left.
template <class S>
bool run_step(S& s) {
  typename S::at_work const now(s, S::work::one_step);
  if (s.stop_token_.stop_requested()) stop_all(s);
  // Relaxed: for the reason given in run_to_end().
  if (s.shutdown.is_on.load(std::memory_order_relaxed)) do_internal(s, internal_task::shut_down);
  [[maybe_unused]] auto const observed = S::observer::here(s);
  direct_here const direct(s);
  do {
    prompt::driver const outside;
    S::set_innermost(&s);
    s.cancellation.set_last_step(false);
    auto const first = s.next();
    if (s.own.running) {
      s.cancellation.set_last_step(true);
      drive(first);
      return true;
    }
  } while (settle(s));
  return false;
}

/// Runs at most `most` steps, and does not sleep (polling.hpp).  If all processes wait, any input
/// from outside, such as a request to stop, then calls the loop back.
template <class S>
poll_result run_ready(S& s, std::size_t most) {
  typename S::at_work const now(s, S::work::polling);
  if constexpr (leaving_backend<typename S::backend_type>) s.worker().come_back();
  if (!s.poll_stops) s.poll_stops = std::make_shared<stop_listener<S>>(s);
  // Relaxed: for the reason given in run_to_end().
  if (s.shutdown.is_on.load(std::memory_order_relaxed)) do_internal(s, internal_task::shut_down);
  [[maybe_unused]] auto const observed = S::observer::here(s);
  direct_here const direct(s);
  prompt::driver const outside;
  for (; most != 0; --most) {
    s.cancellation.set_last_step(false);
    thunk t = take_ready(s);
    if (!t) {
      auto const why = t.why_empty();
      s.stop_stepping(why);
      if (why == thunk::reason::deadline) {
        if constexpr (leaving_backend<typename S::backend_type>)
          if (!s.worker().try_leave()) continue;
        return poll_result::waiting;
      }
      if (settle(s)) continue;
      s.poll_stops.reset();
      return poll_result::ended;
    }
    s.cancellation.set_last_step(true);
    S::set_innermost(&s);
    std::uint64_t const answer = t.answer();
    drive(s.resume(t.release(), answer));
  }
  return poll_result::ready;
}

// ---- ending

/// Ends the scheduler: unwinds the processes that are left.
template <class S>
void end_scheduler(S& s) noexcept {
  if (s.own.running || s.running_here()) {
    std::fputs("weft: a scheduler was destroyed by one of its own processes\n", stderr);
    std::terminate();
  }
  s.set_ending();
  s.poll_stops.reset();
  s.close_outside();
  s.incoming.end();
  s.is_dropping_ = true;
  S::observer::on_ending(s);
  s.waits.drop_all();  // first: a gate that ends with a frame makes its waiters ready
  if constexpr (requires { s.worker_->ready(); }) {
    // The frames of a process in the queue may keep a version of the queue, so they are destroyed
    // now.
    auto const kept = s.worker_->ready();
    for (thunk const& t : kept)
      if (t.get()->is_forkable()) static_cast<forkable_process&>(*t.get()).drop_frames(s);
  }
  s.worker_.reset();
  s.backend_.reset();
  if (s.first_) s.first_->release();
  s.finish();
}

}  // namespace weft::detail
