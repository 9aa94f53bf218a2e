// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "effects/detail/capture.hpp"
#include "effects/detail/frame_arena.hpp"
#include "effects/detail/frame_pool.hpp"
#include "effects/detail/operation_info.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/errors.hpp"

/// A prompt that goes back to where its body was captured, by putting the frames back.
///
///   Z1  All runs of the body use one place: this prompt, and its arena.  There, at a time, is
///       nothing (the prompt has `ended`), or one run, which runs or is suspended.  If a capture
///       can go back to that suspension, it is the `occupant_`.
///   Z2  A capture counts as one owner of the prompt, and so does a run.  For the occupant and its
///       run that is the same one.
///   Z3  What is alive in the arena when the body is captured is the chain, and nothing else.
///   Z4  Before a run goes on from a capture that may be needed again, the arena is saved.  The
///       occupant's need not be, until it has to make room.
///   Z5  `origin_`, if it is there, is the capture that the present run went on from; the arena was
///       marked then.  A frame runs only when the one inside it has ended: so from the second one
///       on, counted from inside, what is still as marked has not run, and need not be destroyed,
///       since it is trivially copyable.
namespace weft::detail {

class copying_prompt;

/// A capture of such a prompt.  One thread.
class copied_capture final : public capture {
 public:
  explicit copied_capture(copying_prompt& p) noexcept : prompt_(p) {}

  [[nodiscard]] chain frames_here(bool last) override;

 private:
  friend class copying_prompt;
  void spent() noexcept override;
  static constexpr auto none = static_cast<std::uint32_t>(-1);

  copying_prompt& prompt_;
  frame_arena::image image_;  // Z4
  std::coroutine_handle<> leaf_;
  awaited* waiting_ = nullptr;
  site at_{};
  prompt* inner_ = nullptr;
  std::uint32_t prompt_number_ = none;  // the block of the innermost prompt in the chain
  std::vector<prompt*> inside_;         // the prompts in the chain
  std::vector<prompt*> outside_;        // those further out that they count, as often as they do
  bool is_owner_ = true;                // Z2
};

class copying_prompt : public prompt {
 public:
  void step_in() noexcept {
    prompt::step_in();
    arena_ = &place_;
  }
  /// Before the operation `at` is captured from `leaf`.  Throws uncopyable.
  void claim(std::coroutine_handle<> leaf, site const& at);
  /// After it: the run's ownership goes with the capture (Z2).
  [[nodiscard]] shared_capture captured(chain rest) noexcept {
    (void)rest.release();
    copied_capture* const c = next_.release();
    c->leaf_ = leaf();
    c->waiting_ = &waiting();
    c->inner_ = inner_;
    occupant_ = c;
    ++captures_;
    return shared_capture(c);
  }

  continuation dropped() noexcept override {
    continuation const who = outside();
    finish();
    return who;
  }

 protected:
  copying_prompt() = default;
  ~copying_prompt() override {
    change_origin(nullptr);
    if (is_at_home()) home_.abandon(place_);
  }

  /// The run has no frames left.
  void finish() noexcept {
    end_unseen();
    occupant_ = nullptr;
    forget_origin();
    lose_handler_if_over();
    release();
  }
  /// The region or the loan of the handler ends.
  void end_of_handler() noexcept {
    over_ = true;
    keep();
    prompt::end_of_handler();
    occupant_ = nullptr;
    lose_handler();
    release();
  }

 private:
  friend class copied_capture;

  [[nodiscard]] bool is_at_home() const noexcept { return &home_ == &frames; }
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
  /// Whether all prompts that were in the chain are (Z5).
  [[nodiscard]] bool has_prompts_of(copied_capture const& c) const noexcept {
    return c.inside_.empty() || place_.is_as_marked(c.prompt_number_);
  }
  void look_at_chain(copied_capture& c, std::coroutine_handle<> leaf) const;
  void add_prompt(copied_capture& c, prompt& p, frame_arena::header const& h) const;

  chain go_back_to(copied_capture& c, bool last);
  void make_room(copied_capture const& c);
  void forget(copied_capture& c) noexcept;
  void unwind_body() noexcept override;
  [[noreturn]] void throw_in_use(site const& at) const;

