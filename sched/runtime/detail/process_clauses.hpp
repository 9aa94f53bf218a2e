// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/proc.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/injection_node.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/runtime/detail/incoming/admission.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"

/// The clauses of yielding, proc and spawning: how a process yields, forks, exits and starts other
/// processes, and how a process is submitted from outside.
namespace weft::detail {

// ---- yield

/// Puts the running process back into the queues, and goes on to the next one.
template <class S>
std::coroutine_handle<> on(S& s, yielding::yield const&) {
  s.put(s.box(), put_reason::yielded);
  return s.next();
}
/// Whether exchange() can be used now: a short cut for a process with no handler between it and the
/// scheduler.  Cancellations and alarms are for next().
template <class S>
[[gnu::always_inline]] inline bool can_exchange(S& s) noexcept {
  return !s.cancellation.needs_attention() && !s.has_alarms() && s.worker().can_exchange();
}
/// Puts the running process and takes the next one in one call of the backend.
template <class S>
[[gnu::always_inline]] inline std::coroutine_handle<> exchange(S& s,
                                                               operation_info const& operation,
                                                               std::coroutine_handle<> leaf,
                                                               result_slot_base& waiting) noexcept {
  process& p = s.running();
  s.here().begin_step();
  p.suspend_here(operation, leaf, waiting);
  thunk t = s.worker().exchange(thunk(&p));
  if (S::observer::has_stopped(t)) [[unlikely]]
    return s.stop_stepping(t.why_empty());
  std::uint64_t const answer = t.answer();
  return s.resume(t.release(), answer);
}

// ---- making a process

template <class S>
[[nodiscard, gnu::always_inline]] inline process* new_process(S& s, process_id id,
                                                              first_frame first,
                                                              void* block = nullptr) {
  try {
    return process::start(id, first.handle, s.evidence_for(*first.row, false, s.worker_here()), s,
                          s.unread_answer_, !S::on_several_threads, S::header, block);
  } catch (...) {
    first.handle.destroy();
    throw;
  }
}
/// Makes a process that is not counted yet.  Any thread may call it.
template <class S>
[[nodiscard]] process* make_uncounted_process(S& s, process_id id, first_frame first) {
  try {
    return process::start(id, first.handle, s.effects.look_up_outside(*first.row), s,
                          s.unread_answer_, !S::on_several_threads, S::header);
  } catch (...) {
    first.handle.destroy();
    throw;
  }
}
template <class S>
[[nodiscard, gnu::noinline]] process* new_process(S& s, process_id id, program* p) {
  try {
    return forkable_process::make(id, p, s.log_limit_, S::header);
  } catch (...) {
    p->release();
    throw;
  }
}
/// Counts the process, and makes it ready.
template <class S>
[[gnu::always_inline]] inline void begin_process(S& s, process* p, bool keeps_log) noexcept {
  worker_state& w = s.worker_here();
  ++w.alive;
  if (keeps_log) ++w.repeatable;
  S::observer::on_start(s, *p);
  s.put(thunk(p), put_reason::started);
}

// ---- spawning

template <class S>
[[gnu::noinline]] process_id put_child(S& s, process* p, process_id id) noexcept {
  s.put(thunk(p), put_reason::started);
  return id;
}
/// The id of the next child of the running process.
template <class S>
[[nodiscard, gnu::always_inline]] inline process_id next_child_id(S& s) noexcept {
  process& parent = s.running();
  return s.here().children.child_of(parent.id(), parent.next_child_number());
}
template <class S>
[[nodiscard, gnu::always_inline]] inline process* new_child(S& s, process_id id,
                                                            spawn_request& request) {
  S::observer::on_spawn(s, id, request.where);
  if (request.is_forkable()) [[unlikely]]
    return new_process(s, id, request.forkable_program());
  return new_process(s, id, request.frame());
}
/// The clause of spawn.
template <class S>
[[gnu::always_inline]] inline process_id on(S& s, spawning<>::start& start) {
  process_id const id = next_child_id(s);
  process* const child = new_child(s, id, *start.what);
  begin_process(s, child, start.what->is_forkable());
  return id;
}
/// Starts a child as begin_directly() does, when its id or evidence is not cached, or no block is
/// free.
template <class S>
[[gnu::noinline]] process_id begin_directly_slow(worker_state& w, std::uint32_t n,
                                                 std::coroutine_handle<> first,
                                                 row_info const& row) {
  S& s = static_cast<S&>(*w.home);
  process_id const id = w.children.child_of(w.running->id(), n);
  begin_process(s, new_process(s, id, {first, &row}), false);
  return id;
}
/// Starts a child: direct_spawn::begin points to this function, if there is one thread and no limit
/// to processes.  Calls that are not inlined are tail calls here, so no registers are saved.
template <class S>
[[nodiscard]] process_id begin_directly(worker_state& w, std::uint32_t n,
                                        std::coroutine_handle<> first, row_info const& row) {
  S& s = static_cast<S&>(*w.home);
  process_id const parent = w.running->id();
  if (!w.children.knows(parent, n) || w.last_row[false].row != &row) [[unlikely]]
    return begin_directly_slow<S>(w, n, first, row);
  void* const block = w.pool->try_take(S::header.bytes + sizeof(process));
  if (!block) [[unlikely]]
    return begin_directly_slow<S>(w, n, first, row);
  process_id const id = w.children.known(n);
  process* const p = process::start(id, first, w.last_row[false].evidence, s, s.unread_answer_,
                                    !S::on_several_threads, S::header, block);
  ++w.alive;
  if constexpr (S::puts_in_place)
    if (s.worker().put_in_place(p, 0)) [[likely]]
      return id;
  return put_child(s, p, id);
}
/// Counts a spawn.  Returns whether so many processes are ready that the spawning process must let
/// other processes run first.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool count_spawn(S& s) noexcept {
  if constexpr (requires { s.worker().count_spawn(); })
    return s.worker().count_spawn();
  else
    return false;
}

