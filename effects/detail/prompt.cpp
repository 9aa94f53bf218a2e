// SPDX-License-Identifier: MIT
#include "weft/effects/detail/prompt.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "weft/effects/detail/nested_unwinding.hpp"

/// The slow paths of suspensions and prompts: captures across other prompts, unwinding, lost
/// handlers, messages.
namespace weft::detail {

void suspension::let_go(prompt* innermost) noexcept {
  for (prompt* held = innermost; held; held = held->up()) held->held_by_now(nullptr);
}

void suspension::tell_recorders(prompt const& outermost) noexcept {
  for (prompt* p = inner_; p != &outermost; p = p->up())
    if (p->records()) p->answered();
  forget_inner_recorders();
}

void suspension::move_suspension(suspension& from, suspension& to,
                                 prompt const& outermost) noexcept {
  to.at_ = from.at_;
  to.is_ = std::exchange(from.is_, state::ended);
  to.lost_ = from.lost_;
  if (to.lost_) {
    to.lost_handler_ = from.lost_handler_;
  } else {
    to.inner_ = from.inner_;
    (void)to.hold(to.inner_, outermost);
  }
}

// ---- unwinding

void suspension::lose_leaf(std::string_view const& handler) noexcept {
  // A remainder that a pin has kept may be unwound on another thread, which comes here again with
  // the same handler.  It writes nothing then: the first thread may be reading lost_handler_ for a
  // message (require_open()).
  if (lost_ && lost_handler_ == &handler) return;
  if (!lost_) at_.where = std::source_location(at_.waiting->where);
  lost_ = true;
  lost_handler_ = &handler;
}

void suspension::drop_inside(frame_end const& part, std::coroutine_handle<> leaf,
                             prompt& around) noexcept {
  nested_unwinding const here;
  unwind_inside(at_.leaf, part);
  at_.leaf = leaf;
  at_.operation = nullptr;
  inner_ = &around;
  forget_inner_recorders();
}

bool suspension::unwind_suspended() noexcept {
  nested_unwinding const here;
  if (is_ == state::suspended || is_ == state::cut) {
    if (frame_end* const e = pinned_by()) [[unlikely]] {
      abandon_all(at_.leaf, *this);
      on_handed_over();
      return e->unwind_later(*this), false;
    }
    lose_leaf(handler_name());
    is_ = state::ended;
    unwind<true>(at_.leaf, *this);
  } else if (is_ == state::cutting) {
    is_ = state::ended;  // cut(), which runs further up the native stack, unwinds the remainder
  }
  return true;
}

void prompt::notice_drop() const noexcept {
#ifndef NDEBUG
  if (is_ != state::suspended || !is_noticed_when_dropped() || std::uncaught_exceptions()) return;
  try {
    std::string const why = why_prompt_stays(*this);
    std::fprintf(stderr,
                 "weft: ordinary code drops what is suspended: %s; the rest of that program never "
                 "runs: resume it first, or say that this is meant: region::allow_dropping()\n",
                 why.c_str());
  } catch (...) {  // no memory for the text: no notice
  }
#endif
}

void prompt::end_of_handler() noexcept {
  if (!drivers_) notice_drop();
  keep();
  leave_region();
  if (is_ == state::active) {
    expired_ = true;
    lose_handler();
    if (held_by_) held_by_->cut(*this, handler_name());
  } else {
    // The unwinding gives up a count, and the resumption, when it is dropped later, another one.
    if (is_ != state::ended && is_ != state::leaving) keep();
    if (borrowed_ && is_pinned()) [[unlikely]]
      lose_handler();
    (void)unwind_suspended();
  }
  release();
}

void prompt::abandon_handler() noexcept {
  if (borrowed_) lose_handler();
  leave_region();
}

void no_memory_to_unwind() noexcept {
  std::fputs(
      "weft: no memory to wait for the tasks of a resumption that was dropped across a scope\n",
      stderr);
  std::terminate();
}

void prompt::unwind_on() noexcept {
  // [2] acq_rel, pairs with [1] in try_claim_remainder() and [3] in leave_remainder().  If this
  // exchange is the first of two, the other party sees all that was done before; if it is the
  // second, it sees waiter_ and all that the other party has done.
  switch (remainder_.exchange(remainder_state::free, std::memory_order_acq_rel)) {
    case remainder_state::pinned:
      is_ = state::cut;
      return unwind_body();
    case remainder_state::awaited:
      return waiter_.end().on_remainder_free();
    default:
      return;
  }
}

/// Lets the loop of the caller unwind the continuation (REST-1).  A pinned continuation is dropped
/// inside this call instead: it is unwound up to the pin; the rest is unwound when the pin is gone.
continuation prompt::drop_before(continuation outside, bool asked) noexcept {
  if (is_given_up() || !may_be_pinned()) return drop(), outside;
  bool const was_asked =
      asked && !outside.is_frame() && outside.end().end_of_kept_resumption() == this;
  if (!was_asked && is_pinned()) return drop(), outside;
  lose_leaf(handler_name());
  is_ = state::ended;
  waiter_ = outside;
  return innermost_left();
}
continuation unwind_first(prompt& rest, continuation outside, bool asked) noexcept {
  return rest.drop_before(outside, asked);
}

void prompt::leave_remainder() noexcept {
  if (in_charge_ || clauses_ != 0) return;  // another clause unwinds the continuation, or will
  watched_ |= given_up;
  share_with_outers();
  // [3] acq_rel, pairs with [2] in unwind_on(): the party whose exchange is the second unwinds the
  // continuation, and sees all that the other party has done.
  if (remainder_.exchange(remainder_state::pinned, std::memory_order_acq_rel) !=
      remainder_state::free)
    return;
  is_ = state::cut;  // no pin is left, so this call unwinds the continuation
  unwind_body();
}
void prompt::on_handed_over() noexcept {
  if (clauses_ == 0 && !is_given_up()) {
    watched_ |= given_up;
    share_with_outers();
  }
  // Relaxed: the pin takes over after this store, by a hand-over that synchronises.
  remainder_.store(clauses_ ? remainder_state::clauses : remainder_state::pinned,
                   std::memory_order_relaxed);
}
/// Marks this prompt, the prompts inside it, and all prompts to which these may perform, as shared
/// by threads.
void prompt::share_with_outers() noexcept {
  std::vector<prompt*> all;
  try {
    all.push_back(this);
    if (is_ == state::suspended)
      for (prompt* p = inner_; p != this; p = p->up_) all.push_back(p);
    for (std::size_t i = 0; i != all.size(); ++i) {
      if (all[i]->is_shared_by_threads_) continue;
      all[i]->add_outers(all);
      all[i]->is_shared_by_threads_ = true;
    }
  } catch (std::bad_alloc const&) {
    // share_without_memory() passes over marked prompts, but `all` has the outer prompts of these.
    for (prompt* const p : all) p->share_without_memory();
    share_without_memory();
    if (is_ == state::suspended)
      for (prompt* p = inner_; p != this; p = p->up_) p->share_without_memory();
  }
}
/// Marks this prompt, and all to which it may perform, as shared by threads.  Needs no memory, but
/// native stack, as deep as handlers are nested.
void prompt::share_without_memory() noexcept {
  if (std::exchange(is_shared_by_threads_, true)) return;
  auto const goes_on = [](prompt& p) { p.share_without_memory(); };
  visit_outers(prompt_visitor(goes_on));
}

/// Ends the program if there is a pin at `part` or inside it.  The pin demands that `part` is
/// unwound only after its tasks have ended (SUSPENSION-3), but the handler of `part` ends now.
void suspension::require_unpinned(frame_end& part, std::string_view const& handler) noexcept {
  // Relaxed, as in pinned_by(): the flag is set before the chain is handed to this thread.
  if (!some_frame_pins.load(std::memory_order_relaxed)) return;
  if (!is_pinned_at(part) && !find_pin(at_.leaf, part)) return;
  std::fprintf(stderr, "weft: a handler %.*s ended while tasks were open inside it\n",
               static_cast<int>(handler.size()), handler.data());
  std::terminate();
}
void suspension::cut(frame_end& part, std::string_view const& handler) noexcept {
  if (!may_be_cut()) return;
  if (is_ == state::cutting) {  // a destructor in the part that is unwound ended another handler
    cut_again_ = true;
    return;
  }
  require_unpinned(part, handler);
  keep_suspension();
  lose_leaf(handler);
  is_ = state::cutting;
  at_.leaf = unwind(at_.leaf, part);
  while (is_ == state::cutting && std::exchange(cut_again_, false))
    while (frame_end* const other = first_lost()) {
      require_unpinned(*other, handler);
      at_.leaf = unwind(at_.leaf, *other);
    }
  bool const was_dropped = is_ != state::cutting;  // a destructor in the unwound part dropped it
  is_ = state::cut;
  if (was_dropped) (void)unwind_suspended();
  release_suspension();
}

/// Returns the innermost frame_end in the remainder of the chain whose handler has ended; null if
/// there is none.
frame_end* suspension::first_lost() noexcept {
  for (continuation at = at_.leaf;;) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
    } else {
      frame_end& e = at.end();
      if (&e == this) return nullptr;
      if (e.lost()) return &e;
      at = e.outside();
    }
  }
}

