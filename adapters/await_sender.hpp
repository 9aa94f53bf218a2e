// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <exception>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/tasks/shielded.hpp"

/// Processes that await senders of std::execution or a library like it; the template parameter `X`
/// has the names of that library (execution.hpp).
namespace weft {

/// Thrown where a process awaits a sender that has ended by set_stopped, although the process did
/// not request a stop.
struct [[gnu::visibility("default")]] sender_stopped : std::exception {
  [[nodiscard]] char const* what() const noexcept override {
    return "weft: the sender that was awaited has stopped, and has no value";
  }
};

namespace detail {

template <class...>
struct types {};

/// The type that awaiting a sender yields, from its value completions: the type of the value, a
/// tuple of several, or void.
template <class Completions>
struct sent_value {
  static constexpr bool is_one = false;
  using type = void;
};
template <>
struct sent_value<types<>> : std::type_identity<void> {  // it sends only errors, or stops
  static constexpr bool is_one = true;
};
template <class... Ts>
struct sent_value<types<types<Ts...>>> : std::type_identity<std::tuple<std::decay_t<Ts>...>> {
  static constexpr bool is_one = true;
};
template <class T>
struct sent_value<types<types<T>>> : std::type_identity<std::decay_t<T>> {
  static constexpr bool is_one = true;
};
template <>
struct sent_value<types<types<>>> : std::type_identity<void> {
  static constexpr bool is_one = true;
};

template <class E>
std::exception_ptr sent_error(E&& error) {
  if constexpr (std::same_as<std::decay_t<E>, std::exception_ptr>)
    return std::forward<E>(error);
  else if constexpr (std::same_as<std::decay_t<E>, std::error_code>)
    return std::make_exception_ptr(std::system_error(error));
  else
    return std::make_exception_ptr(std::forward<E>(error));
}

/// The state of a wait for a sender, by which the receiver completes the wait of the process.
///
///   SENDER-1  The state has two owners: the process that waits, and the operation, which gives its
///       share back when it has completed.  Each of the two may give up its share while the other
///       still uses the state; so the last owner deletes the state.
///   SENDER-3  The sender may refer to objects in frames of the process.  So no frame that awaits a
///       sender ends before the sender has completed: a process that is cancelled, or whose
///       deadline has passed, requests a stop and waits, shielded from cancellation; if it may not
///       wait any more, since all processes are cancelled or its frames are being destroyed, its
///       thread blocks instead.
template <class X, class T>
class sender_wait {
 public:
  sender_wait(sender_wait const&) = delete;
  sender_wait& operator=(sender_wait const&) = delete;

  void release() noexcept {
    // acq_rel: pairs with itself: the last owner, which deletes the state, sees all that the other
    // did.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Completes the wait with the value, and gives back the operation's share.
  template <class... Values>
  void on_value(Values&&... values) noexcept {
    try {
      source.complete(std::forward<Values>(values)...);
    } catch (...) {
      fail(std::current_exception());
    }
    end();
  }
  void on_error(std::exception_ptr error) noexcept {
    fail(std::move(error));
    end();
  }
  /// Whether the sender has completed with an error, or has stopped.
  [[nodiscard]] bool has_failed() const noexcept {
    // [1] acquire: pairs with [2] in fail(); no data depends on it: `source` publishes the error.
    return has_failed_.load(std::memory_order_acquire);
  }
  /// Blocks the thread until the sender has completed.
  void block() const noexcept {
    is_over_.wait(false, std::memory_order_acquire);  // [3] acquire: pairs with [4] in end()
  }

  completer<T> source;
  typename X::stop_source stop;

 protected:
  sender_wait() = default;
  virtual ~sender_wait() = default;

 private:
  void fail(std::exception_ptr error) noexcept {
    // [2] release: pairs with [1] in has_failed(), and publishes no data.
    has_failed_.store(true, std::memory_order_release);
    source.fail(std::move(error));
  }
  void end() noexcept {
    // [4] release: pairs with [3] in block(), which so returns after all that the sender did.
    is_over_.store(true, std::memory_order_release);
    is_over_.notify_all();
    release();
  }

  std::atomic<unsigned char> owners_ = 2;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> is_over_ = false;
};

/// The environment of a receiver: it has a stop token.
template <class X>
struct sender_environment {
  typename X::stop_source* source;
  [[nodiscard]] auto query(typename X::get_stop_token_t) const noexcept {
    return source->get_token();
  }
};

template <class X, class T>
class sender_receiver {
 public:
  using receiver_concept = typename X::receiver_t;

  explicit sender_receiver(sender_wait<X, T>& w) noexcept : wait_(&w) {}
  template <class... Values>
  void set_value(Values&&... values) && noexcept {
    wait_->on_value(std::forward<Values>(values)...);
  }
  template <class E>
  void set_error(E&& error) && noexcept {
    wait_->on_error(sent_error(std::forward<E>(error)));
  }
  void set_stopped() && noexcept { wait_->on_error(std::make_exception_ptr(sender_stopped())); }
  [[nodiscard]] sender_environment<X> get_env() const noexcept { return {&wait_->stop}; }

