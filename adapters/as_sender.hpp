// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/adapters/await_sender.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"

/// Programs, and processes of a running scheduler, as senders of std::execution or a library like
/// it; the template parameter `X` has the names of that library (execution.hpp).
namespace weft {

namespace detail {

/// The result of a computation, empty until it has one; for void a std::monostate.
template <class T>
using sent_result = std::optional<std::conditional_t<std::is_void_v<T>, std::monostate, T>>;

/// Runs the computation, and puts its result into `result`.
template <class Row, class T, class Computation>
eff<void, Row> keep_result(Computation c, sent_result<T>& result) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(c);
    result.emplace();
  } else {
    result.emplace(co_await std::move(c));
  }
}

/// The receiver of an operation, which is completed once, and a stop source, of which a stop is
/// requested when one is requested of the receiver's token.
template <class X, class Receiver>
class completed_receiver {
 public:
  explicit completed_receiver(Receiver r) : receiver_(std::move(r)) {}
  completed_receiver(completed_receiver&&) = delete;

  /// Begins to pass the stop requests of the receiver's token on to the stop source, an earlier
  /// request too, and returns the token of the source.
  [[nodiscard]] std::stop_token listens() {
    on_stop_.emplace(X::get_stop_token(X::get_env(receiver_)), passes_on{&source_});
    return source_.get_token();
  }
  /// Completes the receiver with the result; that may destroy this object.
  template <class T>
  void sends(sent_result<T>& result) noexcept {
    on_stop_.reset();
    if constexpr (std::is_void_v<T>)
      X::set_value(std::move(receiver_));
    else
      X::set_value(std::move(receiver_), *std::move(result));
  }
  void fails(std::exception_ptr error) noexcept {
    on_stop_.reset();
    X::set_error(std::move(receiver_), std::move(error));
  }
  void stops() noexcept {
    on_stop_.reset();
    X::set_stopped(std::move(receiver_));
  }

 private:
  struct passes_on {
    std::stop_source* to;
    void operator()() const noexcept { to->request_stop(); }
  };
  using token = std::decay_t<decltype(X::get_stop_token(X::get_env(std::declval<Receiver&>())))>;

  Receiver receiver_;
  std::stop_source source_;
  std::optional<typename X::template stop_callback<token, passes_on>> on_stop_;
};

template <class X, class T>
struct completions_of_program {
  using sends = typename X::set_value_t(T);
};
template <class X>
struct completions_of_program<X, void> {
  using sends = typename X::set_value_t();
};

/// A sender that keeps the parts of an operation; connect() moves or copies the parts into an
/// `Operation<Receiver>`.
template <class X, class T, template <class> class Operation, class... Parts>
class made_sender {
 public:
  using sender_concept = typename X::sender_t;
  using completion_signatures =
      typename X::template completion_signatures<typename completions_of_program<X, T>::sends,
                                                 typename X::set_error_t(std::exception_ptr),
                                                 typename X::set_stopped_t()>;

  explicit made_sender(Parts... parts) : parts_(std::move(parts)...) {}

  template <class Receiver>
  Operation<Receiver> connect(Receiver r) && {
    return Operation<Receiver>(std::move(r), std::move(parts_));
  }
  template <class Receiver>
  Operation<Receiver> connect(Receiver r) const& {
    return Operation<Receiver>(std::move(r), parts_);
  }

 private:
  std::tuple<Parts...> parts_;
};

template <class X, class F, class... Handlers>
struct program_as_sender {
  using computation = std::invoke_result_t<F&>;
  using value = typename computation::value_type;

  /// The operation of a program: start() runs the program on the calling thread.
  template <class Receiver>
  class operation {
   public:
    using operation_state_concept = typename X::operation_state_t;

    operation(Receiver r, std::tuple<F, Handlers...> parts)
        : receiver_(std::move(r)), parts_(std::move(parts)) {}

    void start() & noexcept {
      sent_result<value> result;
      std::exception_ptr error;
      try {
        auto const stop = receiver_.listens();
        std::apply([&](F& f, Handlers&... handlers) { run(stop, result, f, handlers...); }, parts_);
      } catch (cancelled const&) {
        return receiver_.stops();
      } catch (sender_stopped const&) {
        return receiver_.stops();
      } catch (...) {
        error = std::current_exception();
      }
      if (error) return receiver_.fails(std::move(error));
      receiver_.template sends<value>(result);
    }

   private:
    static void run(std::stop_token const& stop, sent_result<value>& result, F& f,
                    Handlers&... handlers) {
      auto const program = [&f, &result] {
        return keep_result<typename computation::effects, value>(f(), result);
      };
      schedule({.forkable = false, .stop = stop}, program, handlers...);
    }

    completed_receiver<X, Receiver> receiver_;
    std::tuple<F, Handlers...> parts_;
  };
  using sender = made_sender<X, value, operation, F, Handlers...>;
};

/// tasking_of<Submitter>: the tasking<...> among the effects that the submitter names; void if it
/// names none.
template <class E>
struct as_tasking : std::type_identity<void> {};
template <class... Es>
struct as_tasking<tasking<Es...>> : std::type_identity<tasking<Es...>> {};
template <class Submitter>
struct tasking_of;
template <class Backend>
struct tasking_of<submitter<Backend>> : std::type_identity<void> {};
template <class Backend, class E, class... Es>
struct tasking_of<submitter<Backend, E, Es...>>
    : std::conditional_t<std::is_void_v<typename as_tasking<E>::type>,
                         tasking_of<submitter<Backend, Es...>>, as_tasking<E>> {};

