// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "effects/detail/capture.hpp"
#include "effects/detail/copied_capture.hpp"
#include "effects/detail/operation_info.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/errors.hpp"
#include "effects/memory/frame_arena.hpp"
#include "effects/memory/frame_pool.hpp"

/// A prompt that returns to a capture of its body by copying the frames back.
///
///   BITWISE-1  All runs of the body use one place: this prompt, and its arena.  At any time there
///       is nothing in it (the prompt has `ended`), or one run, active or suspended.  If the run is
///       suspended and a capture can go back to this point, that capture is the `occupant_`.
///   BITWISE-2  A capture owns one count of the prompt, and so does a run.  The occupant and its
///       run share one count.
///   BITWISE-3  Frames and captures belong to the thread on which the body began.  Once the body
///       has continued, or ended, on another thread, the state of its frames is not known.  Then no
///       capture can go back, and the arena is never deleted.
///   BITWISE-4  A capture saves the arena as late as possible: before a run continues from it, if
///       it may be needed again; or, while it is the occupant, when it has to make room for
///       another.
///   BITWISE-5  `origin_`, if not null, is the capture from which the present run continued; the
///       arena was marked then.  A frame runs only when the frame inside it has ended.  So of the
///       frames that are as they were marked, only the innermost can have run since.  The others
///       need not be destroyed, because they are trivially copyable.
namespace weft::detail {

class copying_prompt : public prompt {
 public:
  void step_in() noexcept {
    prompt::step_in();
    arena_ = &place_;
  }
  /// Prepares a capture of the operation `at` from `leaf`.  Throws uncopyable if the chain cannot
  /// be copied.
  void claim(std::coroutine_handle<> leaf, site const& at);
  /// Called when the chain has been captured: returns the capture, to which the run's count moves
  /// (BITWISE-2).
  [[nodiscard]] shared_capture captured(captured_frames rest) noexcept {
    (void)rest.release();
    copied_capture* const c = next_.release();
    c->leaf_ = leaf();
    c->waiting_ = &waiting();
    c->inner_ = inner_;
    if (rebinds_) c->bound_ = slots()->bound();
    occupant_ = c;
    ++captures_;
    return shared_capture(c);
  }

  continuation dropped() noexcept override {
    continuation const waiter = outside();
    finish();
    return waiter;
  }
  continuation drop_before(continuation outside, bool) noexcept override { return drop(), outside; }

 protected:
  copying_prompt() { records_ = true; }
  ~copying_prompt() override {
    change_origin(nullptr);
    if (is_at_home()) frames.abandon(place_);
  }

  /// Ends a run, of which no frames are left.
  void finish() noexcept {
    end_unseen();
    has_been_away_ = !is_at_home();
    occupant_ = nullptr;
    forget_origin();
    lose_handler_if_over();
    release();
  }
  /// Called when the region or the borrow scope of the handler ends.
  void end_of_handler() noexcept {
    over_ = true;
    keep();
    prompt::end_of_handler();
    occupant_ = nullptr;
    lose_handler();
    release();
  }

  bool rebinds_ = false;  // the prompt has slots (binding.hpp)

 private:
  friend class copied_capture;

  [[nodiscard]] bool is_at_home() const noexcept {  // on the body's own thread (BITWISE-3)
    return !has_been_away_ && frames.has(place_);
  }
  void answered() noexcept override { has_been_away_ = !is_at_home(); }
  void forget_origin() noexcept {
    change_origin(nullptr);
    place_.forget_mark();
  }
  void set_origin(copied_capture& c) noexcept {
    change_origin(&c);
    place_.mark();
  }
  void change_origin(copied_capture* c) noexcept {
    if (origin_is_spare_) spares_.emplace_back(origin_);
    origin_is_spare_ = false;
    origin_ = c;
  }
  void lose_handler_if_over() noexcept {
    if (borrowed_ && captures_ == 0 && is() == state::ended && is_shared()) lose_handler();
  }
  std::unique_ptr<copied_capture> take_spare();
  captured_frames go_back_to(copied_capture& c, bool last, bool by_place);
  void make_room(copied_capture const& c);
  void forget(copied_capture& c) noexcept;
  void unwind_body() noexcept override;
  [[noreturn]] void throw_in_use(site const& at) const;

