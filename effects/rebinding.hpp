// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/row.hpp"

/// Rebinding: to resume a continuation under other handlers.
///
/// A resumption keeps the handlers that its body was captured under, wherever it is resumed
/// (binding by place).  A handler that derives from `rebinds<Es...>` lets its clauses choose other
/// handlers for the effects `Es...`, at each resume.  The types of their resumptions name these
/// effects, too:
///
///     struct pokes : handler<poking>, rebinds<reader<int>> {
///       eff<int, reader<int>> on(poking::poke p, resumption<void, int, reader<int>> k) {
///         co_return co_await handle(reader_of(p.value), go_on(std::move(k)));
///       }
///     };
///     eff<int, reader<int>> go_on(resumption<void, int, reader<int>> k) {
///       co_return co_await std::move(k).under();  // reader_of answers its `ask`
///     }
///
/// `under(v)` takes the place of a plain resume.  It is awaited by a coroutine whose row has
/// `Es...`.  After that, operations of `Es...` in the continuation go to the handlers of that
/// coroutine, until the continuation ends, or is captured again and resumed under others.  A plain
/// resume leaves the handlers as they are.  A handler inside the continuation stays the nearest
/// one.  The clauses of the handler that rebinds perform, as before, to the handlers around it.
/// Computations that were started in the body and wait elsewhere perform to the handlers that the
/// body has now.
///
/// Each run that a multi_resumption<R, A, Es...> starts has handlers of its own.  Ordinary code and
/// `last` have no row, and so no `under`.
///
/// An operation of `Es...` costs one step more in such a body, and `under` an allocation from a
/// pool; nothing else costs more.  The chosen handlers are kept like handlers further out: an owned
/// one stays alive; if a borrowed one has ended, the next resume throws resumption_expired, or if
/// it ends while the continuation runs, the next operation does.  If a chosen handler performs to
/// the body that is to perform to it, `under` throws rebound_to_itself.  If the awaited `under`
/// throws, the continuation is dropped.
namespace weft {

/// Base of a handler whose resumptions may be resumed under other handlers of these effects; in a
/// handler made of lambdas, the first of the clauses: clauses{rebinds<E>(), ...}.
template <class... Effects>
struct rebinds {
  using rebound_effects = detail::row_set<Effects...>;
  void operator()(rebinds const&) const {}  // `clauses` has a using-declaration for it
};

namespace detail {

template <class H>
struct rebound_by_handler : identity<row<>> {};
template <class H>
  requires requires { typename H::rebound_effects; }
struct rebound_by_handler<H> : identity<typename H::rebound_effects> {};
/// The effects that the handler `H` rebinds: those whose handlers may be exchanged at each resume.
template <class H>
using rebound_by = typename rebound_by_handler<H>::type;

/// Whether what an effect has begun stays with its process, under its handler: so with tasks.
template <class E>
constexpr bool stays_with_process = false;
template <class Row>
constexpr bool some_stays_with_process = false;
template <class... Es>
constexpr bool some_stays_with_process<row<Es...>> = (stays_with_process<Es> || ...);

/// resumption<R, A, Es...> for a row<Es...>.
template <template <class, class, class...> class Resumption, class R, class A, class Row>
struct with_rebound;
template <template <class, class, class...> class Resumption, class R, class A, class... Es>
struct with_rebound<Resumption, R, A, row<Es...>> : identity<Resumption<R, A, Es...>> {};
template <template <class, class, class...> class Resumption, class R, class A, class Row>
using rebindable = typename with_rebound<Resumption, R, A, Row>::type;

/// Whether a resumption that rebinds `From` converts to one that rebinds `To`: if these are the
/// same effects; or if `To` is empty, and then the result can only be resumed under the handlers
/// that it has.
template <class From, class To>
constexpr bool rebinds_as = std::is_same_v<To, row<>> || std::is_same_v<From, To>;

}  // namespace detail
}  // namespace weft