void cut_chain_of(frame_end& clause, std::string_view const& handler) noexcept {
  for (continuation at = clause.outside(); !at.is_ordinary_code();) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
    } else if (suspension* const h = at.end().as_suspension()) {
      if (h->may_be_cut())
        h->cut(clause, handler);
      else if (h->held_by())
        h->held_by()->cut(clause, handler);
      return;
    } else {
      at = at.end().outside();
    }
  }
}

// ---- whether the handlers further out are there

void prompt::check_outers() {
  unsigned const losses = losses_.load(std::memory_order_relaxed);  // relaxed: see require_outers()
  std::vector<prompt*> outers;
  add_outers(outers);
  std::unordered_set<prompt const*> seen(outers.begin(), outers.end());
  for (std::size_t i = 0; i != outers.size(); ++i) {
    prompt const& outer = *outers[i];
    if (outer.handler_is_gone()) throw_expired(outer.handler_name());
    if (!(outer.watched_ & fragile)) continue;
    std::size_t const known = outers.size();
    outer.add_outers(outers);
    outers.erase(std::remove_if(outers.begin() + static_cast<std::ptrdiff_t>(known), outers.end(),
                                [&seen](prompt const* p) { return !seen.insert(p).second; }),
                 outers.end());
  }
  checked_ = losses;
}