  frame_arena& place_ = frames.make_arena(arena_here);
  bool has_been_away_ = false;            // on another thread (BITWISE-3)
  copied_capture* occupant_ = nullptr;    // of the suspended run (BITWISE-1)
  copied_capture* origin_ = nullptr;      // where this run continued from (BITWISE-5)
  bool origin_is_spare_ = false;          // only we refer to origin_, which may be reused
  std::size_t captures_ = 0;              // the number of captures that exist
  bool over_ = false;                     // the handler has ended
  std::unique_ptr<copied_capture> next_;  // the one that claim() has prepared
  std::vector<std::unique_ptr<copied_capture>> spares_;
};

inline captured_frames copied_capture::frames_here(bool last, bool by_place) {
  return prompt_.go_back_to(*this, last, by_place);
}
inline void copied_capture::spent() noexcept { prompt_.forget(*this); }

// ---- capturing

inline std::unique_ptr<copied_capture> copying_prompt::take_spare() {
  if (spares_.empty()) {
    spares_.reserve(2 * captures_ + 2);  // room for all captures
    return std::make_unique<copied_capture>(*this);
  }
  auto c = std::move(spares_.back());
  spares_.pop_back();
  return c;
}

inline void copying_prompt::claim(std::coroutine_handle<> leaf, site const& at) {
  if (!is_at_home()) throw_uncopyable(at, "its body has been on another thread");
  next_ = take_spare();
  next_->look_at_chain(leaf, *this, place_, origin_, at);
}

// ---- going back

inline captured_frames copying_prompt::go_back_to(copied_capture& c, bool last, bool by_place) {
  if (!is_at_home()) throw_in_use(c.at_);
  if (over_ || (&c != occupant_ && !c.image_.is_there()))
    throw resumption_expired(
        "weft: the handler " + std::string(handler_name()) +
        ", or one inside it, no longer exists, so the continuation suspended by " + c.at_.text() +
        " cannot be resumed");
  if (!rebinds_) require_outers();
  if (&c == occupant_) {
    require_open(by_place);
    if (last) {
      c.is_owner_ = false;
    } else {
      place_.save(c.image_);
      keep();
      set_origin(c);
    }
  } else {
    make_room(c);
    if (rebinds_) by_place ? slots()->rebind(*this, c.bound_) : slots()->bind(c.bound_);
    place_.restore(c.image_);
    for (prompt* const p : c.outside_) p->keep();
    held_by_now(nullptr);
    suspend_again(c.leaf_, *c.waiting_, *c.at_.operation, c.inner_);
    keep();
    set_origin(c);
  }
  occupant_ = nullptr;
  return captured_frames(*this);
}

/// Empties the place, so that `c` can be restored there.  Contents that a capture can go back to
/// are saved first.  Throws frames_in_use if the place holds a run to which no capture can go back.
inline void copying_prompt::make_room(copied_capture const& c) {
  if (is() == state::ended) {
    if (place_.alive() != 0) throw_in_use(c.at_);
    return;
  }
  if (!occupant_) throw_in_use(c.at_);
  if (is() != state::suspended) {  // a handler inside has ended: the remainder can only be dropped
    keep();                        // drop() gives up a count; the occupant keeps its own
    occupant_ = nullptr;
    drop();
    if (place_.alive() != 0) throw_in_use(c.at_);  // the chain is being cut
    return;
  }
  if (!occupant_->image_.is_there()) place_.save(occupant_->image_);
  for (prompt* const p : occupant_->outside_) p->release();
  place_.clear();
  end_unseen();
  occupant_ = nullptr;
  forget_origin();
}

[[noreturn, gnu::cold, gnu::noinline]] inline void copying_prompt::throw_in_use(
    site const& at) const {
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
inline void copying_prompt::forget(copied_capture& c) noexcept {
  if (!is_at_home()) return;  // BITWISE-3: nothing may be touched from here
  --captures_;
  c.image_.clear();
  c.bound_ = {};
  bool const is_owner = std::exchange(c.is_owner_, true);
  c.renew();
  bool const is_occupant = occupant_ == &c;
  if (is_occupant) occupant_ = nullptr;
  if (origin_ == &c)
    origin_is_spare_ = true;  // it still tells which frames have not run
  else
    spares_.emplace_back(&c);  // take_spare() has reserved the room
  lose_handler_if_over();
  if (is_occupant)
    drop();
  else if (is_owner)
    release();
}

/// Destroys the frames that have run since the origin, and forgets the others (BITWISE-5).
inline void copying_prompt::unwind_body() noexcept {
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
  for (prompt* const p : origin_->outside_) p->release();
  place_.clear();
  finish();
}

}  // namespace weft::detail
