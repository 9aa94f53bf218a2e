// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "weft/effects/detail/mistakes/refused.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/resumption.hpp"

namespace weft {

namespace detail {

/// The type that `co_await` of an `A` yields.  An awaitable that depends on the row of the awaiting
/// coroutine declares this type as its member `result`, as operations do;
/// promise_type::await_transform checks the declaration.
template <class A>
struct awaited_result {};
template <class A>
  requires requires { typename A::result; }
struct awaited_result<A> : identity<typename A::result> {};
template <class T, class... Es>
struct awaited_result<eff<T, Es...>> : identity<T> {};
template <effect E, class O>
struct awaited_result<masked<E, O>> : identity<typename O::result> {};

/// The type that a call of `F` yields in the end: the result type of a plain function; or, if `F`
/// returns a computation, the type that a `co_await` of the computation yields; or void if `F`
/// cannot be called with `Args...`, which another message reports.
template <class F, class... Args>
struct awaited_call : identity<void> {};
template <class F, class... Args>
  requires std::invocable<F, Args...>
struct awaited_call<F, Args...> : identity<std::invoke_result_t<F, Args...>> {};
template <class F, class... Args>
  requires std::invocable<F, Args...> && is_eff<std::invoke_result_t<F, Args...>>
struct awaited_call<F, Args...> : identity<typename std::invoke_result_t<F, Args...>::value_type> {
};
template <class F, class... Args>
using awaited_call_t = typename awaited_call<F, Args...>::type;
/// The result type of a call of `F`; void if `F` cannot be called with `Args...`.
template <class F, class... Args>
struct call_result : identity<void> {};
template <class F, class... Args>
  requires std::invocable<F, Args...>
struct call_result<F, Args...> : std::invoke_result<F, Args...> {};
template <class F, class... Args>
using call_result_t = typename call_result<F, Args...>::type;

}  // namespace detail

/// An awaitable of which `co_await` yields a `T`.  The declaration `awaits_to<T> auto f()` says
/// this of the result of `f`.
template <class A, class T>
concept awaits_to = detail::is_refused<A> ||
                    std::same_as<typename detail::awaited_result<std::remove_cvref_t<A>>::type, T>;

}  // namespace weft
