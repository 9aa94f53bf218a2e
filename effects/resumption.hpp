// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "effects/detail/prompt.hpp"

/// The rest of a computation, as a value.
///
/// A control clause gets the operation and `k`, what the program will do with the answer.  Keep
/// `k` and the program waits; resume it and it goes on; drop it and it is over, its frames
/// destroyed from the innermost outwards.
///
///     void on(proc::yield, resumption<void> k);        // may be resumed once
///     void on(proc::fork, multi_resumption<bool> k);   // as often as one likes
///
/// C++ cannot copy the frames of a coroutine.  So the second time, and every later time, a
/// multi_resumption runs the program again from its beginning, giving each operation the answer
/// it had the first time, up to the one it waits at; no handler hears of it.  The price: that
/// costs what the program did so far, and code between operations runs again.  An exception that an
/// operation was answered with is thrown again, the same object: catch it by const reference.
///
/// One thread.
namespace weft {

/// Resuming what was resumed before, or moved from.
struct resumption_empty : std::logic_error {
  resumption_empty()
      : logic_error("weft: this resumption is empty: it was resumed before, or moved from") {}
};

/// The rest of a program that waits for an `R`, to be resumed at most once.
template <class R>
class resumption {
 public:
  explicit resumption(std::unique_ptr<detail::prompt> rest) noexcept : rest_(std::move(rest)) {}
  resumption(resumption&&) = default;
  resumption& operator=(resumption&&) = default;
  resumption(resumption const&) = delete;  // resumed once; for more, take a multi_resumption

  /// resume(std::move(k), answer) for a resumption; see below.
  template <class... V>
  friend void resume(resumption k, V&&... answer) {
    if (!k.rest_) throw resumption_empty();
    k.rest_->template set_answer<R>(std::forward<V>(answer)...);
    detail::prompt::go(std::move(k.rest_));
  }

 private:
  std::unique_ptr<detail::prompt> rest_;
};

/// The rest of a program that waits for an `R`, to be resumed any number of times.  A copy costs
/// a count.
template <class R>
class multi_resumption {
 public:
  explicit multi_resumption(std::unique_ptr<detail::prompt> rest)
      : capture_(std::make_shared<capture>(std::move(rest))) {}

  /// resume(k, answer): runs the rest of the program with `answer` until it ends or is captured
  /// again.  Throws what the program throws, or the control clause that ends the run, and
  /// resumption_empty; of a multi_resumption also replay_divergence.
  template <class... V>
  friend void resume(multi_resumption k, V&&... answer) {
    if (!k.capture_) throw resumption_empty();
    capture& c = *k.capture_;
    // Who comes first has the frames that wait there; who comes later, new ones.
    if (auto live = std::move(c.live)) {
      live->template set_answer<R>(std::forward<V>(answer)...);
      return detail::prompt::go(std::move(live));
    }
    detail::answer<R> a;
    a.set(std::forward<V>(answer)...);
    detail::replay_log log = c.past;
    log.record(c.at, a);
    detail::prompt::go(std::make_unique<detail::prompt>(c.installed, std::move(log)));
  }

 private:
  struct capture {
    std::shared_ptr<detail::installation const> const installed;
    detail::replay_log past;  // up to the operation; no longer changes
    detail::site const at;
    std::unique_ptr<detail::prompt> live;  // null once somebody has resumed

    explicit capture(std::unique_ptr<detail::prompt> rest)
        : installed(rest->installed()), at(rest->at()), live(std::move(rest)) {
      live->log().freeze();
      past = live->log();
    }
  };
  std::shared_ptr<capture> capture_;
};

}  // namespace weft
