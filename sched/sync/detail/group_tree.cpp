// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/group_tree.hpp"

namespace weft::detail {

void group_tree::enter(waiter& w, continuation leaf, waiter::kind k, void* object) noexcept {
  auto const locked = lock();
  wait_group* const g = place_along(leaf);
  if (!g) return;
  w.kind_ = k;
  w.object_ = object;
  w.group_ = g;
  w.previous_ = nullptr;
  w.next_ = std::exchange(g->first_waiting, &w);
  if (w.next_) w.next_->previous_ = &w;
}
void group_tree::place(wait_group& g, continuation leaf) noexcept {
  auto const locked = lock();
  place_in_tree(g);
  if (wait_group* const around = place_along(leaf)) put_inside(g, *around);
}
void group_tree::leave(waiter& w) noexcept {
  auto const locked = lock();
  (w.previous_ ? w.previous_->next_ : w.group_->first_waiting) = w.next_;
  if (w.next_) w.next_->previous_ = w.previous_;
  w.group_ = nullptr;
}
void group_tree::leave(wait_group& g) noexcept {
  auto const locked = lock();
  for (wait_group* inside = g.first_inside; inside; inside = inside->next_beside)
    inside->around = nullptr;
  take_out(g);
}

void waiter::leave_group_slow() noexcept { group_->tree->leave(*this); }

// ---- under the lock

void group_tree::place_in_tree(wait_group& g) noexcept {
  if (g.is_placed) return;
  g.is_placed = true;
  // A join skips its destructor if its group has no mark (all_have_given() of task.hpp).  A group
  // in the tree needs the destructor, which takes it out: so it gets this mark, even if each task
  // is completed.
  // relaxed: the owner reads `marks` when the process that has placed the group has ended.
  g.marks.fetch_or(group_mark::incomplete, std::memory_order_relaxed);
  g.tree = this;
  g.around = nullptr;
  g.first_inside = nullptr;
  g.first_waiting = nullptr;
}
void group_tree::take_out(wait_group& g) noexcept {
  if (!g.around) return;
  (g.previous_beside ? g.previous_beside->next_beside : g.around->first_inside) = g.next_beside;
  if (g.next_beside) g.next_beside->previous_beside = g.previous_beside;
  g.around = nullptr;
}
void group_tree::put_inside(wait_group& g, wait_group& around) noexcept {
  if (g.around == &around) return;
  take_out(g);
  g.around = &around;
  g.previous_beside = nullptr;
  g.next_beside = std::exchange(around.first_inside, &g);
  if (g.next_beside) g.next_beside->previous_beside = &g;
}
wait_group* group_tree::place_along(continuation at) noexcept {
  wait_group* innermost = nullptr;
  wait_group* inside = nullptr;
  for (bool is_outside = false; !at.is_ordinary_code();) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    frame_end& e = at.end();
    if (is_outside && e.as_suspension()) return innermost;
    if (wait_group* const g = e.as_group()) {
      place_in_tree(*g);
      if (!innermost) innermost = g;
      if (inside && inside != g) put_inside(*inside, *g);
      if (g->around && (is_outside || g->is_on_the_ground)) return innermost;
      inside = g;
    }
    frame_end::cancel_state const said = e.query_cancellation(at);
    if (said == frame_end::cancel_state::cancelled) return innermost;
    if (said == frame_end::cancel_state::shielded) break;
    is_outside |= said == frame_end::cancel_state::elsewhere;
  }
  if (inside) take_out(*inside);  // the walk has found no group around `inside`
  return innermost;
}

}  // namespace weft::detail
