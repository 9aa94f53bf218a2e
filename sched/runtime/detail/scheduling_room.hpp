// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does for those that come from outside; and for who starts a process where there
/// may be only so many.
namespace weft::detail {

template <backend Backend>
process* scheduling<Backend>::new_process(process_id id, first_frame first, void* evidence) {
  try {
    return process::start(id, first.handle, evidence, *this, sink_, !on_several_threads, header);
  } catch (...) {
    first.handle.destroy();
    throw;
  }
}
template <backend Backend>
process* scheduling<Backend>::new_process(spawn_request& b) {
  process_id const id = running().next_child();
  return b.is_forkable() ? new_process(id, b.forkable_program()) : new_process(id, b.frame());
}

template <backend Backend>
process_id scheduling<Backend>::submit(coming_in& in, first_frame first) {
  process_id const id = process_id::submitted(in.number());
  thunk t(new_process_outside(id, first));
  spare_node spare = reserve_put();
  auto const put = [&] { put_from_outside(t, put_reason::started, std::move(spare)); };
  if (this->is_limited()) [[unlikely]]
    this->admission_.enter_from_outside(!this->desk_here(), put);
  else
    put();
  in.mark_started();
  return id;
}

/// For the process that runs: a place in the line, or if nobody is to wait, room.
template <backend Backend>
auto scheduling<Backend>::place_in_line() -> std::unique_ptr<in_line> {
  process& p = running();
  auto line = std::make_unique<in_line>(p);
  note_access(&this->admission_, true);
  if (!this->admission_.waits() && !this->admission_.try_enter())
    this->throw_too_many(p.waits_at_text());
  return line;
}
/// Has made what begins when there is room, and then goes on in its turn.
template <backend Backend>
void scheduling<Backend>::line_up(std::unique_ptr<in_line> line) noexcept {
  process& p = running();
  if (this->admission_.waits()) {
    on_wait_begin(p);
    auto const how = this->admission_.enter_or_wait(*line, this->refusing());
    if (how == admission::entering::waits) {
      (void)line.release();
      return waits(p);
    }
    goes_on(p);
    if (how == admission::entering::refused) {
      (void)thunk(line->spawned);
      p.must_be_told();
      return put(box(), put_reason::yielded);
    }
  }
  begin_with(*line, put_reason::yielded);
}
template <backend Backend>
void scheduling<Backend>::begin_with(in_line& l, put_reason w) noexcept {
  thunk who(l.who, l.answer);
  if (l.goes_first) put(std::move(who), w);
  begin(l.spawned, l.spawned->is_forkable());
  if (who) put(std::move(who), w);
}

template <backend Backend>
template <class Start>
void scheduling<Backend>::begin_and_yield(Start& start) {
  auto const id = std::bit_cast<std::uint64_t>(on(start));
  put(box(id), put_reason::yielded);
}
/// There is room, and it is taken.
template <backend Backend>
process_id scheduling<Backend>::begin_in_room(spawn_request& b) {
  try {
    process* const p = new_process(b);
    process_id const id = p->id();  // once it has begun it may be no more
    begin(p, b.is_forkable());
    return id;
  } catch (...) {
    this->gives_room();
    throw;
  }
}
template <backend Backend>
void scheduling<Backend>::begin_when_there_is_room(spawn_request& b) {
  auto line = place_in_line();
  try {
    line->spawned = new_process(b);
    line->answer = std::bit_cast<std::uint64_t>(line->spawned->id());
  } catch (...) {
    if (!this->admission_.waits()) this->gives_room();
    throw;
  }
  line_up(std::move(line));
}
template <backend Backend>
void scheduling<Backend>::fork_when_there_is_room(forkable_process& p) {
  auto line = place_in_line();
  try {
    line->spawned = p.clone(p.next_child(), *this);
  } catch (...) {
    if (!this->admission_.waits()) this->gives_room();
    throw;
  }
  auto& clone = static_cast<forkable_process&>(*line->spawned);
  if constexpr (explores) note_fork(p.id(), clone.id(), clone.shared_frames());
  line->answer = line->goes_first = true;
  line_up(std::move(line));
}

}  // namespace weft::detail
