// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include "effects/detail/recording.hpp"
#include "effects/resumption.hpp"

/// The rest of a body that waits for an `R`, to be resumed any number of times.
///
///     void on(proc::fork, multi_resumption<bool> k);
///
/// C++ cannot copy the frames of a coroutine.  So the second time, and every later time, the body
/// is run again from its beginning, and each operation that its handler, or one further out,
/// answers is given the answer it had the first time, up to the one it waits at; no handler
/// hears of it.  The price: that costs what the body did so far, and code between operations runs
/// again.  An exception that an operation was answered with is thrown again, the same object:
/// catch it by const reference.
///
/// A copy costs a count.  One thread.
template <class R, class A>
class weft::multi_resumption {
 public:
  /// For the library.
  multi_resumption(resumption<R, A> live, std::shared_ptr<detail::runs_again> body)
      : capture_(std::make_shared<capture>(std::move(live), std::move(body))) {}

  /// resume(k, answer): runs the rest of the body with `answer` until it ends or is captured again,
  /// and returns the handler's answer.  Throws what the rest throws, resumption_empty,
  /// resumption_expired and replay_divergence.
  template <class... V>
  friend A resume(multi_resumption k, V&&... value) {
    if (!k.capture_) throw resumption_empty();
    capture& c = *k.capture_;
    // Who comes first has the frames that wait there; who comes later, new ones.
    if (c.live) return resume(std::move(c.live), std::forward<V>(value)...);
    detail::answer<R> next;
    detail::put(next, std::forward<V>(value)...);
    detail::replay_log log = c.past;
    log.record(c.at, next);
    detail::answer<A> answer;
    {
      detail::prompt::driver const outside;
      detail::drive(
          c.body->run_again(c.body, std::move(log), detail::continuation::ordinary_code(), answer));
    }
    return answer.take();
  }

 private:
  struct capture {
    resumption<R, A> live;  // empty once somebody has resumed
    std::shared_ptr<detail::runs_again> body;
    detail::replay_log past;  // up to the operation; no longer changes
    detail::site at;

    capture(resumption<R, A> l, std::shared_ptr<detail::runs_again> b)
        : live(std::move(l)), body(std::move(b)) {
      auto& recorded = detail::recording_of(*live.rest());
      past = recorded.past();
      at = recorded.at();
    }
  };
  std::shared_ptr<capture> capture_;
};