 private:
  sender_wait<X, T>* wait_;
};

template <class X, class T, class Sender>
class sender_operation final : public sender_wait<X, T> {
 public:
  explicit sender_operation(Sender&& s)
      : operation_(X::connect(std::move(s), sender_receiver<X, T>(*this))) {}
  void start() noexcept { X::start(operation_); }

 private:
  decltype(X::connect(std::declval<Sender>(), std::declval<sender_receiver<X, T>>())) operation_;
};

/// The waiting process's share of the state (SENDER-1).
template <class X, class T, class Sender>
class sender_share {
 public:
  explicit sender_share(Sender&& s)
      : to_(new sender_operation<X, T, Sender>(std::move(s))),
        result(to_->source.get_completion()) {
    to_->start();
  }
  sender_share(sender_share const&) = delete;
  sender_share& operator=(sender_share const&) = delete;
  ~sender_share() {
    if (!result.is_ready()) {  // the sender must complete before the frame ends (SENDER-3)
      request_stop();
      to_->block();
    }
    to_->release();
  }
  void request_stop() noexcept { to_->stop.request_stop(); }
  [[nodiscard]] bool has_failed() const noexcept { return to_->has_failed(); }

 private:
  sender_operation<X, T, Sender>* to_;

 public:
  completion<T> result;
};

/// Waits until the sender has completed.  If the process is cancelled meanwhile, requests a stop,
/// and waits on (SENDER-3).  Yields the sender's value, or throws its error.  If the sender has
/// stopped, throws sender_stopped, or `cancelled` if the process was cancelled.  If all processes
/// are cancelled, throws `cancelled`, too.
template <class T, class Share>
eff<T, completions> sender_ends(Share& share) {
  std::exception_ptr why;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await share.result.wait();
      co_return;
    } else {
      T value = co_await share.result.wait();
      co_return value;
    }
  } catch (cancelled const&) {
    if (share.has_failed()) throw;  // `cancelled` may be the error of the sender itself
    why = std::current_exception();
  }
  share.request_stop();
  try {
    if constexpr (std::is_void_v<T>) {
      co_await shielded([&] { return share.result.wait(); });
      co_return;
    } else {
      T value = co_await shielded([&] { return share.result.wait(); });
      co_return value;
    }
  } catch (sender_stopped const&) {
  }
  std::rethrow_exception(why);
}

template <class X, class Sender>
using sent_by =
    sent_value<typename X::template value_types_of<Sender, sender_environment<X>, types, types>>;

/// Whether await_sender can await the sender.  If not, a static_assert says why.
template <class X, class Sender>
consteval bool require_one_value() {
  constexpr bool has_one = sent_by<X, Sender>::is_one;
  static_assert(has_one,
                "weft: a process awaits a sender with one value completion: use into_variant for a "
                "sender that has several");
  return has_one;
}

}  // namespace detail

/// Awaits the sender: connects it, starts it on this thread, and waits until it completes, on any
/// thread; other processes run meanwhile.
///
/// Yields the value that the sender sends, a std::tuple of several values, or nothing if there is
/// none.  Throws the error of the sender; sender_stopped if the sender has stopped.  The wait seals
/// (operation.hpp).
///
/// A process that is cancelled requests a stop of the sender, and goes on when the sender has
/// completed: with the value or the error, if there is one all the same, else with `cancelled`.  So
/// a sender may refer to objects of the process.  If all processes are cancelled, the thread blocks
/// until the sender has completed; so a sender must not need that thread.
///
/// Five allocations: the operation, the completion's state, three frames.  Throws what connecting
/// throws; bad_alloc.
template <class X, class Sender, class T = typename detail::sent_by<X, Sender>::type>
eff<T, completions> await_sender(Sender s) {
  if constexpr (detail::require_one_value<X, Sender>()) {
    detail::sender_share<X, T, Sender> share(std::move(s));
    if constexpr (std::is_void_v<T>) {
      co_await detail::sender_ends<T>(share);
    } else {
      T value = co_await detail::sender_ends<T>(share);
      co_return value;
    }
  }
}

/// Awaits the sender as await_sender() does, but requests a stop of the sender at `t`.  Yields a
/// std::optional of the value, or a bool if the sender sends no value: empty, or false, if the
/// sender has stopped after `t`.  Four allocations, six after `t`; throws what await_sender()
/// throws.
template <class X, class Sender, class T = typename detail::sent_by<X, Sender>::type>
eff<detail::if_in_time<T>, completions> await_sender_until(Sender s, instant t) {
  if constexpr (detail::require_one_value<X, Sender>()) {
    detail::sender_share<X, T, Sender> share(std::move(s));
    bool is_late = false;
    try {
      detail::if_in_time<T> value = co_await share.result.wait_until(t);
      if (value) co_return value;
      is_late = true;
    } catch (cancelled const&) {
      if (share.has_failed()) throw;  // `cancelled` may be the error of the sender itself
    }
    share.request_stop();
    try {
      if constexpr (std::is_void_v<T>) {
        co_await detail::sender_ends<T>(share);
        co_return true;
      } else {
        detail::if_in_time<T> value = co_await detail::sender_ends<T>(share);
        co_return value;
      }
    } catch (sender_stopped const&) {
      if (!is_late) throw;
    }
    co_return detail::if_in_time<T>();
  }
}

}  // namespace weft
