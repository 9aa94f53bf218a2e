// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does at every step, and so is in line: who is put, who is next; births and
/// deaths.
namespace weft::detail {

template <backend Backend>
[[gnu::always_inline]] inline void scheduling<Backend>::put(thunk&& t, put_reason w) noexcept {
  try {
    if constexpr (on_several_threads) {
      desk* const d = desk::of_thread;
      if (!d || d->home != this) return backend_->put(std::move(t), w);
    }
    worker().put(std::move(t), w);
  } catch (...) {
    was_not_put(t);
  }
}

template <backend Backend>
[[gnu::always_inline]] inline bool scheduling<Backend>::is_crowded() noexcept {
  if constexpr (requires { worker().is_crowded(); })
    return worker().is_crowded();
  else
    return false;
}
template <backend Backend>
[[gnu::always_inline]] inline bool scheduling<Backend>::can_exchange() noexcept {
  return !this->must_look_up() && !must_keep_time() && worker().can_exchange();
}
template <backend Backend>
[[gnu::always_inline]] inline thunk scheduling<Backend>::take() noexcept {
  here().hand_overs = 0;
  if (must_keep_time()) [[unlikely]]
    return take_in_time();
  try {
    thunk t = worker().take(instant::max(), quiescence());
    if constexpr (on_several_threads)  // else nobody sets an alarm while we look
      if (!t && t.why_empty() == thunk::reason::deadline) [[unlikely]]
        return take_in_time();
    return t;
  } catch (...) {
    here().broken = std::current_exception();
    return thunk::reason::stopped;
  }
}

template <backend Backend>
[[gnu::always_inline]] inline std::coroutine_handle<> scheduling<Backend>::go_on(
    process* p, std::uint64_t answer) noexcept {
  if constexpr (explores) {
    asks_its_groups(*p);
    if (backend_->events().has(*p)) return next_unless_over(p, answer);
  }
  // On several threads it may be ready because somebody failed while we looked for it.
  if (!p->is_plain() || (on_several_threads && this->must_look_up())) [[unlikely]]
    return next_unless_over(p, answer);
  here().running = p;
  return p->go_on(answer);
}

template <backend Backend>
[[gnu::always_inline]] inline std::coroutine_handle<> scheduling<Backend>::next() noexcept {
  if (this->must_look_up()) [[unlikely]]
    return next_with_care();
  thunk t = take();
  if (!t) [[unlikely]]
    return nobody(t.why_empty());
  std::uint64_t const answer = t.answer();
  return go_on(t.release(), answer);
}

template <backend Backend>
[[gnu::always_inline]] inline std::coroutine_handle<> scheduling<Backend>::exchange(
    operation_info const& operation, std::coroutine_handle<> leaf,
    result_slot_base& waiting) noexcept {
  process& p = running();
  here().hand_overs = 0;
  p.stop_here(operation, leaf, waiting);
  thunk t = worker().exchange(thunk(&p));
  std::uint64_t const answer = t.answer();
  return go_on(t.release(), answer);
}

template <backend Backend>
[[gnu::always_inline]] inline process* scheduling<Backend>::new_process(process_id id,
                                                                        first_frame first) {
  try {
    return process::start(id, first.handle, this->evidence_for(*first.row, false), *this, sink_,
                          !on_several_threads, header);
  } catch (...) {
    first.handle.destroy();
    throw;
  }
}

template <backend Backend>
[[gnu::always_inline]] inline void scheduling<Backend>::begin(process* p, bool keeps_log) noexcept {
  desk& d = scheduling_base::here();
  ++d.alive;
  if (!keeps_log) ++d.unforkable;
  put(thunk(p), put_reason::started);
}
template <backend Backend>
inline void scheduling<Backend>::on(proc::fork const&) {
  auto& p = static_cast<forkable_process&>(running());
  if (this->is_limited()) [[unlikely]]
    return fork_when_there_is_room(p);
  auto* const clone = p.clone(p.next_child(), *this);
  thunk second(clone, false);
  if constexpr (explores) note_fork(p.id(), clone->id(), clone->shared_frames());
  ++here().alive;
  put(box(true), put_reason::yielded);
  put(std::move(second), put_reason::started);
}
template <backend Backend>
template <class Start>
  requires requires(Start& s) { s.what->is_forkable(); }
[[gnu::always_inline]] inline process_id scheduling<Backend>::on(Start& start) {
  spawn_request& b = *start.what;
  process_id const id = running().next_child();
  if (b.is_forkable())
    begin(new_process(id, b.forkable_program()), true);
  else
    begin(new_process(id, b.frame()), false);
  return id;
}

/// A backend may want to know.
template <backend Backend>
[[gnu::always_inline]] inline void scheduling<Backend>::ends(process& p) noexcept {
  if constexpr (requires { backend_->on_end(p); }) backend_->on_end(p);
}
template <backend Backend>
[[gnu::always_inline]] inline void scheduling<Backend>::bury(process* p,
                                                             std::exception_ptr error) noexcept {
  if constexpr (explores) backend_->events().apply_all_of(*p);
  if (error) [[unlikely]]
    return bury_failed(p, std::move(error));
  ends(*p);
  desk& d = scheduling_base::here();
  if (!keeps_log(*p)) --d.unforkable;
  --d.alive;
  bool const gives_room = this->is_limited() && !p->id().is_internal();
  p->release();
  if (gives_room) [[unlikely]]
    this->gives_room();
}

template <backend Backend>
continuation scheduling<Backend>::finished(process& p) noexcept {
  if (!p.ended_quietly() || this->is_limited() || has_events()) [[unlikely]]
    return finished_somehow(p);
  ends(p);
  desk& d = here();
  d.running = nullptr;
  --d.unforkable;
  --d.alive;
  p.die();
  return next();
}

}  // namespace weft::detail
