// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "effects/detail/frame.hpp"
#include "effects/detail/names.hpp"
#include "effects/errors.hpp"

/// A prompt: one run of a body under a handler.
///
///   P1  A prompt is counted by its body until that ends, by its resumption, by each inner prompt
///       that can perform to it, by each coroutine clause that is not done.
///   P2  `current` is the chain of prompts that are active on this thread, up to the nearest
///       ordinary code that drives.  Capturing walks it from the innermost to the handler's prompt:
///       no step for the nearest.  A prompt that is not on it cannot be captured to.
///   P3  While a prompt is suspended, [innermost, itself] is a chain of suspended frames and
///       prompts; the prompts inside have `held_by` it, until they are captured otherwise.  One
///       resumption owns the chain.
///   P4  Each resume says anew who waits for the answer (`who`, `to`).
///   P5  A prompt that has ended has no frames left.  If its handler was borrowed, and others can
///       still perform to it, their operations are answered with resumption_expired from then on.
namespace weft::detail {

class prompt : public ending, public pooled {
 public:
  enum class state : unsigned char {
    active,
    suspended,
    cut,  // suspended, and a region inside has ended: can only be dropped
    ended
  };

  prompt(prompt const&) = delete;
  prompt& operator=(prompt const&) = delete;

  // ---- counted (P1)

  void keep() noexcept { ++owners_; }
  void release() noexcept {
    if (--owners_ == 0) [[unlikely]]
      destroy();
  }

  // ---- running

  /// Waits for the answer: `to` gets it, then `who` goes on (P4).
  void aim(continuation who, awaited& to) noexcept {
    who_ = who;
    to_ = &to;
  }
  /// Becomes the innermost active prompt, with a body that has not started.
  void step_in() noexcept { up_ = std::exchange(current_, this); }

