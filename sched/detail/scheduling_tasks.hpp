// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "sched/backend.hpp"
#include "sched/detail/scheduling.hpp"
#include "sched/detail/task.hpp"

/// What a scheduler does for a process that has tasks.
namespace weft::detail {

template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::do_all(join& j) {
  process& p = running();
  j.home = this;
  j.owner = &p;
  j.owner_id = p.id();
  for (task* t = j.tasks; t != j.tasks + j.count; ++t) {
    t->first_frame_here().evidence = this->evidence_for(t->row(), false);
    t->number = p.next_child_number();
  }
  if constexpr (offering<Backend>) {
    // Taken back the newest first: so they are done in their order.
    for (std::uint32_t i = j.count; --i != 0; ++j.left) try {
        worker().put(static_cast<offer&>(j.tasks[i]));
      } catch (...) {  // no memory: then the owner does it, after the others
        j.not_offered = i;
        break;
      }
    return j.tasks->release();
  } else {
    return begin_everywhere(j);
  }
}

/// All orders are to be seen, or nobody keeps offers: each is a process.
template <backend Backend>
std::coroutine_handle<> scheduling<Backend>::begin_everywhere(join& j) {
  j.left = static_cast<std::int32_t>(j.count);
  for (task* t = j.tasks; t != j.tasks + j.count; ++t)
    if (thunk begun = begin_task(*t)) put(std::move(begun), why::started);
  return wait_for_rest(j).resolve();
}

template <backend Backend>
thunk scheduling<Backend>::begin_task(task& t) noexcept {
  join& j = t.of();
  frame& f = t.first_frame_here();
  awaited* const to = f.to;
  process* p = nullptr;
  if (!j.is_cancelled.load(std::memory_order_relaxed)) try {  // relaxed: sooner or later
      p = process::start(j.owner_id.child(t.number), t.frame(), f.evidence, *this, sink_,
                         !on_several_threads, place);
    } catch (...) {
      t.came_to = task::fate::no_memory;
    }
  else
    t.came_to = task::fate::not_done;
  if (!p) {
    ends_elsewhere(j);
    return thunk::nothing::dry;
  }
  (void)t.release();
  f.to = to;
  f.parent = continuation(static_cast<ending&>(t));
  t.host = p;
  desk& d = here();
  ++d.alive;
  ++d.unforkable;
  return thunk(p);
}

template <backend Backend>
continuation scheduling<Backend>::task_ended(task& t) noexcept {
  join& j = t.of();
  if (t.has_failed()) [[unlikely]]
    j.is_cancelled.store(true, std::memory_order_relaxed);  // relaxed: sooner or later
  if (!t.host) [[likely]]
    return next_of(j);
  process& p = *t.host;
  ends_elsewhere(j);
  return p.ended_elsewhere();
}
/// It is unwound: by itself, or with its owner.
template <backend Backend>
continuation scheduling<Backend>::task_dropped(task& t) noexcept {
  continuation const outside = t.outside();
  t.came_to = task::fate::not_done;
  if (t.host) ends_elsewhere(t.of());
  return outside;
}
/// One that was taken has ended.
template <backend Backend>
void scheduling<Backend>::ends_elsewhere(join& j) noexcept {
  process* const owner = j.owner;
  // [1] release: the owner finds what was done [2] [3].  acquire: who has it go on, what all did.
  if (j.word.fetch_sub(1, std::memory_order_acq_rel) == 1) put(thunk(owner), why::woken);
}

/// One that the owner did has ended: what it does next.
template <backend Backend>
continuation scheduling<Backend>::next_of(join& j) noexcept {
  bool const goes_on = !j.is_cancelled.load(std::memory_order_relaxed);  // relaxed: a hint
  if constexpr (offering<Backend>)
    while (j.left != 0) {
      offer* const o = worker().take_back();
      if (!o) break;
      auto& t = static_cast<task&>(*o);
      if (&t.of() != &j) {
        worker().put(*o);  // where it was
        break;
      }
      --j.left;
      if (goes_on) return t.release();
      t.came_to = task::fate::not_done;
    }
  for (; j.not_offered != 0; --j.not_offered) {
    task& t = j.tasks[j.not_offered];
    if (goes_on) return --j.not_offered, t.release();
    t.came_to = task::fate::not_done;
  }
  // [2] acquire: with [1].
  if (j.left != 0 && j.word.load(std::memory_order_acquire) != -j.left) return wait_for_rest(j);
  j.waiting->set();
  return j.leaf;
}
template <backend Backend>
[[gnu::noinline]] continuation scheduling<Backend>::wait_for_rest(join& j) noexcept {
  process& p = running();
  (void)p.stop_at(*j.operation, j.leaf, *j.waiting, *this);  // it can be
  is_about_to_wait(p);
  // [3] acquire: with [1].  release: who has us go on finds us stopped.
  if (j.word.fetch_add(j.left, std::memory_order_acq_rel) == -j.left) {
    goes_on(p);
    p.go_on_unanswered(*this);
    j.waiting->set();
    return j.leaf;
  }
  waits(p);
  return next();
}

}  // namespace weft::detail
