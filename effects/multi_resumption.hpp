// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <source_location>
#include <utility>

#include "weft/effects/detail/capture.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/replay/recording.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/effects/resumption.hpp"

/// The continuation of a body that waits for an `R`, to be resumed any number of times.
///
///     eff<std::vector<int>> on(choose::flip, multi_resumption<bool, std::vector<int>> k) {
///       auto all = co_await k(true);
///       auto const more = co_await k(false);
///       ...
///
/// C++ cannot copy the frames of a coroutine.  So there are two ways to resume again, chosen where
/// the body is handled (multi_shot.hpp).
///
/// Replay: from the second resume on, the body is run again from its beginning.  The new run
/// performs the same operations, up to the one at which the body was captured.  Operations that the
/// body's handler answered, or a handler further out, get the same answers from a log, and these
/// handlers are not called.  A resume costs as much as the body did so far, and code between
/// operations runs again.  An exception that answered an operation is thrown again, the same
/// object: catch it by const reference.  After an operation that seals, or when the log is over its
/// limit, operations with a multi-shot clause throw unforkable.  Copies may be resumed on several
/// threads at once only if their runs share no state, such as that of a handler further out;
/// exactly one of the copies gets the waiting frames.
///
/// Bitwise: the bytes of the frames are saved, and copied back to where they were.  Objects in the
/// frames must be trivially copyable.  The capture of an operation checks the parameters of the
/// frames, and the handlers between the operation and its own handler, and throws uncopyable if one
/// of these cannot be copied; locals are the responsibility of the program.  The frames have one
/// place in memory.  Before a resume, a computation that runs or waits in that place must have
/// ended or been dropped, or wait in another multi_resumption; otherwise the resume throws
/// frames_in_use.  Used by one thread.
///
/// A copy costs a reference count.  For the last resume use std::move(k)(v), which does not keep
/// the frames for a later resume.
namespace weft::detail {

/// A body to be run again, against a log.
struct rerun : pooled {
  rerun(std::shared_ptr<runs_again> b, replay_log l) : body(std::move(b)), log(std::move(l)) {}
  std::shared_ptr<runs_again> body;
  replay_log log;
};

/// Owns the waiting frames that a multi_resumption resumes; or, if an earlier resume has taken
/// these, the body and the log to run it against.  The answer is filled in.  One of the two members
/// is set.  The object has two words, so that it is passed in registers, and adds little to the
/// awaiting frame.
class [[clang::trivial_abi]] rest_again {
 public:
  explicit rest_again(captured_frames live) noexcept : live_(std::move(live)) {}
  rest_again(std::shared_ptr<runs_again> body, replay_log log)
      : rerun_(new rerun(std::move(body), std::move(log))) {}
  rest_again(rest_again&& other) noexcept
      : live_(std::move(other.live_)), rerun_(std::exchange(other.rerun_, nullptr)) {}
  rest_again& operator=(rest_again&&) = delete;
  ~rest_again() {
    if (rerun_) [[unlikely]]
      forget(rerun_);
  }

  void require_open() const {
    if (!rerun_) live_.require_open();
  }
  /// Resumes: returns the frame to run next.
  std::coroutine_handle<> go(continuation waiter, result_slot_base& to) {
    return rerun_ ? go_slow(waiter, to) : std::move(live_).go(waiter, to);
  }

 private:
  [[gnu::cold, gnu::noinline]] static void forget(rerun* r) noexcept { delete r; }
  [[gnu::noinline]] std::coroutine_handle<> go_slow(continuation waiter, result_slot_base& to) {
    std::unique_ptr<rerun> const r(std::exchange(rerun_, nullptr));
    return r->body->run_again(r->body, std::move(r->log), waiter, to);
  }

  captured_frames live_;
  rerun* rerun_ = nullptr;  // owned; null if live_ has frames
};

/// The result of `k(v)` of a multi_resumption.
template <class A>
using resuming_again = resuming<A, rest_again>;

}  // namespace weft::detail

/// The continuation of a body that waits for an `R`, and whose handler answers with an `A`, to be
/// resumed any number of times.
///
/// Cost: a copy is O(1).  By replay a resume costs as much as the body did so far; bitwise it is
/// O(bytes of the frames).
///
/// Threads: bitwise, one thread uses all copies.  By replay, several threads may each use a copy if
/// the runs share no state.
///
/// A resume by replay allocates a log entry, a block from a pool, and whatever the body allocates
/// when it runs again.
template <class R, class A>
class [[clang::trivial_abi]] weft::multi_resumption {
 public:
  /// Makes an empty multi_resumption.
  multi_resumption() = default;
  multi_resumption(detail::internal, detail::shared_capture c) noexcept : capture_(std::move(c)) {}