// ---- spawning with a limit to processes (admission.hpp)

/// Performs a spawn for which room has been taken; gives the room back if the spawn throws.
template <class S>
process_id spawn_in_room(S& s, spawning<>::start& start) {
  try {
    return on(s, start);
  } catch (...) {
    s.give_room();
    throw;
  }
}
/// Makes a ticket for the running process, which is suspended.  If processes do not wait for room,
/// takes room now; throws too_many_processes if there is none.
template <class S>
std::unique_ptr<admission::ticket> draw_ticket(S& s) {
  process& p = s.running();
  auto ticket = std::make_unique<admission::ticket>(p);
  note_access(&s.waits.room, true);
  if (!s.waits.room.waits_when_full() && !s.waits.room.try_enter())
    s.throw_too_many(p.waits_at_text());
  return ticket;
}
/// Makes the two processes of a ticket ready: the new one, for which room has been taken, and the
/// owner, which has made it.
template <class S>
void start_ticket(S& s, admission::ticket& t, put_reason why) noexcept {
  thunk owner(t.owner, t.answer);
  process* const spawned = t.spawned;
  if (t.owner_goes_first) {
    s.put(std::move(owner), why);
    begin_process(s, spawned, spawned->is_forkable());
  } else {
    begin_process(s, spawned, spawned->is_forkable());
    s.put(std::move(owner), why);
  }
}
template <class S>
void start_admitted(S& s, admission::ticket& t) noexcept {
  start_ticket(s, t, put_reason::woken);
}
/// Makes the owner of the ticket and its new process ready, now or when there is room.  If the
/// owner is cancelled instead of waiting, the new process is dropped.
template <class S>
void enqueue_ticket(S& s, std::unique_ptr<admission::ticket> ticket) noexcept {
  process& p = s.running();
  if (s.waits.room.waits_when_full()) {
    s.on_wait_begin(p);
    auto const how = s.waits.room.enter_or_wait(*ticket, s.cancellation.refuses());
    if (how == admission::outcome::waits) {
      (void)ticket.release();
      return s.on_waiting(p);
    }
    s.on_wait_cancelled(p);
    if (how == admission::outcome::refused) {
      (void)thunk(ticket->spawned);
      p.mark_cancellable();
      return s.put(s.box(), put_reason::yielded);
    }
  }
  start_ticket(s, *ticket, put_reason::yielded);
}
/// Starts a process when there is room.  `make(ticket)` makes it; if `make` throws, the room that
/// was taken is given back.
template <class S, class Make>
void start_when_there_is_room(S& s, Make make) {
  auto ticket = draw_ticket(s);
  try {
    make(*ticket);
  } catch (...) {
    if (!s.waits.room.waits_when_full()) s.give_room();
    throw;
  }
  enqueue_ticket(s, std::move(ticket));
}
template <class S>
[[gnu::noinline]] bool spawn_if_there_is_room(S& s, spawning<>::start& start,
                                              result_slot<process_id>& to) {
  if (!s.take_room(site_of(start, to.where))) return false;
  to.set(spawn_in_room(s, start));
  return true;
}
template <class S>
void spawn_when_there_is_room(S& s, spawn_request& request) {
  start_when_there_is_room(s, [&](admission::ticket& t) {
    t.spawned = new_child(s, next_child_id(s), request);
    t.answer = std::bit_cast<std::uint64_t>(t.spawned->id());
  });
}

