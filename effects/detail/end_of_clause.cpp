// SPDX-License-Identifier: MIT
#include "weft/effects/detail/end_of_clause.hpp"

#include <coroutine>
#include <string>
#include <utility>

#include "weft/effects/memory/frame_pool.hpp"

namespace weft::detail {

continuation end_of_clause::after(prompt& p, continuation waiter) noexcept {
  if (p.is() != prompt::state::leaving) return waiter;
  while_unwinding const here;
  try {
    return continuation(static_cast<frame_end&>(*new end_of_clause(p, waiter)));
  } catch (...) {
    no_memory_to_unwind();
  }
}

std::string end_of_clause::text() const {
  return "a clause of " + std::string(prompt_.handler_name());
}

void end_of_clause::unwind_later(suspension& h) noexcept {
  h.unwind_up_to(*this, continuation(static_cast<frame_end&>(*this)));
  leaving_ = &h;
  waiting_ = nullptr;
  while (has_remainder()) {
    if (!try_claim_remainder()) return;
    (void)unwind();
  }
  is_unwound_ = true;  // or left to another party, for which this end does not wait
  h.unwind_on();
}

bool end_of_clause::wait_with(waiting& w) noexcept {
  waiting_ = &w;
  return try_claim_remainder();
}
bool end_of_clause::unwind() noexcept {
  if (!has_remainder()) return true;  // another clause has unwound the continuation (CLAUSE-3)
  if (!prompt_.unwind_further()) return false;
  while (end_of_clause* const e = next_) {
    next_ = std::exchange(e->next_, nullptr);
    e->on_remainder_free();
  }
  return true;
}
bool end_of_clause::try_claim_remainder() noexcept {
  auto* const first = static_cast<end_of_clause*>(prompt_.in_charge());
  if (!first || first == this) return prompt_.try_claim_remainder(*this);
  if (!std::exchange(is_on_list_, true)) next_ = std::exchange(first->next_, this);
  return false;
}
void end_of_clause::on_remainder_free() noexcept {
  waiting_ ? waiting_->on_remainder_free() : leaving_->unwind_on();
}

std::coroutine_handle<> end_of_clause::wait() noexcept {
  prompt* ground = prompt::innermost();
  while (ground && ground->up()) ground = ground->up();
  if (ground && !prompt::arena_here())
    if (auto const waits = ground->wait_for_remainder(*this)) return waits;
  leave();  // ordinary code waits for the answer, and cannot be suspended
  return {};
}
void end_of_clause::leave() noexcept {
  prompt_.clause_ends();
  is_counted_ = false;
  prompt_.leave_remainder();
}

}  // namespace weft::detail
