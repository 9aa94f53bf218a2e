// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "effects/detail/capture.hpp"
#include "effects/detail/copied_chain.hpp"
#include "effects/detail/frame_pool.hpp"
#include "effects/detail/operation_info.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/errors.hpp"

/// A prompt that goes back to where its body was captured, by putting the frames back.
///
///   Z1  All runs of the body use one place: the same prompt, the same blocks.  There, at a time,
///   is
///       nothing (the prompt has `ended`), or one run, which runs or is suspended; if a capture can
///       go back to that suspension, that capture is the `occupant_`.
///   Z2  A capture counts as one owner of the prompt, and so does a run.  For the occupant and its
///       run that is the same one.
///   Z3  Before a run goes on from a capture that may be needed again, the frames are saved.  So
///       the occupant's need not be, until it has to make room.
///   Z4  `origin_` is the capture from which the present run went on, while that is there: behind
///       its first frame alive nothing has run since (Y2), and nothing need be destroyed, since it
///       is trivially copyable.
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

  copying_prompt& prompt_;
  copied_chain frames_;
  std::coroutine_handle<> leaf_;
  awaited* waiting_ = nullptr;
  prompt* inner_ = nullptr;
  site at_{};
  bool is_owner_ = true;  // Z2
};

class copying_prompt : public prompt {
 public:
  /// Before the operation `at` is captured from `leaf`.  Throws uncopyable.
  void claim(std::coroutine_handle<> leaf, site const& at) {
    if (!is_at_home())
      throw_uncopyable(at, "another thread", "a body stays on the thread where it began");
    auto c = take_spare();
    c->frames_.claim(leaf, *this, origin_ ? &origin_->frames_ : nullptr, at);
    c->at_ = at;
    next_ = std::move(c);
  }
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
  copying_prompt() { home_->watch(); }
  ~copying_prompt() override {
    spares_.clear();
    next_.reset();
    if (is_at_home()) home_->unwatch();  // else it watches on, in vain
  }

  /// The run has no frames left.
  void finish() noexcept {
    end_unseen();
    occupant_ = origin_ = nullptr;
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

  [[nodiscard]] bool is_at_home() const noexcept { return home_ == &frames; }
  std::unique_ptr<copied_capture> take_spare() {
    if (spares_.empty()) {
      spares_.reserve(2 * captures_ + 2);
      return std::make_unique<copied_capture>(*this);
    }
    auto c = std::move(spares_.back());
    spares_.pop_back();
    return c;
  }
  void lose_handler_if_over() noexcept {
    if (borrowed_ && captures_ == 0 && is() == state::ended && is_shared()) lose_handler();
  }

  chain go_back_to(copied_capture& c, bool last);
  void make_room(copied_capture const& c);
  void forget(copied_capture& c) noexcept;
  void unwind_body() noexcept override;
  [[noreturn]] void throw_in_use(site const& at) const;

  frame_pool* const home_ = &frames;
  copied_capture* occupant_ = nullptr;  // Z1
  copied_capture* origin_ = nullptr;    // Z4
  std::size_t captures_ = 0;
  bool over_ = false;  // there is no handler any more
  std::unique_ptr<copied_capture> next_;
  std::vector<std::unique_ptr<copied_capture>> spares_;
};

// ---- going back

inline chain copied_capture::frames_here(bool last) { return prompt_.go_back_to(*this, last); }
inline void copied_capture::spent() noexcept { prompt_.forget(*this); }

inline chain copying_prompt::go_back_to(copied_capture& c, bool last) {
  if (!is_at_home()) throw_in_use(c.at_);
  if (over_ || (&c != occupant_ && !c.frames_.is_saved()))
    throw resumption_expired("weft: the handler " + std::string(handler_name()) +
                             " is no more, so what was suspended by " + c.at_.text() +
                             " cannot be resumed");
  require_outers();
  if (&c == occupant_) {
    require_open();
    if (!last) {
      c.frames_.save();
      keep();
      origin_ = &c;
    } else {
      c.is_owner_ = false;
    }
  } else {
    make_room(c);
    c.frames_.restore();
    suspend_again(c.leaf_, *c.waiting_, *c.at_.operation, c.inner_);
    keep();
    origin_ = &c;
  }
  occupant_ = nullptr;
  return chain(*this);
}

/// Saves what is in the place, if anything can go back to it.  Throws frames_in_use if not.
inline void copying_prompt::make_room(copied_capture const& c) {
  if (is() == state::ended) return;
  if (!occupant_) throw_in_use(c.at_);
  if (is() != state::suspended) {  // H2: what is left can only be dropped
    keep();                        // for the occupant, which is not dropped itself
    occupant_ = nullptr;
    drop();
    return;
  }
  copied_chain& there = occupant_->frames_;
  if (!there.is_saved()) there.save();
  there.leave();
  end_unseen();
  occupant_ = origin_ = nullptr;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void copying_prompt::throw_in_use(
    site const& at) const {
  std::string const start = "weft: what was suspended by " + at.text() + " cannot be resumed ";
  if (!is_at_home()) throw frames_in_use(start + "bitwise on another thread");
  throw frames_in_use(start + "bitwise now: the body of " + std::string(handler_name()) +
                      " runs, or waits elsewhere, in the place of its frames");
}

// ---- being done with it

/// Nobody can go back to `c` any more.
inline void copying_prompt::forget(copied_capture& c) noexcept {
  --captures_;
  if (origin_ == &c) origin_ = nullptr;
  if (!is_at_home()) return;  // it is lost, and its blocks: nothing else may be touched from here
  c.frames_.clear();
  bool const is_owner = std::exchange(c.is_owner_, true);
  c.renew();
  bool const is_occupant = occupant_ == &c;
  if (is_occupant) occupant_ = nullptr;
  spares_.emplace_back(&c);  // there is room: take_spare() saw to it
  lose_handler_if_over();
  if (is_occupant)
    drop();
  else if (is_owner)
    release();
}

inline void copying_prompt::unwind_body() noexcept {
  block_claim* const last =
      origin_ && is() == state::suspended ? origin_->frames_.first_alive() : nullptr;
  if (!last) return unwind_rest();
  copied_chain& from = origin_->frames_;
  for (continuation at = leaf();;) {
    if (at.is_frame()) {
      frame& f = frame_of(at.frame());
      continuation const up = f.parent;
      f.to = nullptr;
      if (at.frame().address() == last->block) {
        frames.watching().expect_death(last);
        at.frame().destroy();
        frames.watching().expect_death(nullptr);
        break;
      }
      at.frame().destroy();
      at = up;
    } else {
      at = at.end().dropped();
    }
  }
  from.forget_rest();
  finish();
}

}  // namespace weft::detail