  frame_pool& home_ = frames;
  frame_arena& place_ = home_.make_arena(arena_here);
  copied_capture* occupant_ = nullptr;    // Z1
  copied_capture* origin_ = nullptr;      // Z5
  bool origin_is_spare_ = false;          // nobody else refers to it
  std::size_t captures_ = 0;              // there are
  bool over_ = false;                     // there is no handler any more
  std::unique_ptr<copied_capture> next_;  // claimed
  std::vector<std::unique_ptr<copied_capture>> spares_;
};

inline chain copied_capture::frames_here(bool last) { return prompt_.go_back_to(*this, last); }
inline void copied_capture::spent() noexcept { prompt_.forget(*this); }

// ---- capturing

inline std::unique_ptr<copied_capture> copying_prompt::take_spare() {
  if (spares_.empty()) {
    spares_.reserve(2 * captures_ + 2);  // room for all that there are
    return std::make_unique<copied_capture>(*this);
  }
  auto c = std::move(spares_.back());
  spares_.pop_back();
  return c;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_uncopyable(site const& at,
                                                                    std::string const& why) {
  throw uncopyable("weft: " + at.text() + " cannot be captured bitwise: " + why);
}

inline void copying_prompt::claim(std::coroutine_handle<> leaf, site const& at) {
  if (!is_at_home()) throw_uncopyable(at, "its body was begun on another thread");
  next_ = take_spare();
  next_->at_ = at;
  look_at_chain(*next_, leaf);
}

/// Checks that all of it can be copied, and notes the prompts.  O(frames that have run since the
/// capture that this run went on from).
inline void copying_prompt::look_at_chain(copied_capture& c, std::coroutine_handle<> leaf) const {
  c.inside_.clear();
  c.outside_.clear();
  c.prompt_number_ = copied_capture::none;
  bool const knows_rest = origin_ && has_prompts_of(*origin_);
  std::size_t blocks = 0;
  for (continuation next = leaf;;) {
    if (!next.is_frame() && &next.end() == this) break;
    prompt* const p = next.is_frame() ? nullptr : next.end().as_copyable();
    if (!p && !next.is_frame())
      throw_uncopyable(c.at_, next.end().text() +
                                  " stands between it and its handler, and it or what it holds is "
                                  "not trivially copyable");
    void* const block = p ? dynamic_cast<void*>(p) : next.frame().address();
    auto const where = [&] {
      return p ? p->text()
               : "the coroutine awaited at " + detail::text(frame_of(next.frame()).to->where);
    };
    if (!place_.contains(block))
      throw_uncopyable(c.at_, where() + " was not begun by its body, or before it");
    frame_arena::header const& h = frame_arena::header_of(block);
    if (knows_rest && place_.is_as_marked(h.number)) {
      blocks += h.number + 1;
      if (!origin_->inside_.empty()) {
        if (c.inside_.empty()) c.prompt_number_ = origin_->prompt_number_;
        c.inside_.insert(c.inside_.end(), origin_->inside_.begin(), origin_->inside_.end());
      }
      break;
    }
    if (h.owns)
      throw_uncopyable(c.at_, where() + " has a parameter that is not trivially copyable");
    ++blocks;
    if (p) {
      if (c.inside_.empty()) c.prompt_number_ = h.number;
      c.inside_.push_back(p);
      next = p->outside();
    } else {
      next = frame_of(next.frame()).parent;
    }
  }
  if (blocks != place_.alive())
    throw_uncopyable(c.at_,
                     "its body has begun something else that waits, a computation that was not "
                     "awaited or a resumption");
  for (prompt const* const p : c.inside_) p->add_outers(c.outside_);
  std::erase_if(c.outside_,
                [&c](prompt* p) { return std::ranges::find(c.inside_, p) != c.inside_.end(); });
}

// ---- going back

inline chain copying_prompt::go_back_to(copied_capture& c, bool last) {
  if (!is_at_home()) throw_in_use(c.at_);
  if (over_ || (&c != occupant_ && !c.image_.is_there()))
    throw resumption_expired("weft: the handler " + std::string(handler_name()) +
                             " is no more, so what was suspended by " + c.at_.text() +
                             " cannot be resumed");
  require_outers();
  if (&c == occupant_) {
    require_open();
    if (last) {
      c.is_owner_ = false;
    } else {
      place_.save(c.image_);
      keep();
      set_origin(c);
    }
  } else {
    make_room(c);
    place_.restore(c.image_);
    for (prompt* const p : c.outside_) p->keep();
    suspend_again(c.leaf_, *c.waiting_, *c.at_.operation, c.inner_);
    keep();
    set_origin(c);
  }
  occupant_ = nullptr;
  return chain(*this);
}

/// Saves what is in the place, if anything can go back to it.  Throws frames_in_use if not.
inline void copying_prompt::make_room(copied_capture const& c) {
  if (is() == state::ended) {
    if (place_.alive() != 0) throw_in_use(c.at_);
    return;
  }
  if (!occupant_) throw_in_use(c.at_);
  if (is() != state::suspended) {  // a handler inside was lost: what is left can only be dropped
    keep();                        // for the occupant, which is not dropped itself
    occupant_ = nullptr;
    return drop();
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
  std::string const start = "weft: what was suspended by " + at.text() + " cannot be resumed ";
  if (!is_at_home()) throw frames_in_use(start + "bitwise on another thread");
  throw frames_in_use(start + "bitwise now: the body of " + std::string(handler_name()) +
                      " runs, or something of it waits elsewhere, in the place of its frames");
}

// ---- being done with it

/// Nobody can go back to `c` any more.
inline void copying_prompt::forget(copied_capture& c) noexcept {
  if (!is_at_home()) return;  // it is lost: nothing may be touched from here
  --captures_;
  c.image_.clear();
  bool const is_owner = std::exchange(c.is_owner_, true);
  c.renew();
  bool const is_occupant = occupant_ == &c;
  if (is_occupant) occupant_ = nullptr;
  if (origin_ == &c)
    origin_is_spare_ = true;  // still good to know where this run came from
  else
    spares_.emplace_back(&c);  // there is room: take_spare() saw to it
  lose_handler_if_over();
  if (is_occupant)
    drop();
  else if (is_owner)
    release();
}

/// Destroys what has run since the origin, and forgets the rest (Z5).
inline void copying_prompt::unwind_body() noexcept {
  if (!origin_ || is() != state::suspended || !has_prompts_of(*origin_)) return unwind_rest();
  for (continuation at = leaf();;) {
    if (!at.is_frame()) {
      ending& e = at.end();
      if (&e == this) return (void)e.dropped();
      at = e.dropped();
      continue;
    }
    void* const block = at.frame().address();
    std::uint32_t number = copied_capture::none;
    if (place_.contains(block)) number = frame_arena::header_of(block).number;
    bool const is_last = place_.is_as_marked(number);
    frame& f = frame_of(at.frame());
    at = f.parent;
    f.to = nullptr;
    std::coroutine_handle<>::from_address(block).destroy();
    if (is_last && place_.alive() == number) break;
  }
  for (prompt* const p : origin_->outside_) p->release();
  place_.clear();
  finish();
}

}  // namespace weft::detail
