// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/adapters/detail/asio_executors.hpp"
#include "weft/sched/sync/completion.hpp"

/// An operation of Asio for which a process waits.  `N` says which Asio: standalone_asio (asio.hpp)
/// or boost_asio (boost_asio.hpp).
///
///   ASIO-1  The buffers and objects of an operation belong to the process, mostly to its frame.
///       So no frame that awaits an operation ends before the operation has ended, that is, before
///       its handler was called, or destroyed without a call.  The destructor of asio_wait waits
///       for that.  (The rest lies in asio_operation_state, which the frame, the handler and a
///       pending cancellation own together.)
///   ASIO-2  Exactly one asio_ticket, the duty to end the operation, exists from before the
///       operation is begun.  The ticket goes from the function that begins the operation to its
///       handler, and ends the operation once: with values if the handler is called, else when the
///       handler is destroyed.  So an operation ends even if its io_context is destroyed before it
///       has begun.
///   ASIO-3  Asio's objects are not thread safe, an io_context may have several threads, and a
///       composed operation connects its slot anew at each of its steps.  So the operation is
///       begun, its slot is emitted to, and its handler is called in one strand: the executor of
///       the operation's object, or a strand on that executor if it is none itself.
///   ASIO-4  The slot is emitted to under the mutex, and only if the operation has not ended; the
///       end is noted under the mutex.  So nothing is cancelled after the handler was called, when
///       the process may have destroyed the object already.  The mutex is recursive, since a
///       cancelled operation may call its handler at once.
///   ASIO-5  A process that is cancelled, or whose deadline has passed, requests the cancellation
///       and waits, shielded, until the operation ends.  If it may not wait any more, since all
///       processes are cancelled or its frames are being destroyed, its thread blocks instead.
///   ASIO-6  A thread that blocks while it runs the io_context itself (run_on) runs handlers
///       meanwhile, without which the operation would not end.
///   ASIO-7  The result of an operation is delivered, even to a process that has been cancelled
///       meanwhile (docs/decisions/019).  `cancelled` is thrown in place of the error of an
///       operation that was aborted, and before an operation begins.
///   ASIO-8  A strand must not outlive its io_context, and a context may be destroyed while an
///       operation is in flight.  So the state lets its strand go when the operation ends, and the
///       handler and a pending cancellation belong to the context.
namespace weft::detail {

/// The part of an operation that outlives the frame of its process.
template <class N, class Strand, class Canceller, class Values>
class asio_operation_state
    : public std::enable_shared_from_this<asio_operation_state<N, Strand, Canceller, Values>> {
 public:
  using strand_type = Strand;
  using asio = N;

  asio_operation_state(Strand s, Canceller c) : strand_(std::move(s)), canceller_(c) {}

  [[nodiscard]] completion<Values> get_completion() { return source_.get_completion(); }

  // ---- called by the ticket (ASIO-2)

  template <class... Args>
  void end(Args&&... values) noexcept {
    if (!note_end()) return;
    try {
      source_.complete(std::forward<Args>(values)...);
    } catch (...) {
      fail(std::current_exception());
    }
    publish_end();
  }
  /// Ends an operation whose handler was destroyed without a call.
  void drop() noexcept {
    {
      std::lock_guard const lock(mutex_);
      if (is_beginning_) {
        was_dropped_ = true;  // begin() ends the operation, with the exception if it has one
        return;
      }
    }
    end_with(std::make_exception_ptr(completion_dropped()));
  }

  /// Calls the argument, which begins the operation.  If the argument throws, ends the operation
  /// with that exception.
  template <class Begin>
  void begin(Begin const& begin) noexcept {
    set_beginning(true);
    std::exception_ptr error;
    try {
      begin();
    } catch (...) {
      error = std::current_exception();
    }
    bool const was_dropped = set_beginning(false);
    if (was_dropped && !error) error = std::make_exception_ptr(completion_dropped());
    if (error) end_with(std::move(error));
  }

  // ---- called by the process

  /// A copy of the strand.  Called under the mutex; or before the operation is begun; or by the
  /// function that begins it.
  [[nodiscard]] Strand strand() const noexcept { return *strand_; }
  /// Asks the operation to end soon.  Does nothing at a second call.
  void cancel() noexcept {
    if (std::exchange(is_cancelled_, true)) return;
    std::lock_guard const lock(mutex_);
    if (has_ended_) return;
    try {
      // dispatch() gets a copy of the strand: emit() may end the operation at once, and the end
      // destroys strand_.
      N::dispatch(strand(), [self = this->shared_from_this()] { self->emit(); });
    } catch (std::bad_alloc const&) {  // the operation ends by itself, later
    }
  }
  /// Blocks until the operation has ended (ASIO-5, ASIO-6).
  void block() noexcept {
    typename N::io_context* here = nullptr;
    {
      std::lock_guard const lock(mutex_);
      if (strand_) here = asio_context_here<N>(strand());
    }
    // acquire, both: pair with [1] in publish_end(), so that all that the operation did is seen.
    if (here) asio_run<N>(*here, [this] { return is_over_.load(std::memory_order_acquire); });
    is_over_.wait(false, std::memory_order_acquire);  // acquire: pairs with [1]
  }

  typename N::signal cancelling;  // accessed in the strand

 private:
  /// Notes that the operation has ended.  True if it had not ended before.
  bool note_end() noexcept {
    std::lock_guard const lock(mutex_);
    strand_.reset();  // the strand must not outlive the io_context (ASIO-8)
    return !std::exchange(has_ended_, true);
  }
  void end_with(std::exception_ptr error) noexcept {
    if (!note_end()) return;
    fail(std::move(error));
    publish_end();
  }
  /// Completes the wait with the error.  Moves it, so that this thread has given up its reference
  /// when the process goes on.
  void fail(std::exception_ptr error) noexcept {
    for (;;) try {
        return source_.fail(std::move(error));
      } catch (...) {  // no memory to wake the process, which no other thread would do: retries
        error = std::current_exception();
        std::this_thread::yield();
      }
  }
  void publish_end() noexcept {
    is_over_.store(true, std::memory_order_release);  // [1] release: pairs with block()'s acquires
    is_over_.notify_all();
  }
  /// Notes whether begin() is at work.  Returns whether the handler was dropped meanwhile.
  bool set_beginning(bool on) noexcept {
    std::lock_guard const lock(mutex_);
    is_beginning_ = on;
    return was_dropped_;
  }
  void emit() noexcept {
    std::lock_guard const lock(mutex_);
    if (has_ended_) return;  // the process may have destroyed the object already (ASIO-4)
    try {
      cancelling.emit();
      if constexpr (!std::is_null_pointer_v<Canceller>)
        if (!has_ended_) canceller_->cancel();
    } catch (...) {  // the operation ends by itself, later
      (void)std::current_exception();
    }
  }

  std::optional<Strand> strand_;  // guarded by mutex_; null once the operation has ended
  completer<Values> source_;      // used by the party that ends the operation
  [[no_unique_address]] Canceller const canceller_;
  bool is_cancelled_ = false;  // used by the process only
  std::recursive_mutex mutex_;
  bool has_ended_ = false;             // guarded by mutex_
  bool is_beginning_ = false;          // guarded by mutex_
  bool was_dropped_ = false;           // guarded by mutex_
  std::atomic<bool> is_over_ = false;  // set last, when the process has been woken
};

/// The duty to end an operation (ASIO-2).
template <class State>
class asio_ticket {
 public:
  explicit asio_ticket(std::shared_ptr<State> s) noexcept : state_(std::move(s)) {}
  asio_ticket(asio_ticket&&) noexcept = default;
  asio_ticket& operator=(asio_ticket&&) = delete;
  ~asio_ticket() {
    if (state_) state_->drop();
  }
  template <class... Args>
  void end(Args&&... values) noexcept {
    std::exchange(state_, nullptr)->end(std::forward<Args>(values)...);
  }
  [[nodiscard]] std::shared_ptr<State> const& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// The cancellation slot of a handler, if this version of Asio has slots.
template <class N>
class asio_handler_slot {
 public:
  explicit asio_handler_slot(typename N::signal&) noexcept {}
};
template <class N>
  requires N::has_slots
class asio_handler_slot<N> {
 public:
  using cancellation_slot_type = typename N::slot;
  explicit asio_handler_slot(typename N::signal& s) noexcept : slot_(s.slot()) {}
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

