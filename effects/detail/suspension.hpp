// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <source_location>
#include <string>
#include <string_view>

#include "effects/detail/frame.hpp"
#include "effects/detail/names.hpp"
#include "effects/detail/operation_info.hpp"

/// The holder of a suspended chain: the frame_end at its outer end.
///
///   SUSPENSION-1  While a suspension is suspended, [leaf, itself] is a chain of suspended frames
///       and prompts.  `held_by` of the prompts inside is this suspension, until they are captured
///       otherwise.  One resumption, or one process, owns the chain.
///   SUSPENSION-2  If a handler ends before a chain that goes through it, the chain is cut: unwound
///       up to and including the place of that handler.  The remainder can only be dropped.
///   SUSPENSION-3  A frame end may pin the frames outside it: tasks work for them and refer to
///       their locals.  A dropped chain is unwound up to a pin, and further when those tasks have
///       ended.  If a clause dropped the chain, the waiter for the clause's answer continues after
///       that (end_of_clause.hpp).
namespace weft::detail {

class evidence_slots;
class prompt;

/// SUSPENSION-3: whether there ever was a pin.
[[gnu::visibility("default")]] inline constinit std::atomic<bool> some_frame_pins = false;
/// To be called before a pin is in place.
inline void note_pinning() noexcept {
  // Relaxed, both: see pinned_by().
  if (!some_frame_pins.load(std::memory_order_relaxed)) [[unlikely]]
    some_frame_pins.store(true, std::memory_order_relaxed);
}

class suspension : public frame_end {
 public:
  enum class state : unsigned char {
    active,
    suspended,
    cutting,  // SUSPENSION-2, in progress
    cut,      // SUSPENSION-2, done
    leaving,  // SUSPENSION-3: waits for a pin
    ended
  };

  [[nodiscard]] state is() const noexcept { return is_; }
  [[nodiscard]] bool may_be_cut() const noexcept {
    return is_ == state::suspended || is_ == state::cut || is_ == state::cutting;
  }
  /// The handler of `part`, a place in a chain that this may hold, has ended (SUSPENSION-2).
  void cut(frame_end& part, std::string_view const& handler) noexcept;

  // ---- suspended: the frame, its operation, the source location, and the slot that it waits in

  [[nodiscard]] std::coroutine_handle<> leaf() const noexcept { return at_.leaf.frame(); }
  [[nodiscard]] result_slot_base& waiting() const noexcept { return *at_.waiting; }
  [[nodiscard]] operation_info const& operation() const noexcept { return *at_.operation; }
  [[nodiscard]] std::source_location where() const noexcept {
    return lost_ ? at_.where : at_.waiting->where;
  }
  /// If cut or unwound: the handler whose end caused that.
  [[nodiscard]] std::string_view lost_handler() const noexcept { return *lost_handler_; }
  /// For messages: the handler that suspended the chain.
  [[nodiscard]] virtual std::string_view const& handler_name() const noexcept = 0;

  /// SUSPENSION-3: for `part`, which will have the remainder unwound: unwinds the frames inside of
  /// it.  The remainder then begins at `next`.
  void unwind_up_to(frame_end const& part, continuation next) noexcept {
    lose_leaf(handler_name());
    is_ = state::leaving;
    unwind_inside(at_.leaf, part);
    at_.leaf = next;
  }
  /// SUSPENSION-3: whether there is a pin in the chain, while it is suspended.
  [[nodiscard]] bool is_pinned() const noexcept { return may_be_pinned() && pinned_by(); }
  [[nodiscard]] bool may_be_pinned() const noexcept {
    return is_ == state::suspended || is_ == state::cut;
  }
  /// Then: the innermost frame of the chain or of its remainder.
  [[nodiscard]] continuation innermost_left() const noexcept { return at_.leaf; }
  /// SUSPENSION-3: the pin is gone: unwinds the remainder.
  virtual void unwind_on() noexcept = 0;

  /// The slots of the body, where its handler rebinds effects (binding.hpp).
  [[nodiscard]] virtual evidence_slots* slots() noexcept { return nullptr; }
  /// If active and part of a chain: the holder of that chain.
  [[nodiscard]] virtual suspension* held_by() const noexcept { return nullptr; }
  [[nodiscard]] suspension* as_suspension() noexcept final { return this; }

 protected:
  suspension() noexcept : at_() {}
  ~suspension() {}  // the running process destroys result_

  void suspend(std::coroutine_handle<> leaf, result_slot_base& waiting,
               operation_info const& operation) noexcept {
    is_ = state::suspended;
    at_.leaf = leaf;
    at_.waiting = &waiting;
    at_.operation = &operation;
  }
  /// The frames of an earlier suspension have been copied back: restores its state.
  void suspend_again(std::coroutine_handle<> leaf, result_slot_base& waiting,
                     operation_info const& operation, prompt* inner) noexcept {
    suspend(leaf, waiting, operation);
    inner_ = inner;
    lost_ = cut_again_ = inner_records_ = false;
  }
  /// The frames are gone without having been destroyed.
  void end_unseen() noexcept { is_ = state::ended; }
  /// Before a capture through the prompts from `innermost` to `outermost`: from now on this holds
  /// them.  False if there is ordinary code in between: then nothing holds them.
  [[nodiscard]] bool hold(prompt* innermost, prompt const& outermost) noexcept;
  /// The answer that the leaf waits for has been filled in: notifies the recording prompts.
  void tell_recorders(prompt const& outermost) noexcept;
  /// Moves the chain of `from` to `to`.  The caller redirects the frame that ends at `from`.
  static void move_suspension(suspension& from, suspension& to, prompt const& outermost) noexcept;
  /// Destroys the remainder of the chain.  False if there is a pin: then unwind_on() does it.
  bool unwind_suspended() noexcept;

  /// SUSPENSION-3, if suspended or cut: the innermost pin; null if there is none.
  [[nodiscard]] frame_end* pinned_by() const noexcept {
    // Relaxed: a pin sets the flag before its chain is handed to this thread.
    if (!some_frame_pins.load(std::memory_order_relaxed)) return nullptr;
    return find_pin(at_.leaf, *this);
  }

  /// Before the leaf is destroyed: saves for messages where it waited, and which handler ended.
  void lose_leaf(std::string_view const& handler) noexcept;
  /// SUSPENSION-3: a pin takes over the unwinding, perhaps on another thread.
  virtual void on_handed_over() noexcept {}
  /// Keeps the suspension alive during cut().
  virtual void keep_suspension() noexcept = 0;
  virtual void release_suspension() noexcept = 0;

 private:
  [[nodiscard]] frame_end* first_lost() noexcept;
  void require_unpinned(frame_end& part, std::string_view const& handler) noexcept;

  struct stop_point {
    stop_point() noexcept : leaf(), waiting(nullptr) {}
    continuation leaf;  // the innermost frame, of the remainder if cut
    union {
      result_slot_base* waiting;   // a result_slot<R>
      std::source_location where;  // if lost_: where the leaf waited
    };
    operation_info const* operation = nullptr;  // the latest that suspended us
  };

 protected:
  union {
    stop_point at_;
    result_slot<void> result_;  // of a running process
  };
  union {
    prompt* inner_ = nullptr;               // suspended: the innermost prompt of the chain
    std::string_view const* lost_handler_;  // if lost_
  };
  state is_ = state::active;
  bool inner_records_ = false;  // a prompt that we hold records answers

 private:
  bool lost_ = false;       // the leaf is destroyed: SUSPENSION-2, or unwound
  bool cut_again_ = false;  // another handler ended while cutting
};

}  // namespace weft::detail