  /// Suspends the chain from `leaf`, which performs `operation` and waits in `waiting`, up to here.
  /// Throws needs_control if that would have to cross ordinary code.
  void capture(std::coroutine_handle<> leaf, awaited& waiting, std::string_view const& operation) {
    inner_records_ = false;
    if (current_ != this) [[unlikely]]
      capture_through(operation, waiting.where);
    is_ = state::suspended;
    held_by_ = nullptr;
    leaf_ = leaf;
    waiting_ = &waiting;
    operation_ = &operation;
    inner_ = std::exchange(current_, up_);
  }
  /// The captured chain goes on: the frame to go on with.
  [[nodiscard]] std::coroutine_handle<> activate() noexcept {
    is_ = state::active;
    up_ = std::exchange(current_, inner_);
    if (records_ || inner_records_) [[unlikely]]
      tell_recorders();
    return leaf_.frame();
  }
  /// Throws resumption_expired unless this may be resumed.
  void require_open() const {
    if (is_ != state::suspended) [[unlikely]]
      throw_expired(*this);
    if (fragile_) [[unlikely]]
      if (auto const* gone = first_gone_outer()) throw_expired(*gone);
  }
  /// Throws resumption_expired if the handler must not be touched any more.
  void require_handler() const {
    if (expired_) [[unlikely]]
      throw_gone("on_return", to_->where);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void throw_gone(std::string_view what,
                                                         std::source_location where) const {
    throw resumption_expired("weft: " + std::string(what) + " at " + detail::text(where) +
                             " found its handler " + std::string(handler_name()) + " gone");
  }
  /// Destroys the suspended chain, and releases.
  [[gnu::noinline]] void drop() noexcept {
    unwind_rest();
    release();
  }

  // ---- what is known

  [[nodiscard]] state is() const noexcept { return is_; }
  /// The handler must not be touched any more.
  [[nodiscard]] bool handler_is_gone() const noexcept {
    return expired_ || (borrowed_ && is_ == state::ended);
  }
  [[nodiscard]] bool handler_may_go() const noexcept { return borrowed_ || fragile_; }
  [[nodiscard]] continuation outside() const noexcept override { return who_; }
  [[nodiscard]] awaited& to() const noexcept { return *to_; }
  [[nodiscard]] std::coroutine_handle<> leaf() const noexcept { return leaf_.frame(); }
  /// Suspended: at which operation, and where that is.
  [[nodiscard]] std::string_view operation() const noexcept { return *operation_; }
  [[nodiscard]] std::source_location where() const noexcept { return waiting_->where; }
  [[nodiscard]] awaited& waiting() const noexcept { return *waiting_; }
  [[nodiscard]] virtual std::string_view handler_name() const noexcept = 0;
  /// Where `handle` stands.
  [[nodiscard]] virtual std::source_location installed_at() const noexcept = 0;
  [[nodiscard]] std::string text() const override {
    return std::string(handler_name()) + " at " + detail::text(installed_at());
  }
  /// A prompt further out whose borrowed handler is no more; null if there is none.
  [[nodiscard]] virtual prompt const* first_gone_outer() const noexcept = 0;

  /// Ordinary code that drives: prompts outside cannot be captured to from inside (P2).
  class driver {
   public:
    driver() noexcept : outside_(std::exchange(current_, nullptr)) {}
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;
    ~driver() { current_ = outside_; }

   private:
    prompt* outside_;
  };

  /// Destroyed, not ended: by unwind(), of which we are a part.
  continuation dropped() noexcept override {
    continuation const outside = who_;
    finish();
    return outside;
  }

 protected:
  prompt() noexcept : to_(nullptr) {}
  virtual ~prompt() = default;

  /// The body has ended, its result is here: current again is who stands outside.
  void step_out() noexcept { current_ = up_; }
  /// No frames are left (P5).
  void finish() noexcept {
    is_ = state::ended;
    if (borrowed_ && owners_ > 1) [[unlikely]]
      end_evidence();
    leave_region();
    release();
  }
  void unwind_rest() noexcept {
    if (is_ == state::suspended || is_ == state::cut) {
      lose_leaf();
      is_ = state::ended;
      unwind(leaf_, *this);
    }
  }
  /// The region or the loan of the handler ends before the body has.
  void end_of_handler() noexcept {
    keep();
    leave_region();
    if (is_ == state::suspended || is_ == state::cut) {
      unwind_rest();
    } else if (is_ == state::active) {
      expired_ = true;
      end_evidence();
      if (held_by_ && held_by_->may_be_cut()) held_by_->cut(*this);
    }
    release();
  }

  /// From now on operations to the handler are answered with resumption_expired.
  virtual void end_evidence() noexcept = 0;
  virtual void leave_region() noexcept {}
  /// The answer that the innermost frame waits for has been filled in.
  virtual void answered() noexcept {}

  bool borrowed_ = false;  // the handler
  bool fragile_ = false;   // a handler further out is borrowed: it may end before our resumption
  bool records_ = false;   // hears answered()
  bool inner_records_ = false;  // so does one that we hold
  bool expired_ = false;        // the handler ended before the body

 private:
  [[gnu::noinline]] void destroy() noexcept { delete this; }
  [[noreturn, gnu::cold, gnu::noinline]] void throw_expired(prompt const& gone) const {
    throw resumption_expired("weft: the handler " + std::string(gone.handler_name()) +
                             " is no more, so what was suspended by " + std::string(*operation_) +
                             " at " + detail::text(where()) + " cannot be resumed");
  }
  [[gnu::noinline]] void capture_through(std::string_view operation, std::source_location where) {
    for (prompt* p = current_; p != this; p = p->up_) {
      if (!p) {
        for (prompt* held = current_; held; held = held->up_) held->held_by_ = nullptr;
        throw_across(operation, where);
      }
      inner_records_ |= p->records_;
      p->held_by_ = this;
    }
  }
  [[noreturn, gnu::cold, gnu::noinline]] void throw_across(std::string_view operation,
                                                           std::source_location where) const {
    throw needs_control("weft: " + std::string(operation) + " at " + detail::text(where) +
                        " would suspend ordinary code: its handler " + std::string(handler_name()) +
                        " takes the resumption, and stands outside a run() or resume() that "
                        "drives, or is not active here");
  }
  [[gnu::noinline]] void tell_recorders() noexcept {
    for (prompt* p = inner_; p != this; p = p->up_)
      if (p->records_) p->answered();
    if (records_) answered();
  }
  /// The leaf is to be destroyed, and with it who waits there; messages will want to know where.
  void lose_leaf() noexcept { waiting_ = std::construct_at(&lost_, *waiting_); }
  [[nodiscard]] bool may_be_cut() const noexcept {
    return is_ == state::suspended || is_ == state::cut;
  }
  /// The region of `part`, which we hold, has ended: unwinds that much.
  void cut(prompt& part) noexcept {
    is_ = state::ended;  // meanwhile not to be cut again
    lose_leaf();
    leaf_ = unwind(leaf_, part);
    is_ = state::cut;
  }

  static inline thread_local constinit prompt* current_ = nullptr;  // P2

  unsigned owners_ = 1;  // P1
  state is_ = state::active;
  continuation who_;  // P4
  union {
    awaited* to_;   // P4; an answer<A>
    awaited lost_;  // the leaf was destroyed before it was resumed: where it waited
  };
  continuation leaf_;  // suspended: the innermost frame; cut: what is left
  std::string_view const* operation_ = nullptr;  // that suspended us last
  awaited* waiting_ = nullptr;                   // suspended: the answer<R> in the innermost frame
  prompt* inner_ = nullptr;                      // suspended: the innermost prompt of the chain
  prompt* up_ = nullptr;                         // active: the next one outwards
  prompt* held_by_ = nullptr;                    // P3
};

/// Keeps a prompt, and the handler that it owns, for a while.
template <bool Needed>
class kept_prompt {
 public:
  explicit kept_prompt(prompt& p) noexcept : prompt_(p) { p.keep(); }
  kept_prompt(kept_prompt const&) = delete;
  kept_prompt& operator=(kept_prompt const&) = delete;
  ~kept_prompt() { prompt_.release(); }

 private:
  prompt& prompt_;
};
template <>
class kept_prompt<false> {
 public:
  explicit kept_prompt(prompt&) noexcept {}
};

}  // namespace weft::detail