/// Throws std::logic_error if the running process may not resume a scope in the chain: asks each
/// frame_end.
void prompt::require_own_scopes() {
  bool is_in_scope = false;
  for (continuation at = at_.leaf;;) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    frame_end const& e = at.end();
    if (&e == this) break;
    if (!e.may_resume_inside())
      throw std::logic_error("weft: the continuation suspended by " +
                             std::string(operation().name) + " at " + detail::text(where()) +
                             " is in " + e.text() + ": only that process may resume it");
    is_in_scope |= e.pins_outer_frames();
    at = e.outside();
  }
  if (!is_in_scope) watched_ = static_cast<unsigned char>(watched_ & ~in_scope);
}

void prompt::add_outers(std::vector<prompt*>& to) const {
  auto const add = [&to](prompt& p) { to.push_back(&p); };
  visit_outers(prompt_visitor(add));
}

// ---- messages

std::string prompt::text() const {
  return std::string(handler_name()) + " at " + detail::text(installed_at());
}

void prompt::throw_expired(std::string_view handler) const {
  throw resumption_expired("weft: the handler " + std::string(handler) +
                           " no longer exists, so the continuation suspended by " +
                           std::string(operation().name) + " at " + detail::text(where()) +
                           " cannot be resumed");
}

void prompt::throw_gone(std::string_view what, std::source_location where) const {
  throw resumption_expired("weft: " + std::string(what) + " at " + detail::text(where) +
                           " found its handler " + std::string(handler_name()) + " gone");
}

void prompt::throw_across(std::string_view operation, std::source_location where) const {
  throw needs_control("weft: " + std::string(operation) + " at " + detail::text(where) +
                      " would suspend ordinary code: its handler " + std::string(handler_name()) +
                      " takes the resumption, and stands outside a run() or resume() that drives, "
                      "or is not active here");
}

}  // namespace weft::detail
