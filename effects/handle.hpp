// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/installing.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/multi_shot.hpp"
#include "weft/effects/run.hpp"

/// Handlers, and `handle`, which runs a body under a handler.
///
/// A handler is any object with a clause for each operation of its effects.  The signature of a
/// clause decides what it may do (R: the operation's result; A: the handler's answer):
///
///   | kind       | signature                               | it may                           |
///   |------------|-----------------------------------------|----------------------------------|
///   | value      | `R on(Op)`                              | answer at once; nothing suspends |
///   |            | `R on(Op, outer<Es...> up)`             | also perform outward: `up(op)`   |
///   | control    | `A on(Op, resumption<R, A> k)`          | keep, drop or resume `k`         |
///   |            | `outcome<A> on(Op, resumption<R, A> k)` | jump too: `std::move(k).last(v)` |
///   | coroutine  | `eff<A, Es...> on(Op, resumption<R,A>)` | await `k`, perform outward       |
///   | multi-shot | either, with `multi_resumption<R, A>`   | resume any number of times       |
///
/// `on_return`, if there is one, maps the body's result to the answer.  Handlers are deep: a
/// resumed continuation runs under the same handler.
namespace weft {

/// Base of a handler that names its effects, so that `handle(h, body)` need not name them and
/// `h1 | h2` works.
template <class... Effects>
struct handler {
  using handles = row<Effects...>;
};

namespace detail {

template <class H>
concept says_what_it_handles = requires { typename std::remove_cvref_t<H>::handles; };

/// A handler, with the effects that it is to handle.  `H` is `X` for an owned handler, `X&` for a
/// borrowed one.
template <class H, class Effects>
struct handler_with {
  using handles = Effects;
  H h;
};
template <class H>
consteval bool is_lent_or_no_region() {
  constexpr bool is_lent_or_owns_nothing =
      std::is_lvalue_reference_v<H> || !std::derived_from<H, region>;
  static_assert(is_lent_or_owns_nothing,
                "weft: a handler that keeps resumptions is borrowed: name it first; owned it "
                "would keep itself alive");
  return is_lent_or_owns_nothing;
}

/// The composition `inner | outer`.
template <class Inner, class Outer>
struct composed {
  using handles = row<typename std::remove_cvref_t<Inner>::handles,
                      typename std::remove_cvref_t<Outer>::handles>;
  Inner inner;
  Outer outer;
};

template <class Effects, class Body>
consteval bool can_be_handled() {
  using kept_body = std::decay_t<Body>;
  constexpr bool is_a_body = handled_body<kept_body> && std::is_constructible_v<kept_body, Body>;
  static_assert(is_a_body,
                "weft: handle takes a body: an eff that is called here or moved, or a function "
                "without arguments that returns one");
  return is_a_body;
}

template <class Effects, class H, class Policy = replay, class Body>
auto make_handling(H&& h, Body&& body) {
  if constexpr (is_refused<H> || is_refused<Body>)
    return refused();
  else if constexpr (!can_be_handled<Effects, Body>())
    return refused();
  else if constexpr (!std::is_same_v<kept_as<H>, H>)
    return make_handling<Effects, kept_as<H>, Policy>(kept_as<H>(h), std::forward<Body>(body));
  else
    return handling<H, row_set<Effects>, std::decay_t<Body>, Policy>(std::forward<H>(h),
                                                                     std::forward<Body>(body));
}

template <class Policy, class H, class Body>
auto handle_all(H&& h, Body&& body);
template <class Policy, class H, class Effects, class Body>
auto handle_all(handler_with<H, Effects> h, Body&& body) {
  return make_handling<Effects, H, Policy>(std::forward<H>(h.h), std::forward<Body>(body));
}
template <class Policy, class Inner, class Outer, class Body>
auto handle_all(composed<Inner, Outer> h, Body&& body) {
  return handle_all<Policy>(
      std::forward<Outer>(h.outer),
      handle_all<Policy>(std::forward<Inner>(h.inner), std::forward<Body>(body)));
}
template <class Policy, class H, class Body>
auto handle_all(H&& h, Body&& body) {
  return make_handling<typename std::remove_cvref_t<H>::handles, H, Policy>(
      std::forward<H>(h), std::forward<Body>(body));
}

/// A replay runs a body again by calling a function.  If the body is itself a handling (the result
/// of a call of handle), a `restarted` is that function: each call of it copies the handling, and
/// awaits the copy.
template <class Inner, class Row>
struct restarted;
template <class Inner, class... Es>
struct restarted<Inner, row<Es...>> {
  using answer = typename handler_traits<Inner, row<Es...>>::answer;
  Inner inner;
  eff<answer, Es...> operator()() const { return begins(inner); }
  static eff<answer, Es...> begins(Inner one) { co_return co_await std::move(one); }
};
/// Whether `Handling`, or a handling in its body, keeps a log, and has a body that is itself a
/// handling and can be copied: so a replay can restart this body.
template <class Handling, class Around>
constexpr bool restarts_handling = false;
template <class H, class... Es, class Body, class Policy, class Around>
  requires is_handling<Body>
constexpr bool restarts_handling<handling<H, row<Es...>, Body, Policy>, Around> =
    (handler_traits<handling<H, row<Es...>, Body, Policy>, Around>::restarts &&
     std::copy_constructible<Body>) ||
    restarts_handling<Body, row_set<Es..., Around>>;
template <class Handling, class Around>
consteval bool is_to_restart() {
  if constexpr (is_well<decltype(well_formed<Handling, Around>::find_mistake())>)
    return restarts_handling<Handling, Around>;
  else
    return false;
}
/// Returns the handling `what`.  In it, at any depth, a `restarted` replaces each body that is
/// itself a handling, and that a replay may restart.
template <class Around, class H, class... Es, class Body, class Policy>
auto with_restarted_body(handling<H, row<Es...>, Body, Policy>&& what) {
  using inside = row_set<Es..., Around>;
  if constexpr (restarts_handling<Body, inside>) {
    auto body = with_restarted_body<inside>(std::move(what.body));
    return with_restarted_body<Around>(handling<H, row<Es...>, decltype(body), Policy>(
        std::forward<H>(what.handler), std::move(body)));
  } else if constexpr (restarts_handling<handling<H, row<Es...>, Body, Policy>, Around>) {
    using body = restarted<Body, inside>;
    return handling<H, row<Es...>, body, Policy>(std::forward<H>(what.handler),
                                                 body{std::move(what.body)});
  } else {
    return std::move(what);
  }
}

/// Owns the handling that with_restarted_body() returned.  A base of the awaiter, so that it is
/// constructed before `installing`, which refers to the handling.
template <class Handling>
struct restarted_handling {
  Handling what;
};
template <class Handling, class Around>
class installing_restarted : restarted_handling<Handling>, public installing<Handling, Around> {
 public:
  template <class Given>
  installing_restarted(Given&& what, std::source_location where)
      : restarted_handling<Handling>{with_restarted_body<Around>(std::move(what))},
        installing<Handling, Around>(restarted_handling<Handling>::what, where) {}
};

template <class Around, class H, class Es, class Body, class Policy>
auto await_handling(handling<H, Es, Body, Policy>&& what, std::source_location where) {
  using Handling = handling<H, Es, Body, Policy>;
  using here = well_formed<Handling, Around>;
  if constexpr (!is_well<row_mistake<Around>>) {
    return here::instead();  // get_return_object() of the coroutine reports the mistake
  } else if constexpr (Policy::resuming::computes_at_once) {
    return Policy::resuming::awaiter(what, where);
  } else if constexpr (is_to_restart<Handling, Around>()) {
    using restarting = decltype(with_restarted_body<Around>(std::move(what)));
    if constexpr (handling_mistake<restarting, Around>::report())
      return installing_restarted<restarting, Around>(std::move(what), where);
    else
      return here::instead();
  } else if constexpr (handling_mistake<Handling, Around>::report()) {
    return installing<Handling, Around>(what, where);
  } else {
    return here::instead();
  }
}

}  // namespace detail

/// Returns `h` as a handler of the effects `Effects...`, for a composition by `|`.
template <class... Effects, class H>
detail::handler_with<H, row<Effects...>> with(H&& h) {
  return {std::forward<H>(h)};
}

/// Composition: `handle(inner | outer, body)` is handle(outer, handle(inner, body)).
template <class Inner, class Outer>
  requires(detail::says_what_it_handles<Inner> || detail::says_what_it_handles<Outer>)
auto operator|(Inner&& inner, Outer&& outer) {
  constexpr bool both_say_what_they_handle =
      detail::says_what_it_handles<Inner> && detail::says_what_it_handles<Outer>;
  static_assert(both_say_what_they_handle,
                "weft: handlers that are composed say what they handle: with<E>(handler), or "
                "derive the handler from handler<E>");
  if constexpr (!both_say_what_they_handle)
    return detail::refused();
  else if constexpr (detail::is_lent_or_no_region<Inner>() && detail::is_lent_or_no_region<Outer>())
    return detail::composed<Inner, Outer>{std::forward<Inner>(inner), std::forward<Outer>(outer)};
  else
    return detail::refused();
}

/// Runs `body` under the handler `h`, which discharges `Effects...`.  The result is to be awaited,
/// or passed to run():
///
///     int const n = co_await handle<state<int>>(state_of(0), counting());
///
/// co_await yields the answer: `h.on_return(result)`, or the body's result if there is no
/// on_return.  `body` is an eff, a function that returns one, or the result of another handle; a
/// function is kept as long as the body lives.  Row: the effects of `body` that `h` does not
/// discharge.
///
/// A named handler is borrowed, and may keep resumptions only if it is a region.  An rvalue handler
/// is owned, and lives as long as any computation or resumption can perform to it.  So it must not
/// store a resumption in itself: the two would keep each other alive.  An explorer of schedules
/// reports this as a leak.
///
/// g++ 12: give a closure that owns something a name before you pass it as a clause or as the body.
/// As a temporary of a co_await it is destroyed twice.
///
/// One allocation for each handler, from a pool.  Exceptions of the body and of on_return are
/// thrown at the co_await.  Throws not_a_region if a borrowed handler is no region, and something
/// still depends on it when the answer is ready: suspended frames, a clause that is not done, or a
/// multi_resumption.
///
/// The last argument decides how a multi_resumption resumes: replay() (multi_shot.hpp), or
/// bitwise() or compared() (bitwise/bitwise.hpp).  In a composition it applies to each handler.
template <class... Effects, class H, class Body, multi_shot_policy Policy = replay>
auto handle(H&& h, Body&& body, Policy = {}) {
  if constexpr (detail::is_refused<H> || !detail::is_lent_or_no_region<H>()) {
    return detail::refused();
  } else if constexpr (sizeof...(Effects) > 0) {
    return detail::make_handling<row<Effects...>, H, Policy>(std::forward<H>(h),
                                                             std::forward<Body>(body));
  } else {
    constexpr bool says_its_effects = detail::says_what_it_handles<H>;
    static_assert(says_its_effects,
                  "weft: name the effects to be handled, handle<E>(h, body), or derive the "
                  "handler from handler<E>");
    if constexpr (says_its_effects)
      return detail::handle_all<Policy>(std::forward<H>(h), std::forward<Body>(body));
    else
      return detail::refused();
  }
}

/// Runs the body under the handler from ordinary code, and returns the answer.  See run(eff).  One
/// allocation for each handler, from a pool.  Throws what the body and on_return throw;
/// not_a_region, as handle says.
template <class H, class Es, class Body, class Policy>
auto run(detail::handling<H, Es, Body, Policy> what,
         std::source_location where = std::source_location::current()) {
  using Handling = detail::handling<H, Es, Body, Policy>;
  using here = detail::well_formed<Handling, row<>>;
  if constexpr (Policy::resuming::computes_at_once) {
    return Policy::resuming::awaiter(what, where).await_resume();
  } else if constexpr (detail::is_to_restart<Handling, row<>>()) {
    return run(detail::with_restarted_body<row<>>(std::move(what)), where);
  } else if constexpr (detail::handling_mistake<Handling, row<>>::report()) {
    return detail::run_handling(std::move(what), where);
  } else {
    return here::instead().await_resume();
  }
}

}  // namespace weft
