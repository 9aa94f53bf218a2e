// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "weft/adapters/detail/asio_executors.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/runtime/polling.hpp"
#include "weft/sched/runtime/scheduler.hpp"

namespace weft::detail {

/// Runs a scheduler in handlers of an io_context.  A turn, here, is one such handler: one call of
/// scheduler::poll().
///
///   ASIOLOOP-1  All members are accessed in the strand, or when no thread runs the context.  Any
///       thread may post turn() to the strand.
///   ASIOLOOP-2  Handlers own this object, so a handler that is left when the loop has ended finds
///       this object, without a scheduler.
///   ASIOLOOP-3  A step may run handlers (asio_operation.hpp, ASIO-6), and so a turn may begin
///       inside another one: the inner turn does nothing, and the outer one posts a further turn
///       when it ends.
///   ASIOLOOP-4  A work guard keeps the context running until no process is left, or the loop has
///       ended.
template <class N, class Scheduler>
class asio_turns : public std::enable_shared_from_this<asio_turns<N, Scheduler>> {
  using executor = typename N::io_context::executor_type;

 public:
  asio_turns(typename N::io_context& c, Scheduler& s)
      : scheduler_(&s), strand_(c.get_executor()), timer_(c), work_(c.get_executor()) {}

  /// Posts a turn.  Thread safe.  If there is no memory, retries, since no other thread would post
  /// that turn.
  void post() noexcept {
    for (;;) try {
        return N::post(strand_, [self = this->shared_from_this()] { self->turn(); });
      } catch (std::bad_alloc const&) {
        std::this_thread::yield();
      }
  }
  [[nodiscard]] bool has_ended() const noexcept { return !scheduler_; }
  void forget_scheduler() noexcept {
    scheduler_ = nullptr;
    work_.reset();
    timer_.cancel();
  }

 private:
  struct polling {
    explicit polling(asio_turns& t) noexcept : of(t) { of.is_polling_ = true; }
    polling(polling const&) = delete;
    polling& operator=(polling const&) = delete;
    ~polling() { of.is_polling_ = false; }
    asio_turns& of;
  };

  void turn() {
    if (!scheduler_) return;
    if (is_polling_) {
      is_due_ = true;
      return;
    }
    auto const left = poll();
    if (left == poll_result::ended)
      forget_scheduler();
    else if (left == poll_result::ready || is_due_)
      post();
    else
      set_timer(scheduler_->next_deadline());
  }
  poll_result poll() {
    polling const now(*this);
    is_due_ = false;
    try {
      return scheduler_->poll();
    } catch (...) {  // poll() throws only when no process is left
      forget_scheduler();
      throw;
    }
  }
  void set_timer(std::optional<instant> t) {
    if (!t || *t == instant::max()) return;
    try {
      timer_.expires_at(*t);
      timer_.async_wait(N::bind(strand_, [self = this->shared_from_this()](auto const& error) {
        if (!error) self->turn();
      }));
    } catch (std::bad_alloc const&) {
      post();  // the next turn tries again
    }
  }

  Scheduler* scheduler_;  // null once no process is left, or the loop has ended
  typename N::template strand<executor> strand_;
  typename N::timer timer_;
  typename N::work work_;
  bool is_polling_ = false;
  bool is_due_ = false;  // whether a turn is to follow the one that polls (ASIOLOOP-3)
};

/// The result of run_on(): runs a scheduler in a context until this object is destroyed.
template <class N, class Scheduler>
class asio_loop {
 public:
  asio_loop(typename N::io_context& c, Scheduler& s)
      : context_(c), scheduler_(s), turns_(std::make_shared<asio_turns<N, Scheduler>>(c, s)) {
    s.on_wakeup([t = turns_.get()] { t->post(); });
    turns_->post();
  }
  asio_loop(asio_loop const&) = delete;
  asio_loop& operator=(asio_loop const&) = delete;
  ~asio_loop() {
    if (!turns_->has_ended()) end_processes();
    scheduler_.on_wakeup({});
    turns_->forget_scheduler();
  }

 private:
  /// Ends the processes, and runs the context meanwhile, since they may have operations in flight.
  void end_processes() {
    scheduler_.shut_down(instant::min(), "the run_on() that ran this process has ended");
    asio_run<N>(context_, [this] { return turns_->has_ended(); });
  }

  typename N::io_context& context_;
  Scheduler& scheduler_;
  std::shared_ptr<asio_turns<N, Scheduler>> const turns_;
};

}  // namespace weft::detail