 private:
  cancellation_slot_type slot_;
};

/// The handler that Asio calls at the end of the operation.
template <class State, class Values>
class asio_handler : public asio_handler_slot<typename State::asio> {
 public:
  using executor_type = typename State::strand_type;

  explicit asio_handler(asio_ticket<State> t) noexcept
      : asio_handler_slot<typename State::asio>(t.state()->cancelling),
        strand_(t.state()->strand()),
        ticket_(std::move(t)) {}
  [[nodiscard]] executor_type get_executor() const noexcept { return strand_; }
  template <class... Args>
  void operator()(Args&&... values) noexcept {
    ticket_.end(std::forward<Args>(values)...);
  }

 private:
  executor_type strand_;
  asio_ticket<State> ticket_;
};

/// The function that begins an operation, in its strand.
template <class State, class Values, class Initiation, class... Args>
class asio_beginning {
 public:
  asio_beginning(std::shared_ptr<State> s, Initiation&& i, std::tuple<Args...>&& args)
      : ticket_(std::move(s)), initiation_(std::move(i)), args_(std::move(args)) {}
  void operator()() noexcept {
    auto const state = ticket_.state();
    state->begin([&] {
      std::apply(
          [&](Args&... args) {
            std::move(initiation_)(asio_handler<State, Values>(std::move(ticket_)),
                                   std::move(args)...);
          },
          args_);
    });
  }

 private:
  asio_ticket<State> ticket_;
  Initiation initiation_;
  std::tuple<Args...> args_;
};

/// Lies in the frame of the process; the destructor ends the operation, so that the frame does not
/// end first (ASIO-1).
template <class State, class Values>
class asio_wait {
 public:
  explicit asio_wait(std::shared_ptr<State> s)
      : result(s->get_completion()), state_(std::move(s)) {}
  asio_wait(asio_wait const&) = delete;
  asio_wait& operator=(asio_wait const&) = delete;
  ~asio_wait() {
    if (!result.is_ready()) end();
  }
  /// Has the operation begin in its strand.  If this throws, the operation has ended.
  template <class Initiation, class... Args>
  void begin(Initiation&& i, std::tuple<Args...>&& args) {
    // dispatch() has a copy of the strand, since the operation may end, in another thread, before
    // dispatch() returns.
    State::asio::dispatch(state_->strand(), asio_beginning<State, Values, Initiation, Args...>(
                                                state_, std::move(i), std::move(args)));
  }
  void cancel() noexcept { state_->cancel(); }
  /// Cancels the operation, and blocks until it has ended.
  void end() noexcept {
    state_->cancel();
    state_->block();
  }

  completion<Values> result;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace weft::detail
