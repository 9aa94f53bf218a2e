// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <source_location>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/row.hpp"
#include "weft/sched/commands/dispatchers.hpp"
#include "weft/sched/commands/reply.hpp"
#include "weft/sched/sync/external_event.hpp"

/// Commands: requests of a program to the world outside its scheduler, for whose answers it waits.
///
///     struct resolve : command<std::string> {            // answered with a string
///       explicit resolve(std::string h) : host(std::move(h)) {}
///       std::string host;
///     };
///     eff<void, commands<resolve>, console> program() {
///       in_flight<std::string> a = co_await issue(resolve("a"));  // in flight
///       in_flight<std::string> b = co_await issue(resolve("b"));  // another one
///       std::string const at_b = co_await b.wait();               // in any order
///       std::string const at_a = co_await a.wait();
///       std::string const at_c = co_await perform(resolve("c"));  // issues and waits
///     }
///     dispatchers d{[&](resolve c, reply<std::string> r) {
///       pool.push(std::move(c), std::move(r));
///     }};
///     schedule(program, d);
///
/// The command is a value, and its dispatcher is found by its type at compile time.  Answers come
/// from any thread in any order, each to the process that issued the command; an answer that comes
/// before the wait is kept.  While a process waits, the others run; a process that waits can be
/// cancelled.
///
/// Issuing seals: a process that has issued a command cannot fork.
namespace weft {

/// The base of a command that is answered with an `R`.  A command whose data is not trivial must
/// have a constructor (operation.hpp).
template <class R = void>
struct command {
  using result = R;
};

namespace detail {
template <class C>
concept is_command =
    requires { typename C::result; } && std::derived_from<C, command<typename C::result>>;

/// Whether `C` is a command that can be issued; if not, the compiler reports why.
template <class C>
consteval bool require_command() {
  constexpr bool is_a_command = is_command<C>;
  static_assert(is_a_command,
                "weft: this is not a command: a command is a struct derived from command<result>");
  static_assert(!is_a_command || is_destroyed_once<C>,
                "weft: g++ 12 destroys this command twice: give it a constructor "
                "(docs/portability.md)");
  return is_a_command && is_destroyed_once<C>;
}
}  // namespace detail

/// The effect of issuing commands of type `C`.
template <class C>
struct issuing {};
template <detail::is_command C>
struct issuing<C> {
  /// Answered as soon as the dispatcher has taken the command; throws what the dispatcher throws.
  struct [[nodiscard("weft: co_await it")]] issue : op<in_flight<typename C::result>, seals> {
    using command_type = C;
    [[nodiscard("weft: co_await it")]] explicit issue(C c) : what(std::move(c)) {}
    C what;
  };
  using operations = op_list<issue>;
};

/// The effects of a program that issues these commands, and waits for their answers.
template <class... Cs>
using commands = row<issuing<Cs>..., completions>;

namespace detail {
/// The result of a command; void if `C` is no command, which require_command() reports.
template <class C>
struct result_of_command : identity<void> {};
template <is_command C>
struct result_of_command<C> : identity<typename C::result> {};
template <class C>
using result_of_command_t = typename result_of_command<C>::type;
}  // namespace detail

/// Issues a command, as in issue(resolve("a")); `co_await` yields the in_flight<R> to wait for.
/// Row: `issuing<C>`, which `commands<C>` names.  Two allocations, one of them from the pool,
/// besides those of the dispatcher.  Throws what the dispatcher throws.
template <class C>
[[nodiscard("weft: co_await it")]] awaits_to<in_flight<detail::result_of_command_t<C>>> auto issue(
    C c) {
  if constexpr (detail::require_command<C>())
    return typename issuing<C>::issue(std::move(c));
  else
    return detail::refused();
}

namespace detail {
template <class C>
eff<typename C::result, issuing<C>, completions> perform_command(C c, std::source_location where) {
  auto its = co_await located(typename issuing<C>::issue(std::move(c)), where);
  co_return co_await its.wait();
}
}  // namespace detail

/// Issues a command and waits for its answer, as in perform(resolve("a")); `co_await` yields the
/// `R`.  Row: `commands<C>`, which is `issuing<C>` and `completions`.  Allocates a frame besides
/// what issue() allocates.  Throws as issue() and in_flight<R>::wait do.
template <class C>
[[nodiscard("weft: co_await it")]] awaits_to<detail::result_of_command_t<C>> auto perform(
    C c, std::source_location where = std::source_location::current()) {
  if constexpr (detail::require_command<C>())
    return detail::perform_command<C>(std::move(c), where);
  else
    return detail::refused();
}

}  // namespace weft