/// A spawn is answered at once, unless the spawning process has to wait for room; or, with several
/// threads, to let other processes run first, since too many are ready (count_spawn()).
template <class S>
[[gnu::always_inline]] inline bool answer_now(S& s, spawning<>::start& start,
                                              result_slot<process_id>& to) {
  if constexpr (S::on_several_threads)
    if (prompt::innermost() == &s && count_spawn(s)) return false;
  if (s.is_limited()) [[unlikely]]
    return spawn_if_there_is_room(s, start, to);
  to.set(on(s, start));
  return true;
}
template <class S>
std::coroutine_handle<> perform_suspended(S& s, spawning<>::start& start) {
  if (s.is_limited())
    spawn_when_there_is_room(s, *start.what);
  else
    s.put(s.box(std::bit_cast<std::uint64_t>(on(s, start))), put_reason::yielded);
  return s.next();
}

// ---- fork

/// The clause of fork.  The running process gets the answer true, and is put first.  A clone, made
/// from its log of answers, gets false.
template <class S>
std::coroutine_handle<> on(S& s, proc::fork const&) {
  auto& p = static_cast<forkable_process&>(s.running());
  if (s.is_limited()) [[unlikely]] {
    fork_when_there_is_room(s, p);
    return s.next();
  }
  auto* const clone = p.clone(p.next_child(), s);
  thunk second(clone, false);
  S::observer::on_fork(s, p, *clone);
  worker_state& w = s.here();
  ++w.alive;
  ++w.repeatable;
  s.put(s.box(true), put_reason::yielded);
  s.put(std::move(second), put_reason::started);
  return s.next();
}
template <class S>
void fork_when_there_is_room(S& s, forkable_process& p) {
  start_when_there_is_room(s, [&](admission::ticket& t) {
    auto* const clone = p.clone(p.next_child(), s);
    t.spawned = clone;
    t.answer = t.owner_goes_first = true;
    S::observer::on_fork(s, p, *clone);
  });
}

// ---- exit

/// Destroys all frames of the process, the innermost first.
template <class S>
void exit_process(S& s, process& p) noexcept {
  if (S::observer::defers_exit(s, p)) return;
  S::set_innermost(&s);
  s.here().running = nullptr;
  s.retire(&p, nullptr);
}
template <class S>
std::coroutine_handle<> on(S& s, yielding::exit const&) {
  exit_process(s, s.running());
  return s.next();
}

// ---- submitting, on any thread

template <class S>
process_id submit(S& s, submission_ticket& ticket, first_frame first) {
  process_id const id = process_id::submitted(ticket.number());
  thunk t(s.new_uncounted_process(id, first));
  spare_node spare = s.reserve_put();
  auto const put = [&] { s.put_from_outside(t, put_reason::started, std::move(spare)); };
  if (s.is_limited()) [[unlikely]]
    s.waits.room.enter_from_outside(!s.find_worker_here(), put);
  else
    put();
  ticket.mark_started();
  return id;
}

}  // namespace weft::detail
