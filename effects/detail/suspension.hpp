// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <source_location>
#include <string>
#include <string_view>

#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/names.hpp"
#include "weft/effects/detail/operation_info.hpp"

/// The holder of a suspended chain: the frame_end at its outer end.
///
///   SUSPENSION-1  While a suspension is suspended, all frames and prompts from its leaf up to the
///       suspension itself are a suspended chain.  held_by() of the prompts inside is this
///       suspension, until they are captured as part of another chain.  One resumption, or one
///       process, owns the chain.
///   SUSPENSION-2  If a handler ends before a chain that goes through it, the chain is cut: unwound
///       up to and including the frame_end of that handler.  The remainder, which is the part
///       further out, can only be dropped.
///   SUSPENSION-3  A frame_end may pin the frames outside it, because open tasks refer to their
///       locals.  A dropped chain is unwound up to the pin; its remainder is unwound when the tasks
///       have ended.  If a clause dropped the chain, the waiter for the clause's answer continues
///       only when the whole chain is unwound (end_of_clause.hpp).
namespace weft::detail {

class prompt;

/// Whether there ever was a pin in this program (SUSPENSION-3).
[[gnu::visibility("default")]] inline constinit std::atomic<bool> some_frame_pins = false;
/// Sets some_frame_pins.  Must be called before a pin is in place.
inline void note_pinning() noexcept {
  // Relaxed, both: a thread that looks for pins in a chain (pinned_by()) has received the chain
  // after this store, by a hand-over that synchronises.
  if (!some_frame_pins.load(std::memory_order_relaxed)) [[unlikely]]
    some_frame_pins.store(true, std::memory_order_relaxed);
}

class suspension : public frame_end {
 public:
  enum class state : unsigned char {
    active,     // holds no chain; may itself be part of a chain that another suspension holds
    suspended,  // holds a suspended chain (SUSPENSION-1)
    cutting,    // the chain is being cut (SUSPENSION-2)
    cut,        // the chain has been cut: the remainder can only be dropped (SUSPENSION-2)
    leaving,    // the chain was dropped, and a pin keeps the remainder (SUSPENSION-3)
    ended
  };

  [[nodiscard]] state is() const noexcept { return is_; }
  [[nodiscard]] bool may_be_cut() const noexcept {
    return is_ == state::suspended || is_ == state::cut || is_ == state::cutting;
  }
  /// Called when the handler of `part` has ended: cuts the chain there, if this suspension holds
  /// one (SUSPENSION-2).
  void cut(frame_end& part, std::string_view const& handler) noexcept;

  // ---- if suspended: the innermost frame, the slot in which it waits, its operation and location

  [[nodiscard]] std::coroutine_handle<> leaf() const noexcept { return at_.leaf.frame(); }
  [[nodiscard]] result_slot_base& waiting() const noexcept { return *at_.waiting; }
  [[nodiscard]] operation_info const& operation() const noexcept { return *at_.operation; }
  [[nodiscard]] std::source_location where() const noexcept {
    return lost_ ? at_.where : at_.waiting->where;
  }
  /// If the chain was cut or unwound: the name of the handler that messages give as the cause.
  [[nodiscard]] std::string_view lost_handler() const noexcept { return *lost_handler_; }
  /// For messages: the name of the handler that suspends the chain.
  [[nodiscard]] virtual std::string_view const& handler_name() const noexcept = 0;

  /// Unwinds the frames inside `part`, a pin, which lets the remainder be unwound later
  /// (SUSPENSION-3).  The remainder then begins at `next`.
  void unwind_up_to(frame_end const& part, continuation next) noexcept {
    lose_leaf(handler_name());
    is_ = state::leaving;
    unwind_inside(at_.leaf, part);
    at_.leaf = next;
  }
  /// Whether there is a pin in the chain or in its remainder (SUSPENSION-3).
  [[nodiscard]] bool is_pinned() const noexcept { return may_be_pinned() && pinned_by(); }
  [[nodiscard]] bool may_be_pinned() const noexcept {
    return is_ == state::suspended || is_ == state::cut;
  }
  /// If may_be_pinned(): the innermost frame or frame_end of the chain, or, after unwind_up_to(),
  /// of the part of the chain that is left.
  [[nodiscard]] continuation innermost_left() const noexcept { return at_.leaf; }
  /// Called when the pin is gone: unwinds the remainder, or notifies the party that unwinds it
  /// (SUSPENSION-3).
  virtual void unwind_on() noexcept = 0;

  /// For an active prompt that was captured as part of a chain: the holder of that chain.
  [[nodiscard]] virtual suspension* held_by() const noexcept { return nullptr; }
  [[nodiscard]] suspension* as_suspension() noexcept final { return this; }

