// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "effects/detail/prompt.hpp"

/// What prompts do rarely: crossing other prompts, unwinding, losing a handler, saying so.
namespace weft::detail {

[[gnu::noinline]] inline void prompt::hold_inner(std::string_view operation,
                                                 std::source_location where) {
  for (prompt* p = current_; p != this; p = p->up_) {
    if (!p) {
      for (prompt* held = current_; held; held = held->up_) held->held_by_ = nullptr;
      throw_across(operation, where);
    }
    inner_records_ |= p->records_;
    p->held_by_ = this;
  }
}

[[gnu::noinline]] inline void prompt::tell_recorders() noexcept {
  for (prompt* p = inner_; p != this; p = p->up_)
    if (p->records_) p->answered();
  if (records_) answered();
  inner_records_ = false;
}

// ---- unwinding

[[gnu::noinline]] inline void prompt::unwind_rest() noexcept {
  if (is_ == state::suspended || is_ == state::cut) {
    lose_leaf(handler_name());
    is_ = state::ended;
    unwind(leaf_, *this);
  } else if (is_ == state::cutting) {
    is_ = state::ended;  // cut() will see to it
  }
}

[[gnu::noinline]] inline void prompt::end_of_handler() noexcept {
  keep();
  leave_region();
  if (is_ == state::active) {
    expired_ = true;
    lose_handler();
    if (held_by_) held_by_->cut(*this, handler_name());
  } else {
    if (is_ != state::ended) keep();  // the resumption still looks at us
    unwind_rest();
  }
  release();
}

[[gnu::noinline]] inline void prompt::cut(ending& part, std::string_view const& handler) noexcept {
  if (!may_be_cut()) return;
  if (is_ == state::cutting) {  // a destructor in the part that goes ended another handler
    cut_again_ = true;
    return;
  }
  keep();
  lose_leaf(handler);
  is_ = state::cutting;
  leaf_ = unwind(leaf_, part);
  while (is_ == state::cutting && std::exchange(cut_again_, false))
    while (ending* const other = first_lost()) leaf_ = unwind(leaf_, *other);
  if (is_ == state::cutting)
    is_ = state::cut;
  else
    unwind(leaf_, *this);  // it was dropped meanwhile
  release();
}

/// In what is left of the chain, a place whose handler has ended; null if there is none.
[[gnu::noinline]] inline ending* prompt::first_lost() const noexcept {
  for (continuation at = leaf_;;) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
    } else {
      ending& e = at.end();
      if (e.as_prompt() == this) return nullptr;
      if (e.lost()) return &e;
      at = e.outside();
    }
  }
}

/// Ends the place of a coroutine clause in the chain that holds it, if it is suspended in one.
[[gnu::noinline]] inline void cut_chain_of(ending& clause,
                                           std::string_view const& handler) noexcept {
  for (continuation at = clause.outside(); !at.is_ordinary_code();) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
    } else if (prompt* const p = at.end().as_prompt()) {
      if (p->may_be_cut())
        p->cut(clause, handler);
      else if (p->held_by())
        p->held_by()->cut(clause, handler);
      return;
    } else {
      at = at.end().outside();
    }
  }
}

// ---- is everything there?

[[gnu::noinline]] inline void prompt::check_outers() {
  unsigned const losses = losses_.load(std::memory_order_relaxed);  // as in require_open
  std::vector<prompt const*> outers;
  add_outers(outers);
  std::unordered_set<prompt const*> seen(outers.begin(), outers.end());
  for (std::size_t i = 0; i != outers.size(); ++i) {
    prompt const& outer = *outers[i];
    if (outer.handler_is_gone()) throw_expired(outer.handler_name());
    if (!outer.fragile_) continue;
    std::size_t const known = outers.size();
    outer.add_outers(outers);
    outers.erase(std::remove_if(outers.begin() + static_cast<std::ptrdiff_t>(known), outers.end(),
                                [&seen](prompt const* p) { return !seen.insert(p).second; }),
                 outers.end());
  }
  checked_ = losses;
}

// ---- messages

[[noreturn, gnu::cold, gnu::noinline]] inline void prompt::throw_expired(
    std::string_view handler) const {
  throw resumption_expired(
      "weft: the handler " + std::string(handler) + " is no more, so what was suspended by " +
      std::string(operation_->name) + " at " + detail::text(where()) + " cannot be resumed");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void prompt::throw_gone(
    std::string_view what, std::source_location where) const {
  throw resumption_expired("weft: " + std::string(what) + " at " + detail::text(where) +
                           " found its handler " + std::string(handler_name()) + " gone");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void prompt::throw_across(
    std::string_view operation, std::source_location where) const {
  throw needs_control("weft: " + std::string(operation) + " at " + detail::text(where) +
                      " would suspend ordinary code: its handler " + std::string(handler_name()) +
                      " takes the resumption, and stands outside a run() or resume() that drives, "
                      "or is not active here");
}

}  // namespace weft::detail
