// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/passed_frames.hpp"
#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/detail/transfer.hpp"
#include "weft/effects/memory/frame_pool.hpp"

/// Frames: the part that all coroutines of weft have in common, and the ends of chains of frames.
///
///   FRAME-1  A frame that has started owns itself: it is destroyed when it ends, or by unwind().
///       A frame that has not started is destroyed by the `eff` that holds it.  A destructor that
///       throws while its frame is unwound ends the program, as it does when an exception unwinds a
///       stack.
///   FRAME-2  When a frame ends, it writes its result into the slot of the waiter (`to`).  Then its
///       `parent` continues: a frame; or a frame_end, such as the prompt whose body has ended.  A
///       frame_end returns the frame or frame_end that runs next.
///   FRAME-3  A frame refers to the handlers of its row by one pointer, `evidence` (evidence.hpp).
namespace weft::detail {

class end_of_clause;
class frame_end;
class suspension;
class prompt;

/// The frame or the frame_end that runs next, in one word: the lowest bit is set for a frame_end.
/// (Where a comment says "a continuation", it means the rest of a body, which a resumption owns.)
class continuation {
 public:
  continuation() = default;
  continuation(std::coroutine_handle<> frame) noexcept
      : bits_(reinterpret_cast<std::uintptr_t>(frame.address())) {}
  /// Stands for ordinary code that waits in drive(): if it runs next, drive() returns.
  static continuation ordinary_code() noexcept {
    return std::coroutine_handle<>(std::noop_coroutine());
  }
  continuation(frame_end& e) noexcept : bits_(reinterpret_cast<std::uintptr_t>(&e) | 1) {}

  [[nodiscard]] bool is_ordinary_code() const noexcept { return bits_ == ordinary_code().bits_; }
  [[nodiscard]] bool is_frame() const noexcept { return (bits_ & 1) == 0; }
  [[nodiscard]] std::coroutine_handle<> frame() const noexcept {
    return std::coroutine_handle<>::from_address(reinterpret_cast<void*>(bits_));
  }
  [[nodiscard]] frame_end& end() const noexcept {
    return *reinterpret_cast<frame_end*>(bits_ & ~std::uintptr_t{1});
  }

  /// Returns the frame to run next: as long as a frame_end is next, calls its ended().
  [[nodiscard]] inline std::coroutine_handle<> resolve() const noexcept;

 private:
  static std::coroutine_handle<> resolve_ends(continuation c) noexcept;
  std::uintptr_t bits_;
};

class wait_group;

/// The outer end of a chain of frames, in the place of a parent frame.
class frame_end {
 public:
  /// Called when the chain has ended and its result is written.  Returns the frame or frame_end
  /// that runs next.
  virtual continuation ended() noexcept = 0;
  /// Called when the chain has been destroyed.  Returns the next frame or frame_end further out.
  virtual continuation dropped() noexcept = 0;

