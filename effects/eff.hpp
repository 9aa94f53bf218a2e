// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/calling.hpp"
#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/mistakes/refused.hpp"
#include "weft/effects/detail/performing.hpp"
#include "weft/effects/detail/promise_by_parameters.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/effects/row.hpp"

namespace weft::detail {
template <class H, class Es, class Body, class Policy>
class handling;
template <class Around, class H, class Es, class Body, class Policy>
auto await_handling(handling<H, Es, Body, Policy>&& what,
                    std::source_location where);  // handle.hpp

/// An awaitable whose member operation_in<Row>() makes the operation, which may depend on the row
/// of the awaiting coroutine, and refer to the awaitable; or which has attempt(), and a class
/// `performed` that makes the operation (attempting).  An lvalue is accepted only if it declares
/// `may_be_awaited_again`.
template <class X>
concept row_aware_operation =
    std::remove_reference_t<X>::row_aware_operation && (!std::is_lvalue_reference_v<X> || requires {
      requires std::remove_reference_t<X>::may_be_awaited_again;
    });
/// An awaitable whose member awaiter_in<Row>(where) gives an awaiter that depends on the row of the
/// awaiting coroutine.
template <class X>
concept row_aware_awaitable = !std::is_lvalue_reference_v<X> && X::row_aware_awaitable;
/// An awaitable with awaiter_in<Row>(where) that is passed by value.  If its class is
/// [[clang::trivial_abi]], it needs no place in the frame.
template <class X>
concept awaited_by_value = requires { requires X::is_awaited_by_value; };
/// Whether the `Awaiter` of an `X` yields the type that `X` declares as its member `result`
/// (awaits_to.hpp).  True if there is no such member, or if another static_assert has rejected
/// `Awaiter`.
template <class X, class Awaiter>
constexpr bool yields_its_result = true;
template <class X, class Awaiter>
  requires(!is_refused<Awaiter> && requires { typename std::remove_cvref_t<X>::result; })
constexpr bool yields_its_result<X, Awaiter> =
    std::is_same_v<decltype(std::declval<Awaiter&>().await_resume()),
                   typename std::remove_cvref_t<X>::result>;
/// The type that an `X` declares as its member `result`.
template <class X>
struct result_declared_by : identity<anything> {};
template <class X>
  requires requires { typename X::result; }
struct result_declared_by<X> : identity<typename X::result> {};
template <class X>
using result_of = typename result_declared_by<X>::type;
/// An `X` whose member finish(answer) turns the answer of its operation into the result of the
/// co_await.
template <class X, class R>
concept finishes = (std::is_void_v<R> && requires(X& x) { x.finish(); }) ||
                   (!std::is_void_v<R> && requires(X& x, R r) { x.finish(std::forward<R>(r)); });
}  // namespace weft::detail