  /// Whether there is something to resume.
  explicit operator bool() const noexcept { return bool(capture_); }

  /// Fills in the value, and returns an awaitable that resumes the continuation.  Await it at once;
  /// co_await yields the answer of the continuation.  The call throws resumption_empty if this is
  /// empty; resumption_expired if the handler has ended; frames_in_use if the resume is bitwise,
  /// and the place of the frames is in use (see the head of this file), or another thread has run
  /// the body or makes this call.  The co_await throws resumption_expired if the handler has ended
  /// since; replay_divergence if the body, run again, does not repeat its first run; and what the
  /// continuation throws.
  template <class... V>
  detail::resuming_again<A> operator()(V&&... value) const& {
    return detail::resuming_again<A>(ready(false, std::forward<V>(value)...));
  }
  /// Resumes for the last time: afterwards this object is empty, and the frames are not kept.
  /// Otherwise the same as the call of an lvalue; it throws the same exceptions.
  template <class... V>
  detail::resuming_again<A> operator()(V&&... value) && {
    return detail::resuming_again<A>(ready_last(std::forward<V>(value)...));
  }

  /// resume(k, answer): resumes from ordinary code, until the body ends or is captured again, and
  /// returns the handler's answer.  Throws as `co_await k(v)` does.
  template <class... V>
  friend A resume(multi_resumption k, V&&... value) {
    detail::result_slot<A> answer;
    {
      detail::prompt::driver const outside;
      auto rest = k.ready_last(std::forward<V>(value)...);
      detail::drive(rest.go(detail::continuation::ordinary_code(), answer));
    }
    return answer.take_at_last();
  }

  [[nodiscard]] detail::shared_capture take(detail::internal) && noexcept {
    return std::move(capture_);
  }
  [[nodiscard]] detail::prompt const* prompt_here(detail::internal) const noexcept {
    return capture_ ? (*capture_).prompt_here() : nullptr;
  }
  [[nodiscard]] detail::prompt* hand_over(detail::internal) && noexcept {
    return capture_ && (*capture_).is_last() ? (*capture_).hand_over() : nullptr;
  }

 private:
  template <class... V>
  detail::rest_again ready_last(V&&... value) {
    auto rest = ready(capture_ && (*capture_).is_last(), std::forward<V>(value)...);
    capture_ = {};
    return rest;
  }
  /// noinline: if this is inlined, the awaiting frame keeps pointers to parts of the awaitable.
  template <class... V>
  [[gnu::noinline]] detail::rest_again ready(bool last, V&&... value) const {
    if (!capture_) [[unlikely]]
      detail::captured_frames::throw_empty();
    constexpr bool is_value = sizeof...(V) > 0 && !(detail::is_raising<V> || ...);
    if constexpr (is_value && detail::answers<R, V...>) {
      // The value is made before frames_here() checks the capture, because a constructor may run
      // any code: even code that ends the handler.
      detail::kept<R> made(std::forward<V>(value)...);
      return ready_made(last, std::move(made));
    } else {
      return ready_made(last, std::forward<V>(value)...);
    }
  }
  template <class... V>
  detail::rest_again ready_made(bool last, V&&... value) const {
    if (detail::captured_frames live = (*capture_).frames_here(last)) [[likely]] {
      detail::put(detail::waiting_in<R>(live), std::forward<V>(value)...);
      return detail::rest_again(std::move(live));
    }
    // Only a replay_capture returns no frames; a copied_capture returns frames, or throws.
    return ready_to_replay(std::forward<V>(value)...);
  }
  template <class... V>
  [[gnu::noinline]] detail::rest_again ready_to_replay(V&&... value) const {
    auto& replayed = static_cast<detail::replay_capture&>(*capture_);
    detail::result_slot<R> next;
    detail::put(next, std::forward<V>(value)...);
    detail::replay_log log(replayed.past());
    log.record(replayed.at(), next);
    return detail::rest_again(replayed.body(), std::move(log));
  }

  detail::shared_capture capture_;
};