  /// A description, for messages.
  [[nodiscard]] virtual std::string text() const = 0;
  /// The next frame or frame_end further out.
  [[nodiscard]] virtual continuation outside() const noexcept = 0;
  [[nodiscard]] virtual suspension* as_suspension() noexcept { return nullptr; }
  /// Whether the handler of this frame_end has ended, so that the chain must not continue here.
  [[nodiscard]] virtual bool lost() const noexcept = 0;
  /// Whether the frames inside are cancelled, as far as this frame_end knows.  `unknown`: ask
  /// `outwards` next; `elsewhere`: ask `outwards` next, which is in another chain that waits for
  /// this one; `shielded`: the frames are not cancelled, even if those further out are.
  enum class cancel_state : unsigned char { unknown, elsewhere, cancelled, shielded };
  [[nodiscard]] virtual cancel_state query_cancellation(continuation& outwards) const noexcept {
    outwards = outside();
    return cancel_state::unknown;
  }
  /// Whether the running process may resume the frames inside.  Frames in a scope may be resumed
  /// only by the process that has opened the scope, and not from a task of the scope.
  [[nodiscard]] virtual bool may_resume_inside() const noexcept { return true; }
  /// Whether this is a pin: tasks refer to the frames outside, which must not be unwound yet
  /// (SUSPENSION-3 of suspension.hpp).
  [[nodiscard]] virtual bool pins_outer_frames() const noexcept { return false; }
  /// The group of tasks that the frames inside belong to; null if none is known here.
  [[nodiscard]] virtual wait_group* as_group() const noexcept { return nullptr; }
  /// Called by a walk that looks for pins.  True if this is the end of a clause that keeps its
  /// continuation, and the walk is to enter the continuation, because it is unwound together with
  /// the clause (SUSPENSION-3); `leaf` is then its innermost frame.  A walk enters a continuation
  /// only once.  `from`: the end of the clause in whose continuation the walk already is, or null.
  [[nodiscard]] virtual bool enter_kept_resumption(frame_end* /*from*/,
                                                   continuation& /*leaf*/) noexcept {
    return false;
  }
  /// The outer end of the continuation that the clause keeps.
  [[nodiscard]] virtual frame_end const* end_of_kept_resumption() const noexcept { return nullptr; }
  /// Called when a walk leaves the continuation, at end_of_kept_resumption() or because it has
  /// found a pin.  Returns the `from` with which the walk entered.
  [[nodiscard]] virtual frame_end* leave_kept_resumption() noexcept { return nullptr; }
  /// Called on a pin before the frames outside are unwound: the tasks that refer to those frames
  /// need not finish any more (SUSPENSION-3).
  virtual void on_abandoned() noexcept {}
  /// Called on the frame_end that find_pin() has found in the chain of the suspension: unwinds the
  /// chain up to this frame_end, and the rest when the tasks have ended (SUSPENSION-3).
  virtual void unwind_later(suspension&) noexcept {}
  /// Called on the end of a clause, while it waits to unwind the continuation that the clause has
  /// dropped: the continuation can be unwound now, or another clause has unwound it (CLAUSE-3 of
  /// end_of_clause.hpp).
  virtual void on_remainder_free() noexcept {}

 protected:
  ~frame_end() = default;
};

[[gnu::noinline]] inline std::coroutine_handle<> continuation::resolve_ends(
    continuation c) noexcept {
  while (!c.is_frame()) c = c.end().ended();
  return c.frame();
}
inline std::coroutine_handle<> continuation::resolve() const noexcept {
  if (is_frame()) return frame();
  continuation const next = end().ended();  // most often one call is enough
  return next.is_frame() ? next.frame() : resolve_ends(next);
}

/// The part of a promise that does not depend on the result.  It comes first and has only pointers,
/// so that it has the same offset in every frame.  The code that starts the frame sets all three.
struct frame : pooled_in_body {
  continuation parent;   // continues when the frame has ended (FRAME-2)
  void* evidence;        // its handlers (FRAME-3).  While the frame is unwound, a prompt** (REST-2)
  result_slot_base* to;  // the waiter's slot, a result_slot<T>.  Null while the frame is unwound
};

inline frame& frame_of(std::coroutine_handle<> h) noexcept {
  return std::coroutine_handle<frame>::from_address(h.address()).promise();
}

/// Ensures that `rest`, a dropped continuation, is unwound before `outside`.  Returns the frame or
/// frame_end to unwind next.  `asked`: see frame_unwinder::destroy().
continuation unwind_first(prompt& rest, continuation outside, bool asked) noexcept;

/// Destroys frames of a chain, one after the other.  A continuation that a frame has as a parameter
/// is unwound right after the frame (REST-1 of resumption_parameter.hpp).
class frame_unwinder {
 public:
  /// Destroys a frame, and returns the frame or frame_end to unwind next.  `asked`: find_pin() has
  /// asked the ends of clauses in the chain for pins, and there are none (SUSPENSION-3).
  [[gnu::no_sanitize_address]] continuation destroy(std::coroutine_handle<> h,
                                                    bool asked) noexcept {
    frame& f = frame_of(h);
    continuation const up = f.parent;
    f.to = nullptr;
    f.evidence = &rest_;
    h.destroy();
    if (!rest_) [[likely]]
      return up;
    return unwind_first(*std::exchange(rest_, nullptr), up, asked);
  }