/// A computation of a `T` that may perform the effects of its row, and no others.
///
///     eff<int, proc, console> f() {
///       co_await console::print_line{"before"};      // perform an operation
///       co_await proc::yield{};
///       int const n = co_await g();                  // call another; its row is within ours
///       co_return co_await handle<failure<bad>>(h, g2(n));  // g2 may fail as well
///     }
///
/// Lazy: the body starts when the eff is awaited.  co_await leaves the eff empty, and yields the
/// `T` or throws what the body threw.  If the eff is destroyed before it is awaited, the body never
/// runs.  A call allocates a frame from a pool, and uses no native stack, however deep the calls
/// are nested.  A call is O(1).  Throws eff_empty if it is awaited a second time, or after a
/// move from it; bad_alloc where the coroutine is called.  Used by one thread at a time.
///
/// A capturing lambda that is a coroutine refers to its closure, which must outlive the frame:
/// write a function with parameters instead.
template <class T, class... Effects>
class [[nodiscard("weft: a computation runs once it is awaited: co_await it, or run it"),
        clang::trivial_abi]] weft::eff {
  static_assert(detail::require_value<T>());

 public:
  using value_type = std::remove_reference_t<T>;
  using effects = detail::row_set<Effects...>;
  class promise_type;
  class owning_promise_type;

  eff(eff&& other) noexcept : frame_(other.frame_) { other.frame_ = nullptr; }
  eff(eff const&) = delete;  // weft: a computation is taken once: call it here, or std::move(e)
  template <class Other>
  eff(Other const&) = delete;  // weft: a coroutine makes its eff: write co_return, not return
  eff& operator=(eff other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~eff() {
    if (frame_) [[unlikely]]
      destroy(frame_);
  }

  /// Throws eff_empty if the eff was awaited before, or moved from.
  void require_whole(detail::internal) const {
    if (!frame_) [[unlikely]]
      throw_empty();
  }
  /// Releases the frame to the caller, which starts it.  Throws eff_empty if there is none.
  [[nodiscard]] std::coroutine_handle<promise_type> release(detail::internal) {
    if (!frame_) [[unlikely]]
      throw_empty();
    auto const frame = frame_;
    frame_ = nullptr;
    return frame;
  }

 private:
  explicit eff(std::coroutine_handle<promise_type> f) noexcept : frame_(f) {}
  [[gnu::cold, gnu::noinline]] static void destroy(std::coroutine_handle<> f) noexcept {
    f.destroy();
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_empty() { throw eff_empty(); }

  std::coroutine_handle<promise_type> frame_;
};

template <class T, class... Effects>
class weft::eff<T, Effects...>::promise_type
    : public detail::frame_with_result<std::remove_reference_t<T>> {
  using row_mistake = detail::row_mistake<effects>;
  using here = std::source_location;

 public:
  eff get_return_object() noexcept {
    (void)row_mistake::report();  // here, since every coroutine instantiates this
    return eff(std::coroutine_handle<promise_type>::from_promise(*this));
  }
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] detail::at_end final_suspend() const noexcept { return {}; }

  /// co_yield: always an error, since a computation emits values by an operation
  template <class X>
  std::suspend_never yield_value(X&&) {
    static_assert(!std::is_same_v<X, X>,
                  "weft: a computation emits a value by an operation: co_await "
                  "emit<T>::value{v}, not co_yield");
    return {};
  }

  /// co_await operation
  template <operation O>
  auto await_transform(O o, here where = here::current()) {
    using E = typename detail::effect_of<O, effects>::type;
    if constexpr (mistake<O>::report() && detail::can_be_performed<O>())
      return detail::performing<E, O>(std::move(o), *handler_of<E>(), where);
    else
      return detail::refused<typename O::result>();
  }

  /// co_await outer_of<E>(operation)
  template <class E, class O>
  auto await_transform(detail::masked<E, O>&& o, here where = here::current()) {
    if constexpr (mistake<O>::report() && detail::can_be_performed<O>()) {
      auto* const nearest = handler_of<E>();
      auto* const next = nearest->clauses->beyond(*nearest);
      if (!next)
        detail::throw_no_outer(detail::name_of<O>, where, nearest->clauses->prompt_of(*nearest));
      return detail::performing<E, O>(std::move(o.operation), *next, where);
    } else {
      return detail::refused<typename O::result>();
    }
  }

  /// co_await detail::located(operation, where): messages name `where`, a line of the caller
  template <class O>
  auto await_transform(detail::located<O>&& o) {
    return await_transform(std::move(o.operation), o.where);
  }

  /// co_await computation
  template <class U, class... Fs>
  auto await_transform(eff<U, Fs...>&& child, here where = here::current()) {
    using callee = eff<U, Fs...>;
    using outside = detail::row_difference<typename callee::effects, effects>;
    constexpr bool is_well = detail::is_well<detail::row_mistake<typename callee::effects>>;
    static_assert(detail::is_empty_row<outside> || !is_well,
                  "weft: the awaited computation may perform an effect that is outside the row "
                  "of the coroutine that awaits it");
    if constexpr (detail::is_empty_row<outside> && is_well)
      return detail::calling<typename callee::value_type, typename callee::promise_type,
                             typename callee::effects, effects>(child.release(detail::internal()),
                                                                where);
    else
      return detail::refused<typename callee::value_type>();
  }

  /// co_await std::move(k)(value), and k(value) of a multi_resumption
  template <class A, class Rest>
  detail::resuming<A, Rest>&& await_transform(detail::resuming<A, Rest>&& k,
                                              here where = here::current()) noexcept {
    return k.at(where);
  }

  /// co_await handle<E>(h, body)
  template <class H, class Es, class Body, class Policy>
  auto await_transform(detail::handling<H, Es, Body, Policy>&& what, here where = here::current()) {
    return detail::await_handling<effects>(std::move(what), where);
  }

  /// co_await spawn(f), or another awaitable whose operation depends on the row of this coroutine;
  /// the awaitable may convert the answer
  template <detail::row_aware_operation X>
  [[gnu::always_inline]] auto await_transform(X&& x, here where = here::current()) {
    if constexpr (requires { x.attempt(nullptr); }) {  // mail: at first without its operation
      using performed = typename std::remove_reference_t<X>::performed;
      using O = decltype(std::declval<performed&>().template operation_in<effects>());
      if constexpr (detail::is_refused<O>) {
        return detail::refused<typename std::remove_reference_t<X>::result>();
      } else if constexpr (mistake<O>::report() && detail::can_be_performed<O>()) {
        using E = typename detail::effect_of<O, effects>::type;
        return detail::attempting<std::remove_reference_t<X>, effects, E, O>(x, *handler_of<E>(),
                                                                             where);
      } else {
        return detail::refused<typename std::remove_reference_t<X>::result>();
      }
    } else if constexpr (detail::is_refused<decltype(x.template operation_in<effects>())>) {
      return detail::refused<detail::result_of<std::remove_reference_t<X>>>();
    } else {
      return perform_in_row(x, where);
    }
  }
  template <class X>
  auto perform_in_row(X& x, here where) {
    auto const perform = [&] { return await_transform(x.template operation_in<effects>(), where); };
    if constexpr (detail::finishes<X, decltype(perform().await_resume())>) {
      using awaiter = detail::finishing<X, decltype(perform())>;
      static_assert(detail::yields_its_result<X, awaiter>);
      return awaiter(x, perform);
    } else {
      static_assert(detail::yields_its_result<X, decltype(perform())>);
      return perform();
    }
  }

  /// co_await with_scope(f), or another awaitable whose awaiter depends on this coroutine's row
  template <detail::row_aware_awaitable X>
  auto await_transform(X&& x, here where = here::current()) {
    static_assert(detail::yields_its_result<X, decltype(x.template awaiter_in<effects>(where))>);
    return x.template awaiter_in<effects>(where);
  }

  /// co_await when_all(a, b), or another awaitable that is passed by value, and whose awaiter
  /// depends on the row of this coroutine
  template <detail::awaited_by_value X>
  [[gnu::always_inline]] auto await_transform(X x, here where = here::current()) {
    static_assert(detail::yields_its_result<X, decltype(x.template awaiter_in<effects>(where))>);
    return x.template awaiter_in<effects>(where);
  }

  /// co_await of an expression that another static_assert has rejected: adds no second error
  template <class R>
  detail::refused<R> await_transform(detail::refused<R> r, here = {}) noexcept {
    return r;
  }

  template <class X>
    requires(!operation<std::remove_cvref_t<X>> && !detail::row_aware_operation<X> &&
             !detail::row_aware_awaitable<X> && !detail::awaited_by_value<std::remove_cvref_t<X>>)
  auto await_transform(X&&) {
    constexpr bool is_resumption = detail::is_resumption<std::remove_cvref_t<X>>;
    static_assert(!is_resumption,
                  "weft: a resumption is not awaited but resumed: co_await std::move(k)(v), or "
                  "co_await k(v) if it is a multi_resumption");
    if constexpr (!is_resumption)
      static_assert(
          detail::is_allowed<X>,
          "weft: an awaited expression must be an operation, or a computation that is called "
          "here or moved: std::move(e)");
    return detail::refused();
  }

 private:
  /// The mistake for which the coroutine may not perform an `O`; no_mistake if it may.
  template <class O>
  static consteval auto find_mistake() {
    if constexpr (!detail::is_well<row_mistake>) {
      return detail::reported_mistake();  // get_return_object() reports it
    } else {
      constexpr int effects_that_list_it = detail::effect_of<O, effects>::count;
      if constexpr (effects_that_list_it == 0)
        return detail::operation_outside_row<O>();
      else if constexpr (effects_that_list_it > 1)
        return detail::operation_of_two_effects<O>();
      else
        return detail::no_mistake();
    }
  }
  template <class O>
  using mistake = decltype(find_mistake<O>());
  template <class E>
  [[nodiscard]] detail::evidence<E>* handler_of() const noexcept {
    // The caller has set `evidence`, which the analyzer does not follow.
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
    return detail::find<E, effects>(this->evidence);
  }
};

/// The promise of a coroutine with a parameter that is not trivially copyable.  Its operator new
/// marks the frame as one that must not be copied byte by byte (frame_arena.hpp).
template <class T, class... Effects>
class weft::eff<T, Effects...>::owning_promise_type : public promise_type {
 public:
  static void* operator new(std::size_t bytes) {
    return detail::frames.take<detail::block_owner::body_owning>(bytes);
  }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    detail::frames.give(block, bytes);
  }
};

namespace weft::detail {

template <class T>
constexpr bool is_eff_type = false;
template <class T, class... Es>
constexpr bool is_eff_type<eff<T, Es...>> = true;
template <class T>
concept is_eff = is_eff_type<T>;
/// A function that returns a computation each time it is called.
template <class F, class... Args>
concept body_function = std::invocable<F&, Args...> && is_eff<std::invoke_result_t<F&, Args...>>;

}  // namespace weft::detail

/// Checks the parameters of every coroutine that returns an eff, and selects its promise.
template <class T, class... Effects, class... Parameters>
struct std::coroutine_traits<weft::eff<T, Effects...>, Parameters...> {
  static_assert(weft::detail::require_values<Parameters...>());
  using eff = weft::eff<T, Effects...>;
  using promise_type = typename weft::detail::promise_by_parameters<eff, Parameters...>::type;
};
