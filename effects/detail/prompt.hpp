// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "effects/detail/frame.hpp"
#include "effects/detail/replay_log.hpp"
#include "effects/row.hpp"

/// A prompt: one run of a body under its handlers, its frames and the log of its answers.
///
///   P1  A prompt is owned by one: while it is suspended by the resumption made of it, while it
///       runs by the go() that runs it.  Whoever drops it suspended unwinds its frames.
///   P2  A control clause gets the suspended prompt after everything about it is written; who
///       called the clause touches neither prompt nor frame afterwards.
namespace weft::detail {

/// What an operation sees of its handler.
template <class O>
class clause {
 public:
  using result = typename O::result;
  /// A value clause fills the answer, with a value or what was thrown, and says true.
  virtual bool answers_at_once(O& o, answer<result>& a) = 0;
  /// A control clause gets the rest of the body.
  virtual void control(O o, std::unique_ptr<prompt> rest) = 0;

 protected:
  ~clause() = default;
};

/// A body that can be run again, and the handlers that it runs under.
class installation {
 public:
  installation() = default;
  installation(installation const&) = delete;
  installation& operator=(installation const&) = delete;
  virtual ~installation() = default;

  /// A new run, not started: its outermost frame, which gives its result `to`.
  virtual std::coroutine_handle<> start(answer<void>& to) const = 0;
  /// The clause<O> for the operation whose &name_of<O> that is.
  virtual void* find(std::string_view const* operation) const noexcept = 0;
};

class prompt {
 public:
  explicit prompt(std::shared_ptr<installation const> i, replay_log log = {})
      : installed_(std::move(i)), log_(std::move(log)) {
    log_.rewind();
    innermost_ = installed_->start(result_);
    frame_of(innermost_).within = this;
  }
  prompt(prompt const&) = delete;
  prompt& operator=(prompt const&) = delete;
  ~prompt() { unwind(innermost_); }  // P1

  /// Runs `p` until it ends or a clause has taken it.  Throws what its body throws, or the clause.
  static void go(std::unique_ptr<prompt> p) {
    outcome o;  // on our stack: the prompt may be anyone's when its frames come back to us
    prompt* const running = p.release();
    running->outcome_ = &o;
    detail::drive(std::exchange(running->innermost_, {}));
    std::unique_ptr<prompt> const ended(o.ended ? running : nullptr);
    if (o.error) std::rethrow_exception(o.error);
    if (ended) ended->result_.take();
  }

  /// The outermost frame has ended.
  void end() noexcept {
    if (log_.replaying() && !result_.error())
      outcome_->error = std::make_exception_ptr(log_.divergence());
    outcome_->ended = true;
  }

  /// Ends a run that performs something else than the first did.  Not the program's to catch.
  void end_diverged(std::coroutine_handle<> innermost, site const& at) noexcept {
    innermost_ = innermost;
    outcome_->error = std::make_exception_ptr(log_.divergence(at));
    std::unique_ptr<prompt> const dropped(this);  // P1
  }

  template <class O>
  clause<O>& clause_for() const noexcept {
    return *static_cast<clause<O>*>(installed_->find(&name_of<O>));
  }

  /// Suspends at an operation and gives `rest` to its control clause.
  template <class O>
  void suspend(std::coroutine_handle<> innermost, O o, site const& at,
               answer<typename O::result>& waiting, clause<O>& handler) {
    innermost_ = innermost;
    at_ = at;
    waiting_ = &waiting;
    outcome* const out = outcome_;
    try {
      handler.control(std::move(o), std::unique_ptr<prompt>(this));  // P2
    } catch (...) {
      out->error = std::current_exception();
    }
  }

  /// Fills the answer that a suspended prompt waits for, an answer<R>, and records it.
  template <class R, class... V>
  void set_answer(V&&... value) {
    auto& a = *static_cast<answer<R>*>(waiting_);
    a.set(std::forward<V>(value)...);
    log_.record(at_, a);
  }

  [[nodiscard]] replay_log& log() noexcept { return log_; }
  [[nodiscard]] site const& at() const noexcept { return at_; }
  [[nodiscard]] std::shared_ptr<installation const> const& installed() const noexcept {
    return installed_;
  }

 private:
  struct outcome {
    bool ended = false;
    std::exception_ptr error;  // of a control clause
  };

  std::shared_ptr<installation const> installed_;
  replay_log log_;
  std::coroutine_handle<> innermost_;  // null while running
  site at_;                            // suspended: the operation
  void* waiting_ = nullptr;            // suspended: the answer<R> in the innermost frame
  outcome* outcome_ = nullptr;         // in the go() that runs us
  answer<void> result_;
};

template <class Promise>
transfer at_end::await_suspend(std::coroutine_handle<Promise> me) const noexcept {
  auto const up = me.promise().parent;
  prompt* const within = me.promise().within;
  me.destroy();
  if (!up) within->end();
  return go_on(up);
}

}  // namespace weft::detail