 private:
  prompt* rest_ = nullptr;  // the continuation that a destroyed frame has handed over (REST-2)
};

/// Destroys a suspended chain from the innermost frame up to and including `last`, in a loop: a
/// chain of a million frames takes no native stack.  Returns the frame or frame_end outside `last`.
template <bool Asked = false>
[[gnu::noinline, gnu::no_sanitize_address]] continuation unwind(continuation at,
                                                                frame_end const& last) noexcept {
  for (frame_unwinder chain;;) {
    if (at.is_frame()) {
      at = chain.destroy(at.frame(), Asked);
    } else {
      frame_end& e = at.end();
      at = e.dropped();
      if (&e == &last) return at;
    }
  }
}

/// Destroys the part of a suspended chain inside `last`, in a loop as unwind() does; `last` stays.
[[gnu::noinline, gnu::no_sanitize_address]] inline void unwind_inside(
    continuation at, frame_end const& last) noexcept {
  for (frame_unwinder chain;;) {
    if (at.is_frame()) {
      continuation const up = frame_of(at.frame()).parent;
      at = chain.destroy(at.frame(), up.is_frame() || &up.end() != &last);
    } else {
      frame_end& e = at.end();
      if (&e == &last) return;
      at = e.dropped();
    }
  }
}
/// Whether the frame `at` is cancelled.  Asks the frame_ends further out in turn, also those in
/// other chains that wait for this one.  Another chain is walked only up to its first handler: the
/// frames inside that handler wait for this chain, so they cannot run meanwhile; those outside may,
/// if the handler has captured the inner frames, to resume them later, or never.
[[nodiscard, gnu::noinline]] inline bool is_cancelled_at(continuation at) noexcept {
  for (bool is_outside = false; !at.is_ordinary_code();) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    frame_end& e = at.end();
    if (is_outside && e.as_suspension()) return false;
    frame_end::cancel_state const said = e.query_cancellation(at);
    if (said == frame_end::cancel_state::elsewhere)
      is_outside = true;
    else if (said != frame_end::cancel_state::unknown)
      return said == frame_end::cancel_state::cancelled;
  }
  return false;
}
/// Returns the innermost frame_end in the chain from `at` up to `last` that pins, or that ends a
/// clause which keeps a continuation with a pin; null if there is none.  Takes no native stack,
/// even if kept continuations are nested.
[[nodiscard, gnu::noinline]] inline frame_end* find_pin(continuation at,
                                                        frame_end const& last) noexcept {
  frame_end* clause = nullptr;  // the clause whose kept continuation the walk is in
  for (;;) {
    if (at.is_frame()) {
      at = frame_of(at.frame()).parent;
      continue;
    }
    frame_end& e = at.end();
    continuation rest;
    if (&e == (clause ? clause->end_of_kept_resumption() : &last)) {
      if (!clause) return nullptr;
      at = clause->outside();
      clause = clause->leave_kept_resumption();
    } else if (e.pins_outer_frames()) {
      frame_end* outermost = &e;
      for (; clause; clause = clause->leave_kept_resumption()) outermost = clause;
      return outermost;
    } else if (e.enter_kept_resumption(clause, rest)) {
      clause = &e;
      at = rest;
    } else {
      at = e.outside();
    }
  }
}

