// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/adapters/detail/asio_executors.hpp"
#include "weft/adapters/detail/asio_operation.hpp"
#include "weft/adapters/use_weft.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/tasks/shielded.hpp"

/// How a process awaits an operation of Asio, and what the operation yields.
namespace weft::detail {

// ---- what an operation yields

/// Why an operation was asked to end.
struct asio_outcome {
  std::exception_ptr was_cancelled;  // the `cancelled` that the process has found, or null
  bool was_too_late = false;         // whether the deadline has passed
};

template <class... Ts>
struct asio_yields : identity<std::tuple<Ts...>> {};
template <>
struct asio_yields<> : identity<void> {};
template <class T>
struct asio_yields<T> : identity<T> {};

/// Returns the values of an operation, from the one with index `From` on.
template <std::size_t From, class... Ts>
auto asio_values(std::tuple<Ts...>&& from) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    using type = typename asio_yields<std::tuple_element_t<From + Is, std::tuple<Ts...>>...>::type;
    if constexpr (!std::is_void_v<type>) return type(std::get<From + Is>(std::move(from))...);
  }(std::make_index_sequence<sizeof...(Ts) - From>());
}

/// The result of an operation without an error: its values.
template <class N, class... Ts>
struct asio_result {
  static auto finish(std::tuple<Ts...>&& values, asio_outcome const&) {
    return asio_values<0>(std::move(values));
  }
};
/// The result of an operation whose first value is an error code: the other values, or the code is
/// thrown.
template <class N, class... Ts>
  requires std::is_same_v<std::tuple_element_t<0, std::tuple<Ts..., void>>, typename N::error_code>
struct asio_result<N, Ts...> {
  static void adjust(typename N::error_code& error, asio_outcome const& how) {
    if (how.was_too_late && error == N::aborted()) error = N::timed_out();
  }
  static auto finish(std::tuple<Ts...>&& values, asio_outcome const& how) {
    auto& error = std::get<0>(values);
    if (how.was_cancelled && error == N::aborted()) std::rethrow_exception(how.was_cancelled);
    adjust(error, how);
    if (error) throw typename N::system_error(error);
    return asio_values<1>(std::move(values));
  }
};
/// The result of an operation whose first value is an exception_ptr: the other values, or the
/// exception is thrown.
template <class N, class... Ts>
  requires std::is_same_v<std::tuple_element_t<0, std::tuple<Ts..., void>>, std::exception_ptr>
struct asio_result<N, Ts...> {
  static auto finish(std::tuple<Ts...>&& values, asio_outcome const& how) {
    if (auto const& error = std::get<0>(values)) try {
        std::rethrow_exception(error);
      } catch (typename N::system_error const& e) {
        if (how.was_cancelled && e.code() == N::aborted())
          std::rethrow_exception(how.was_cancelled);
        throw;
      }
    return asio_values<1>(std::move(values));
  }
};
/// The result of an operation whose token says as_tuple(): all values, and none is thrown.
template <class N, class... Ts>
struct asio_whole_result {
  static std::tuple<Ts...> finish(std::tuple<Ts...>&& values, asio_outcome const& how) {
    if constexpr (requires { asio_result<N, Ts...>::adjust(std::get<0>(values), how); })
      asio_result<N, Ts...>::adjust(std::get<0>(values), how);
    return std::move(values);
  }
};

// ---- how a process awaits an operation

/// Lets the other ready processes run.  A process that is cancelled finds `cancelled` here.
inline eff<void, completions> before_asio_operation() {
  external_event here;
  here.open();
  co_await completions::wait(here);
}

/// Waits until the operation has ended.  If the process is cancelled, or the deadline passes, notes
/// that in `how`, cancels the operation, and waits on (ASIO-5).
template <class State, class Values>
eff<Values, completions> asio_operation_ends(asio_wait<State, Values>& wait, instant deadline,
                                             asio_outcome& how) {
  try {
    if (deadline == instant::max()) {
      Values v = co_await wait.result.wait();
      co_return v;
    }
    std::optional<Values> v = co_await wait.result.wait_until(deadline);
    if (v) co_return std::move(*v);
    how.was_too_late = true;
  } catch (cancelled const&) {
    how.was_cancelled = std::current_exception();
  }
  wait.cancel();
  try {
    Values v = co_await shielded([&] { return wait.result.wait(); });
    co_return v;
  } catch (cancelled const&) {  // all processes are cancelled
    how.was_cancelled = std::current_exception();
  }
  wait.end();
  Values v = co_await wait.result.wait();
  co_return v;
}

template <class Result, class Values>
using awaits_asio =
    eff<decltype(Result::finish(std::declval<Values>(), std::declval<asio_outcome const&>())),
        completions>;
template <class N, class Result, class Values, class Executor, class Canceller, class Initiation,
          class... Args>
awaits_asio<Result, Values> await_asio_operation(Executor executor, Canceller canceller,
                                                 instant deadline, Initiation initiation,
                                                 std::tuple<Args...> args) {
  co_await before_asio_operation();
  using strand = decltype(asio_strand_of<N>(std::declval<Executor>()));
  using state = asio_operation_state<N, strand, Canceller, Values>;
  asio_wait<state, Values> wait(
      std::make_shared<state>(asio_strand_of<N>(std::move(executor)), canceller));
  wait.begin(std::move(initiation), std::move(args));
  asio_outcome how;
  Values v = co_await asio_operation_ends(wait, deadline, how);
  co_return Result::finish(std::move(v), how);
}

// ---- the executor of an operation

/// Whether an operation has an executor: that of its initiation, or that of the object to which its
/// first argument points.
template <class Initiation, class... Args>
constexpr bool asio_names_executor = requires(Initiation const& i) { i.get_executor(); };
template <class Initiation, class First, class... Args>
constexpr bool asio_names_executor<Initiation, First, Args...> = requires(Initiation const& i) {
  i.get_executor();
} || requires(First& f) { f->get_executor(); };

template <class Initiation, class... Args>
auto asio_executor_of(Initiation const& i, Args const&... args) {
  if constexpr (requires { i.get_executor(); })
    return i.get_executor();
  else
    return std::get<0>(std::tie(args...))->get_executor();
}

template <class N, class Token, class... Ts>
struct asio_token_result {
  using values = std::tuple<Ts...>;
  using result =
      std::conditional_t<Token::is_as_tuple, asio_whole_result<N, Ts...>, asio_result<N, Ts...>>;

  /// Returns the computation that performs the operation.  The result type is not deduced: Asio
  /// checks with a dummy initiation whether this can be called, and a deduced type would make the
  /// compiler instantiate the body for the dummy.
  template <class Initiation, class... Args>
  static awaits_asio<result, values> initiate(Initiation&& initiation, Token token,
                                              Args&&... args) {
    using begins = std::decay_t<Initiation>;
    constexpr bool names_executor =
        Token::has_executor || asio_names_executor<begins, std::decay_t<Args>...>;
    static_assert(names_executor,
                  "weft: this operation of Asio names no executor in which it is to begin: "
                  "use_weft.on(executor)");
    if constexpr (names_executor) {
      auto executor = [&] {
        if constexpr (Token::has_executor)
          return token.executor_;
        else
          return asio_executor_of(initiation, args...);
      }();
      return await_asio_operation<N, result, values>(
          std::move(executor), token.canceller_, token.deadline_,
          begins(std::forward<Initiation>(initiation)),
          std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
    }
  }
};

}  // namespace weft::detail
