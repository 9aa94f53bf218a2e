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

/// A scheduler whose steps are handlers of an io_context.
///
///   ASIOLOOP-1  All members are accessed in the strand, or when no thread runs the context.  Any
///       thread may post turn() to it.
///   ASIOLOOP-2  Handlers own this object, so one that is left when the loop has ended finds no
///       scheduler.
///   ASIOLOOP-3  A step may run handlers (ASIO-6), and so a turn may begin inside another one: it
///       does nothing, and the outer one begins another turn after itself.
///   ASIOLOOP-4  The context has work until no process is left.
template <class N, class Scheduler>
class asio_turns : public std::enable_shared_from_this<asio_turns<N, Scheduler>> {
  using executor = typename N::io_context::executor_type;

 public:
  asio_turns(typename N::io_context& c, Scheduler& s)
      : scheduler_(&s), strand_(c.get_executor()), timer_(c), work_(c.get_executor()) {}

  /// Has a turn begin soon.  Any thread may call it.  If there is no memory, it retries, as no other
  /// thread would do it.
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
    } catch (...) {  // no process is left
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
      post();  // tries again
    }
  }

  Scheduler* scheduler_;  // null: no process is left
  typename N::template strand<executor> strand_;
  typename N::timer timer_;
  typename N::work work_;
  bool is_polling_ = false;
  bool is_due_ = false;  // a turn is to follow the one that polls
};

/// What run_on() returns.
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
  /// Ends the processes, which may have operations in flight: runs the context meanwhile.
  void end_processes() {
    scheduler_.shut_down(instant::min(), "the run_on() that ran this process has ended");
    asio_run<N>(context_, [this] { return turns_->has_ended(); });
  }

  typename N::io_context& context_;
  Scheduler& scheduler_;
  std::shared_ptr<asio_turns<N, Scheduler>> const turns_;
};

}  // namespace weft::detail
