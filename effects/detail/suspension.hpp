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

/// Who holds a suspended chain: the outermost ending of it.
///
///   SUSPENSION-1  While a holder is suspended, [leaf, itself] is a chain of suspended frames and prompts.
///       The prompts inside have `held_by` it, until they are captured otherwise.  One resumption,
///       or one process, owns the chain.
///   SUSPENSION-2  When a handler ends before a chain that goes through it, the chain is cut: unwound up
///       to and including that place.  What is left can only be dropped.
///   SUSPENSION-3  A chain in which others do something for a frame (they are tasks, and refer to what is in
///       it) is unwound up to there; and further when they have done it.  Who would have the answer
///       of a clause that dropped it goes on after that (end_of_clause.hpp).
namespace weft::detail {

class evidence_slots;
class prompt;

/// SUSPENSION-3: whether there ever was such a frame.
[[gnu::visibility("default")]] inline constinit std::atomic<bool> some_frame_pins = false;
/// From now on there may be.
inline void note_pinning() noexcept {
  // Relaxed, both: see held_on_by().
  if (!some_frame_pins.load(std::memory_order_relaxed)) [[unlikely]]
    some_frame_pins.store(true, std::memory_order_relaxed);
}

class suspension : public frame_end {
 public:
  enum class state : unsigned char {
    active,
    suspended,
    cutting,  // SUSPENSION-2, at it
    cut,      // SUSPENSION-2, done
    leaving,  // SUSPENSION-3
    ended
  };

  [[nodiscard]] state is() const noexcept { return is_; }
  [[nodiscard]] bool may_be_cut() const noexcept {
    return is_ == state::suspended || is_ == state::cut || is_ == state::cutting;
  }
  /// The handler of `part`, a place in the chain that we may hold, has ended (SUSPENSION-2).
  void cut(frame_end& part, std::string_view const& handler) noexcept;

  // ---- suspended: the frame, at which operation, where that is, and the answer it waits for

  [[nodiscard]] std::coroutine_handle<> leaf() const noexcept { return at_.leaf.frame(); }
  [[nodiscard]] result_slot_base& waiting() const noexcept { return *at_.waiting; }
  [[nodiscard]] operation_info const& operation() const noexcept { return *at_.operation; }
  [[nodiscard]] std::source_location where() const noexcept {
    return lost_ ? at_.where : at_.waiting->where;
  }
  /// Cut, or unwound: whose end it was.
  [[nodiscard]] std::string_view lost_handler() const noexcept { return *lost_handler_; }
  /// For messages: who suspended it.
  [[nodiscard]] virtual std::string_view const& handler_name() const noexcept = 0;

  /// SUSPENSION-3: for `part`, which will see to the rest: what is inside of it goes, and what is left then
  /// begins at `next`.
  void unwind_up_to(frame_end const& part, continuation next) noexcept {
    lose_leaf(handler_name());
    is_ = state::leaving;
    unwind_inside(at_.leaf, part);
    at_.leaf = next;
  }
  /// SUSPENSION-3: whether somebody holds on to a frame in there, while it is suspended.
  [[nodiscard]] bool is_pinned() noexcept { return may_be_pinned() && pinned_by(); }
  [[nodiscard]] bool may_be_pinned() const noexcept {
    return is_ == state::suspended || is_ == state::cut;
  }
  /// Then: the innermost frame, or what is left.
  [[nodiscard]] continuation innermost_left() const noexcept { return at_.leaf; }
  /// SUSPENSION-3: and now the rest.
  virtual void unwind_on() noexcept = 0;

  /// The slots of the body, where its handler rebinds effects (binding.hpp).
  [[nodiscard]] virtual evidence_slots* slots() noexcept { return nullptr; }
  /// Active, and part of a chain: who holds that.
  [[nodiscard]] virtual suspension* held_by() const noexcept { return nullptr; }
  [[nodiscard]] suspension* as_suspension() noexcept final { return this; }

 protected:
  suspension() noexcept : at_() {}
  ~suspension() {}  // a result is destroyed by the process that runs

  void suspend(std::coroutine_handle<> leaf, result_slot_base& waiting,
               operation_info const& operation) noexcept {
    is_ = state::suspended;
    at_.leaf = leaf;
    at_.waiting = &waiting;
    at_.operation = &operation;
  }
  /// The frames of an earlier suspension are back: as it was then.
  void suspend_again(std::coroutine_handle<> leaf, result_slot_base& waiting,
                     operation_info const& operation, prompt* inner) noexcept {
    suspend(leaf, waiting, operation);
    inner_ = inner;
    lost_ = cut_again_ = inner_records_ = false;
  }
  /// The frames have gone, without their being destroyed.
  void end_unseen() noexcept { is_ = state::ended; }
  /// Before a capture that goes through the prompts from `innermost` to `outermost`, which we
  /// hold from then on.  Says whether all of them are there: no ordinary code in between.
  [[nodiscard]] bool hold(prompt* innermost, prompt const& outermost) noexcept;
  /// The answer that the innermost frame waits for has been filled in.
  void tell_recorders(prompt const& outermost) noexcept;
  /// What `from` holds is held by `to`; the frame that ends at `from` is to be told.
  static void move_rest(suspension& from, suspension& to, prompt const& outermost) noexcept;
  /// Destroys what is left of the chain.  False: that is done by unwind_on().
  bool unwind_rest() noexcept;

  /// SUSPENSION-3, of one that is suspended or cut: who holds on; null if nobody does.
  [[nodiscard]] frame_end* pinned_by() noexcept {
    // Relaxed: who holds on has said so before our chain came to this thread.
    if (!some_frame_pins.load(std::memory_order_relaxed)) return nullptr;
    return find_pin(at_.leaf, *this);
  }

  /// Before the leaf is destroyed: messages will want to know where it waited, and why.
  void lose_leaf(std::string_view const& handler) noexcept;
  /// SUSPENSION-3: others are about to see to it, perhaps on another thread.
  virtual void on_handed_over() noexcept {}
  /// While others look at us.
  virtual void keep_suspension() noexcept = 0;
  virtual void release_suspension() noexcept = 0;

 private:
  [[nodiscard]] frame_end* first_lost() noexcept;
  void require_unpinned(frame_end& part, std::string_view const& handler) noexcept;

  struct stop_point {
    stop_point() noexcept : leaf(), waiting(nullptr) {}
    continuation leaf;  // the innermost frame; cut: what is left
    union {
      result_slot_base* waiting;   // an answer<R>
      std::source_location where;  // SUSPENSION-2, or unwound: where that was
    };
    operation_info const* operation = nullptr;  // that suspended us last
  };

 protected:
  union {
    stop_point at_;
    result_slot<void> result_;  // of a process that runs
  };
  union {
    prompt* inner_ = nullptr;               // suspended: the innermost prompt of the chain
    std::string_view const* lost_handler_;  // SUSPENSION-2
  };
  state is_ = state::active;
  bool inner_records_ = false;  // a prompt that we hold hears answered()

 private:
  bool lost_ = false;       // SUSPENSION-2, or unwound
  bool cut_again_ = false;  // while cutting: another handler ended
};

}  // namespace weft::detail
