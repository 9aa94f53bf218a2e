// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <memory>
#include <source_location>
#include <utility>

#include "effects/detail/recording.hpp"
#include "effects/resumption.hpp"

/// The rest of a body that waits for an `R`, to be resumed any number of times.
///
///     eff<std::vector<int>> on(choose::flip, multi_resumption<bool, std::vector<int>> k) {
///       auto all = co_await k(true);
///       auto const more = co_await k(false);
///       ...
///
/// C++ cannot copy the frames of a coroutine.  So the second time, and every later time, the body
/// is run again from its beginning, and each operation that its handler, or one further out,
/// answers is given the answer it had the first time, up to the one it waits at; no handler
/// hears of it.  The price: that costs what the body did so far, and code between operations runs
/// again.  An exception that an operation was answered with is thrown again, the same object:
/// catch it by const reference.
///
/// Once an operation that seals was answered, or the log has gone over its limit, operations with
/// a multi-shot clause throw unforkable.
///
/// A copy costs a count.  Copies may be resumed on several threads at once only if nothing
/// that stands further out is used by two of them; exactly one of them gets the frames that wait.
namespace weft {

/// How a body is resumed the second time: run again from its beginning, against the log.  The usual
/// way; it may be named where the other is: handle(h, body, replay()).
struct replay {};

namespace detail {

/// What `k(v)` of a multi_resumption gives: the frames that wait, or a log to run again against.
template <class A>
class [[nodiscard]] resuming_again {
 public:
  explicit resuming_again(chain live) : live_(std::move(live)), log_(0) {}
  resuming_again(std::shared_ptr<runs_again> body, replay_log log)
      : body_(std::move(body)), log_(std::move(log)) {}

  void require_open() const {
    if (!body_) live_.require_open();
  }
  /// The frame to go on with.
  std::coroutine_handle<> go(continuation who, awaited& to) {
    return body_ ? body_->run_again(body_, std::move(log_), who, to) : std::move(live_).go(who, to);
  }

 private:
  chain live_;
  std::shared_ptr<runs_again> body_;
  replay_log log_;
};

}  // namespace detail
}  // namespace weft

template <class R, class A>
class weft::multi_resumption {
 public:
  /// Empty.
  multi_resumption() = default;
  /// For the library.
  multi_resumption(resumption<R, A> live, std::shared_ptr<detail::runs_again> body)
      : capture_(std::make_shared<capture>(std::move(live), std::move(body))) {}

  /// Whether there is something to resume.
  explicit operator bool() const noexcept { return capture_ != nullptr; }

  /// To be awaited at once: the answer of the rest.  Throws resumption_empty and
  /// resumption_expired here, and when it is awaited; replay_divergence then, and what the rest
  /// throws.
  template <class... V>
  detail::resuming_again<A> operator()(V&&... value) const {
    if (!capture_) throw resumption_empty();
    capture& c = *capture_;
    detail::answer<R> next;
    detail::put(next, std::forward<V>(value)...);
    // Who comes first has the frames that wait there; who comes later, new ones.
    // acq_rel: with itself; who gets the frames sees what was done with them.
    if (!c.taken.exchange(true, std::memory_order_acq_rel)) {
      if (auto error = next.error())
        return detail::resuming_again<A>(c.live.ready(raising(std::move(error))));
      if constexpr (std::is_void_v<R>)
        return detail::resuming_again<A>(c.live.ready());
      else if constexpr (!std::is_same_v<R, never>)
        return detail::resuming_again<A>(c.live.ready(next.take()));
    }
    detail::replay_log log(c.past);
    log.record(c.at, next);
    return detail::resuming_again<A>(c.body, std::move(log));
  }

  /// resume(k, answer): from ordinary code, runs the rest of the body with `answer` until it ends
  /// or is captured again, and returns the handler's answer.  Throws as above, and what the rest
  /// throws.
  template <class... V>
  friend A resume(multi_resumption k, V&&... value) {
    auto rest = k(std::forward<V>(value)...);
    detail::answer<A> answer;
    {
      detail::prompt::driver const outside;
      detail::drive(rest.go(detail::continuation::ordinary_code(), answer));
    }
    return answer.take();
  }

 private:
  struct capture {
    resumption<R, A> live;
    std::atomic<bool> taken = false;
    std::shared_ptr<detail::runs_again> body;
    detail::replay_log past;  // up to the operation; no longer changes
    detail::site at;

    capture(resumption<R, A> l, std::shared_ptr<detail::runs_again> b)
        : live(std::move(l)),
          body(std::move(b)),
          past(static_cast<detail::recording_prompt&>(*live.rest()).log()),
          at(static_cast<detail::recording_prompt&>(*live.rest()).at()) {}
  };
  std::shared_ptr<capture> capture_;
};

namespace weft::detail {

/// Its awaiter.  Refers to the temporary: g++ 12 copies what it should not.
template <class A>
class going_on_again {
 public:
  going_on_again(resuming_again<A>& rest, std::source_location where) noexcept
      : rest_(rest), answer_(where) {}
  going_on_again(going_on_again const&) = delete;
  going_on_again& operator=(going_on_again const&) = delete;

  [[nodiscard]] bool await_ready() const {
    rest_.require_open();  // again: it may have been a while
    return false;
  }
  transfer await_suspend(std::coroutine_handle<> me) {
    return detail::go_on(rest_.go(me, answer_));
  }
  A await_resume() { return answer_.take(); }

 private:
  resuming_again<A>& rest_;
  answer<A> answer_;
};

}  // namespace weft::detail