 protected:
  explicit suspension(state s = state::active) noexcept : at_(), is_(s) {}
  ~suspension() {}  // a process destroys its result_ itself, when it ends

  void suspend(std::coroutine_handle<> leaf, result_slot_base& waiting,
               operation_info const& operation) noexcept {
    is_ = state::suspended;
    at_.leaf = leaf;
    at_.waiting = &waiting;
    at_.operation = &operation;
  }
  /// Restores the state of an earlier suspension, whose frames have been copied back.
  void suspend_again(std::coroutine_handle<> leaf, result_slot_base& waiting,
                     operation_info const& operation, prompt* inner) noexcept {
    suspend(leaf, waiting, operation);
    inner_ = inner;
    lost_ = cut_again_ = false;
    forget_inner_recorders();
  }
  /// Notes that the frames are gone, though no unwinding has destroyed them.
  void end_unseen() noexcept { is_ = state::ended; }
  /// Called before a capture through the prompts from `innermost` up to `outermost`, the latter not
  /// included: from now on, this suspension holds these prompts.  False, and no prompt is held, if
  /// the list of active prompts from `innermost` on does not reach `outermost` (PROMPT-2).
  [[nodiscard]] bool hold(prompt* innermost, prompt const& outermost) noexcept;
  /// Called when the answer that the leaf waits for has been filled in: notifies the prompts that
  /// record answers.
  void tell_recorders(prompt const& outermost) noexcept;
  /// Makes `to` the holder of the chain of `from`.  The caller sets the `parent` of the outermost
  /// frame, which is `from`, to `to`.
  static void move_suspension(suspension& from, suspension& to, prompt const& outermost) noexcept;
  /// Destroys the chain, or its remainder.  False if a pin prevents that: then unwind_on(), called
  /// when the pin is gone, does the rest.
  bool unwind_suspended() noexcept;

  /// Unwinds the frames inside `part`.  The chain stays suspended: its innermost frame is now
  /// `leaf`, which waits for no answer, and its innermost prompt `around`.
  void drop_inside(frame_end const& part, std::coroutine_handle<> leaf, prompt& around) noexcept;
  /// If may_be_pinned(): the frame_end that find_pin() finds in the chain, or in its remainder;
  /// null if there is none (SUSPENSION-3).
  [[nodiscard]] frame_end* pinned_by() const noexcept {
    // Relaxed: the thread that makes a pin first sets the flag, and then hands the chain to this
    // thread.  That hand-over synchronises, so this thread sees the flag.
    if (!some_frame_pins.load(std::memory_order_relaxed)) return nullptr;
    return find_pin(at_.leaf, *this);
  }

  void forget_inner_recorders() noexcept {
    recording_ = static_cast<unsigned char>(recording_ & ~inner_records);
  }
  /// Called before the leaf is destroyed: saves, for messages, where the leaf waited and which
  /// handler ended.
  void lose_leaf(std::string_view const& handler) noexcept;
  /// Called before a pin takes over the unwinding, perhaps on another thread (SUSPENSION-3).
  virtual void on_handed_over() noexcept {}
  /// Keeps the suspension alive during cut().
  virtual void keep_suspension() noexcept = 0;
  virtual void release_suspension() noexcept = 0;

 private:
  [[gnu::cold]] static void let_go(prompt* innermost) noexcept;
  [[nodiscard]] frame_end* first_lost() noexcept;
  void require_unpinned(frame_end& part, std::string_view const& handler) noexcept;

  struct stop_point {
    stop_point() noexcept : leaf(), waiting(nullptr) {}
    continuation leaf;  // the innermost frame of the chain, or of its remainder
    union {
      result_slot_base* waiting;   // the slot in which the leaf waits, a result_slot<R>
      std::source_location where;  // if lost_: where the leaf waited
    };
    operation_info const* operation = nullptr;  // the operation that last suspended the chain
  };

 protected:
  union {
    stop_point at_;
    result_slot<void> result_;  // while a process runs: the slot for its result
  };
  union {
    prompt* inner_ = nullptr;               // if suspended: the innermost prompt of the chain
    std::string_view const* lost_handler_;  // if lost_: the handler that messages name as the cause
  };
  state is_;
  /// Bits of recording_, which activate() tests together.  Each tells on which prompts answered()
  /// must be called when the answer has been filled in: `inner_records`, on prompts inside this one
  /// in the chain; `itself_records`, on this one.
  static constexpr unsigned char inner_records = 1;
  static constexpr unsigned char itself_records = 2;
  unsigned char recording_ = 0;

 private:
  bool lost_ = false;       // the leaf is destroyed, because the chain was cut or unwound
  bool cut_again_ = false;  // another handler has ended while the chain is being cut
};

}  // namespace weft::detail