/// Whether the frame_end `e` pins, or the continuation that its clause keeps has a pin.
[[nodiscard]] inline bool is_pinned_at(frame_end& e) noexcept {
  continuation rest;
  if (e.pins_outer_frames()) return true;
  if (!e.enter_kept_resumption(nullptr, rest)) return false;
  bool const is_pinned = find_pin(rest, *e.end_of_kept_resumption()) != nullptr;
  (void)e.leave_kept_resumption();
  return is_pinned;
}

/// Calls on_abandoned() on all pins in the chain, before the frames outside are unwound.  From now
/// on no query of cancellation goes further out than a pin.
[[gnu::noinline]] inline void abandon_all(continuation at, frame_end const& last) noexcept {
  for (frame_end* e = find_pin(at, last); e; e = find_pin(e->outside(), last)) e->on_abandoned();
}

// ---- results (FRAME-2)

template <class T>
struct frame_that_answers : frame {
  [[nodiscard]] result_slot<T>& result() const noexcept {
    return static_cast<result_slot<T>&>(*to);
  }
  void unhandled_exception() noexcept { fail(std::current_exception()); }
  void fail(std::exception_ptr error) noexcept {
    if (!to) std::terminate();  // a destructor threw while the frame was unwound (FRAME-1)
    // Relaxed: nothing else depends on the flag.
    if (passed_frames_are_noted.load(std::memory_order_relaxed)) [[unlikely]]
      note_passed_frame(to->where, error);
    result().fail(std::move(error));
  }
};
template <class T>
struct frame_with_result : frame_that_answers<T> {
  template <class U = T>
  void return_value(U&& value) {
    static_assert(std::is_convertible_v<U, T>,
                  "weft: co_return of a value that does not convert to the computation's type");
    // `to` is set by the caller, which the analyzer does not follow.
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch)
    if (!this->to) std::terminate();  // a destructor threw, and the body caught that (FRAME-1)
    if constexpr (std::is_convertible_v<U, T>) this->result().set(std::forward<U>(value));
  }
};
template <>
struct frame_with_result<void> : frame_that_answers<void> {
  void return_void() noexcept {
    if (!to) std::terminate();  // a destructor threw, and the body caught that (FRAME-1)
    result().set();
  }
};

/// Ends a frame that has written its result: destroys it, and goes on to its parent (FRAME-1,
/// FRAME-2).
inline transfer end_frame(std::coroutine_handle<> me) noexcept {
  continuation const up = frame_of(me).parent;
  me.destroy();
  return go_on(up.resolve());
}
/// Calls end_frame() out of line.  If g++ with AddressSanitizer inlined end_frame(), its locals
/// would enlarge the native frame of every coroutine function.  These native frames nest: a
/// coroutine frame with a resumption, when it is destroyed, unwinds the frames of that resumption
/// (NEST-1 of nested_unwinding.hpp).
[[gnu::noinline]] inline transfer end_frame_by_a_call(std::coroutine_handle<> me) noexcept {
  return end_frame(me);
}

struct at_end {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  transfer await_suspend(std::coroutine_handle<> me) const noexcept {
    if constexpr (std::is_void_v<transfer>)
      return end_frame_by_a_call(me);
    else
      return end_frame(me);
  }
  void await_resume() const noexcept {}
};

/// When awaited, ends the computation with the error `e`, as if `e` were thrown here and not
/// caught.  But there is no throw, which costs as much as some twenty switches between processes.
class ends_with {
 public:
  static constexpr bool row_aware_awaitable = true;
  explicit ends_with(std::exception_ptr e) noexcept : error_(std::move(e)) {}
  template <class Row>
  ends_with awaiter_in(std::source_location) noexcept {
    return std::move(*this);
  }
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Frame>
  transfer await_suspend(std::coroutine_handle<Frame> me) noexcept {
    me.promise().fail(std::move(error_));
    return at_end().await_suspend(me);
  }
  void await_resume() const noexcept {}

 private:
  std::exception_ptr error_;
};

}  // namespace weft::detail