template <class X, class Submitter, class F, class... Args>
struct process_as_sender {
  using computation = std::invoke_result_t<F, Args...>;
  using value = typename computation::value_type;
  using tasks = typename tasking_of<Submitter>::type;

  /// The operation of a process: start() submits the process.
  ///
  ///   SENDER-2  Exactly one `reply` refers to the receiver; start() moves it into the process.
  ///       When the reply has been destroyed, the receiver is complete: with a result or an error,
  ///       or else by set_stopped.
  template <class Receiver>
  class operation {
   public:
    using operation_state_concept = typename X::operation_state_t;

    operation(Receiver r, std::tuple<Submitter, F, Args...> parts)
        : receiver_(std::move(r)), parts_(std::move(parts)) {}

    void start() & noexcept {
      reply to(&receiver_);
      try {
        auto stop = receiver_.listens();
        // Moved out of this object: if the process ends before submit() returns, the completed
        // receiver may destroy this object.
        auto parts = std::move(parts_);
        std::apply(
            [&](Submitter& outside, F& f, Args&... args) {
              (void)outside.submit(process, std::move(to), std::move(stop), std::move(f),
                                   std::move(args)...);
            },
            parts);
      } catch (...) {
        // The destructor of the reply completes the receiver by set_stopped.
      }
    }

   private:
    class reply {
     public:
      explicit reply(completed_receiver<X, Receiver>* to) noexcept : to_(to) {}
      reply(reply&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
      reply& operator=(reply&&) = delete;
      ~reply() {
        if (to_) to_->stops();
      }
      [[nodiscard]] completed_receiver<X, Receiver>& take() noexcept {
        return *std::exchange(to_, nullptr);
      }

     private:
      completed_receiver<X, Receiver>* to_;
    };

    static auto process(reply to, std::stop_token stop, F f, Args... args) {
      if constexpr (std::is_void_v<tasks>)
        return replies<typename computation::effects>(std::move(to), std::move(stop), std::move(f),
                                                      std::move(args)...);
      else
        return replies<row<typename computation::effects, tasks>>(std::move(to), std::move(stop),
                                                                  std::move(f), std::move(args)...);
    }
    template <class Row>
    static eff<void, Row> replies(reply to, std::stop_token stop, F f, Args... args) {
      sent_result<value> result;
      std::exception_ptr error;
      try {
        if constexpr (std::is_void_v<tasks>) {
          co_await keep_result<Row, value>(std::invoke(std::move(f), std::move(args)...), result);
        } else {
          auto const body = [&](auto&) {
            return keep_result<Row, value>(std::invoke(std::move(f), std::move(args)...), result);
          };
          co_await with_scope(std::move(stop), body);
        }
      } catch (cancelled const&) {
        // The destructor of `to` completes the receiver by set_stopped.
      } catch (sender_stopped const&) {
      } catch (...) {
        error = std::current_exception();
      }
      if (error)
        to.take().fails(std::move(error));
      else if (result)
        to.take().template sends<value>(result);
    }

    completed_receiver<X, Receiver> receiver_;
    std::tuple<Submitter, F, Args...> parts_;
  };
  using sender = made_sender<X, value, operation, Submitter, F, Args...>;
};

}  // namespace detail

/// Returns a sender that runs a program: when its operation is started, schedule() runs the program
/// on the calling thread, which does nothing else meanwhile (starts_on, of the library, chooses
/// another thread).  `f` is a function without parameters that returns an eff<T, ...>; the handlers
/// are as for schedule(), and each operation has its own copy of them.
///
/// Sends the result of `f`; its exception as an error; and set_stopped if the program ends with
/// sender_stopped, or with `cancelled`, as it does when a stop is requested of the token in the
/// receiver's environment.  The sender can be copied if `f` and the handlers can.  Allocates
/// nothing before it is started; then what schedule() does.
template <class X, class F, class... Handlers>
[[nodiscard]] auto as_sender(F f, Handlers... handlers) {
  return typename detail::program_as_sender<X, F, Handlers...>::sender(std::move(f),
                                                                       std::move(handlers)...);
}

/// Returns a sender that runs a process of a running scheduler: when its operation is started, the
/// process is submitted, and the calling thread goes on.  The operation completes on a thread of
/// the scheduler.
///
///     auto const outside = s.submitter<console, tasking<>>();
///     auto answer = submitted_as_sender<in_stdexec>(outside, serve, request);
///
/// Sends the result of `f(args...)`; its exception as an error, which is then no failure of the
/// scheduler; set_stopped if the process was cancelled, has ended with sender_stopped, or was not
/// submitted because submit() throws: the run is over, or there is no room or no memory.  A stop
/// that is requested of the token in the receiver's environment cancels the process, if the
/// submitter names tasking<...>.
///
/// Allocates what submit() does, and with tasking<...> what with_scope() does.
template <class X, class Submitter, class F, class... Args>
[[nodiscard]] auto submitted_as_sender(Submitter outside, F f, Args... args) {
  return typename detail::process_as_sender<X, Submitter, F, Args...>::sender(
      std::move(outside), std::move(f), std::move(args)...);
}

}  // namespace weft
