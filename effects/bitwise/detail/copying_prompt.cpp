// SPDX-License-Identifier: MIT
#include "weft/effects/bitwise/detail/copying_prompt.hpp"

#include <coroutine>
#include <cstddef>
#include <string>
#include <utility>

#include "weft/effects/bitwise/detail/copied_capture.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/memory/frame_arena.hpp"

namespace weft::detail {

// ---- a run

copying_prompt::copying_prompt() { recording_ |= itself_records; }
copying_prompt::~copying_prompt() {
  change_origin(nullptr);
  if (is_at_home()) frames.abandon(place_);
  delete next_;
  while (copied_capture* const c = spares_) {
    spares_ = c->next_spare_;
    delete c;
  }
}

void copying_prompt::finish() noexcept {
  end_unseen();
  note_thread();
  occupant_ = nullptr;
  forget_origin();
  lose_handler_if_over();
  release();
}
void copying_prompt::end_of_handler() noexcept {
  over_ = true;
  keep();
  prompt::end_of_handler();
  occupant_ = nullptr;
  lose_handler();
  release();
}
void copying_prompt::lose_handler_if_over() noexcept {
  if (borrowed_ && captures_ == 0 && is() == state::ended && is_shared()) lose_handler();
}

continuation copying_prompt::dropped() noexcept {
  continuation const waiter = outside();
  finish();
  return waiter;
}
continuation copying_prompt::drop_before(continuation outside, bool) noexcept {
  return drop(), outside;
}

// ---- the origin (BITWISE-5)

void copying_prompt::forget_origin() noexcept {
  change_origin(nullptr);
  place_.forget_mark();
}
void copying_prompt::set_origin(copied_capture& c) noexcept {
  change_origin(&c);
  place_.mark();
}
void copying_prompt::change_origin(copied_capture* c) noexcept {
  if (origin_is_spare_) put_spare(*origin_);
  origin_is_spare_ = false;
  origin_ = c;
}

// ---- capturing

copied_capture& copying_prompt::take_spare() {
  if (!spares_) [[unlikely]]
    spares_ = make_capture();
  return *std::exchange(spares_, spares_->next_spare_);
}
[[gnu::noinline]] copied_capture* copying_prompt::make_capture() {
  return new copied_capture(*this);
}
void copying_prompt::put_spare(copied_capture& c) noexcept {
  c.next_spare_ = std::exchange(spares_, &c);
}

void copying_prompt::claim(std::coroutine_handle<> leaf, site const& at) {
  if (!is_at_home()) throw_uncopyable(at, "its body has been on another thread");
  if (!next_) next_ = &take_spare();  // else next_ is left from a claim() that led to no capture
  next_->look_at_chain(leaf, *this, place_, origin_, at);
}

shared_capture copying_prompt::captured(captured_frames rest) noexcept {
  (void)rest.release();
  copied_capture* const c = std::exchange(next_, nullptr);
  c->leaf_ = leaf();
  c->waiting_ = &waiting();
  c->inner_ = inner_;
  occupant_ = c;
  ++captures_;
  return shared_capture(c);
}

// ---- going back

captured_frames copying_prompt::go_back_to(copied_capture& c, bool last) {
  if (!is_at_home()) [[unlikely]]
    throw_in_use(c.at_);
  if (over_ || (&c != occupant_ && !c.image_.is_there())) [[unlikely]]
    throw_over(c.at_);
  require_outers();
  if (&c == occupant_) {
    require_open();
    if (last) {
      c.is_owner_ = false;
      occupant_ = nullptr;
      return captured_frames(*this);
    }
    place_.save(c.image_);
  } else {
    if (is() != state::ended || place_.alive() != 0) [[unlikely]]
      make_room(c);
    place_.restore(c.image_);
    c.for_each_outside([](prompt& p) { p.keep(); });
    held_by_now(nullptr);
    suspend_again(c.leaf_, *c.waiting_, *c.at_.operation, c.inner_);
  }
  keep();
  set_origin(c);
  occupant_ = nullptr;
  return captured_frames(*this);
}

/// Empties the place, so that `c` can be restored there.  A suspended run that a capture can go
/// back to is saved first.  Throws frames_in_use if the place has contents that can be neither
/// saved nor dropped.
[[gnu::noinline]] void copying_prompt::make_room(copied_capture const& c) {
  if (is() == state::ended || !occupant_) throw_in_use(c.at_);
  if (is() != state::suspended) {  // a handler inside has ended: the remainder can only be dropped
    keep();                        // drop() gives up a count; the occupant keeps its own
    occupant_ = nullptr;
    drop();
    if (place_.alive() != 0) throw_in_use(c.at_);  // the chain is being cut
    return;
  }
  if (!occupant_->image_.is_there()) place_.save(occupant_->image_);
  occupant_->for_each_outside([](prompt& p) { p.release(); });
  place_.clear();
  end_unseen();
  occupant_ = nullptr;
  forget_origin();
}

void copying_prompt::throw_over(site const& at) const {
  throw resumption_expired(
      "weft: the handler " + std::string(handler_name()) +
      ", or one inside it, no longer exists, so the continuation suspended by " + at.text() +
      " cannot be resumed");
}
void copying_prompt::throw_in_use(site const& at) const {
  std::string const start =
      "weft: the continuation suspended by " + at.text() + " cannot be resumed ";
  if (!is_at_home())
    throw frames_in_use(start + "bitwise on another thread, nor after its body has been on one");
  throw frames_in_use(start + "bitwise now: the body of " + std::string(handler_name()) +
                      " runs, or is suspended outside, in the place of its frames");
}

// ---- releasing a capture

/// Called when no owner can go back to `c` any more: releases what it holds, and keeps `c` for
/// reuse.
void copying_prompt::forget(copied_capture& c) noexcept {
  if (!is_at_home()) return;  // this thread may touch nothing of the body (BITWISE-3)
  --captures_;
  c.image_.clear();
  bool const is_owner = std::exchange(c.is_owner_, true);
  c.renew();
  bool const is_occupant = occupant_ == &c;
  if (is_occupant) occupant_ = nullptr;
  if (origin_ == &c)
    origin_is_spare_ = true;  // not reused yet: tells which frames have not run (BITWISE-5)
  else
    put_spare(c);
  lose_handler_if_over();
  if (is_occupant)
    drop();
  else if (is_owner)
    release();
}

/// Destroys the frames that have run since the origin, and forgets the others (BITWISE-5).  If the
/// origin does not tell which have run, destroys all.
void copying_prompt::unwind_body() noexcept {
  if (!origin_ || is() != state::suspended || !is_at_home() || !origin_->has_its_prompts(place_))
    return (void)unwind_suspended();
  bool may_forget = true;
  for (continuation at = leaf();;) {
    if (!at.is_frame()) {
      frame_end& e = at.end();
      if (&e == this) return (void)e.dropped();
      at = e.dropped();
      continue;
    }
    void* const block = at.frame().address();
    std::size_t const marked = place_.as_marked();
    bool const is_as_marked =
        place_.contains(block) && place_.is_as_marked(frame_arena::header_of(block).number);
    at = frame_unwinder().destroy(at.frame(), false);
    if (!is_as_marked || !may_forget) continue;
    if (place_.alive() == marked - 1) break;
    may_forget = false;  // the arena has a block that is not of the chain
  }
  origin_->for_each_outside([](prompt& p) { p.release(); });
  place_.clear();
  finish();
}

// ---- captures

captured_frames copied_capture::frames_here(bool last) { return prompt_.go_back_to(*this, last); }
prompt const* copied_capture::prompt_here() const noexcept {
  return prompt_.is() == suspension::state::suspended ? &prompt_ : nullptr;
}
void copied_capture::spent() noexcept { prompt_.forget(*this); }

}  // namespace weft::detail
