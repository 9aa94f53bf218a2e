// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes/mistakes.hpp"

#include <exception>
#include <source_location>
#include <string_view>
#include <utility>

#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/mistakes/refused.hpp"
#include "weft/effects/detail/prompt.hpp"

namespace weft {

namespace detail {

[[noreturn, gnu::cold]] void throw_asked(std::string_view operation, std::source_location where,
                                         prompt const& handler);

[[noreturn, gnu::cold]] void throw_no_outer(std::string_view operation, std::source_location where,
                                            prompt const& nearest);

template <class E, class O>
typename O::result ask_outward(evidence<E>& handler, passed<O> o, std::source_location where) {
  auto const ask = handler.template clause<O>().ask;
  if (!ask) [[unlikely]]
    throw_asked(name_of<O>, where, handler.clauses->prompt_of(handler));
  return ask(handler, static_cast<passed<O>>(o), where);
}

}  // namespace detail

/// Lets a value clause perform operations outward:
///
///     struct doubling {
///       int on(counter::next, outer<counter> up) { return 2 * up(counter::next{}); }
///     };
///
/// `up(operation)` performs the operation in the row around the handler.  This is an ordinary call,
/// so a value clause must answer; if the operation has none, the call throws needs_control.
/// Native stack: one frame for each clause on the way outward that itself asks further outward.  A
/// clause takes the outer by value, and passes it to helper functions by reference: an outer is
/// valid only during the clause that it was given to.
template <class... Effects>
class outer {
  using row = detail::row_set<Effects...>;

 public:
  /// `all` is the evidence of the row `From`.
  template <class From>
  outer(detail::internal, detail::identity<From>, void* all) noexcept {
    handlers_.fill(detail::found_in<From>{all});
  }
  outer(outer const&) = delete;  // weft: an outer<...> is good for the clause it is given to
  outer& operator=(outer const&) = delete;

  template <operation O>
  typename O::result operator()(
      O o, std::source_location where = std::source_location::current()) const {
    using found = detail::effect_of<O, row>;
    constexpr bool is_named = found::count == 1;
    static_assert(is_named,
                  "weft: this operation is not of one of the effects that the clause's "
                  "outer<...> names");
    if constexpr (!is_named) {
      std::terminate();
    } else {
      using effect = typename found::type;
      return detail::ask_outward<effect, O>(*handlers_.template get<effect>(),
                                            static_cast<detail::passed<O>>(o), where);
    }
  }

 private:
  detail::gathered<row> handlers_;
};

namespace detail {

/// Converts to the outer<...> that a clause takes.  `Available` is the row around the handler,
/// `all` the evidence of that row.
template <class Available>
struct asking {
  void* all;
  template <class... Es>
  operator outer<Es...>() const noexcept {
    using missing = row_difference<row_set<Es...>, Available>;
    if constexpr (is_empty_row<missing>)
      return outer<Es...>(internal(), identity<Available>(), all);
    else
      std::terminate();
  }
};

/// Stands for asking<Available> in unevaluated code that examines a clause: converts only if
/// `Available` has all effects that the clause asks for.
template <class Available>
struct asking_within {
  template <class... Es>
    requires(is_empty_row<row_difference<row_set<Es...>, Available>>)
  operator outer<Es...>() const;
};
/// The mistake of a clause that asks for the effects `Missing`, which the row around its handler
/// lacks; no_mistake if there are none.
template <class Missing>
using outward_mistake =
    std::conditional_t<is_empty_row<Missing>, no_mistake, clause_asks_outside_row<Missing>>;
/// Stands for asking<Available> to report the effects that `Available` lacks.  The report is in the
/// exception specification of the conversion: clang instantiates the specification where the clause
/// is examined, so the notes of the error lead from the report to the user's line.
template <class Available>
struct asking_beyond {
  template <class... Es>
  operator outer<Es...>() const
      noexcept(outward_mistake<row_difference<row_set<Es...>, Available>>::report());
};

/// An operation that skips the nearest handler of `E`.
template <class E, class O>
struct masked {
  explicit masked(O o) : operation(std::move(o)) {}
  O operation;
};
/// An operation whose messages name the source location `where`, that of a caller, in place of the
/// location of the co_await.
template <class O>
struct located {
  located(O o, std::source_location w) : operation(std::move(o)), where(w) {}
  O operation;
  std::source_location where;
};
template <class O>
located(O, std::source_location) -> located<O>;

}  // namespace detail

/// Performs `operation` past the nearest handler of `E`, to the next one further out:
///
///     co_await outer_of<state<int>>(state<int>::get{})
///
/// Row: `E`.  `co_await` yields the answer.  Throws no_outer_handler if the row around the nearest
/// handler has no `E`.
template <effect E, operation O>
auto outer_of(O operation) {
  constexpr bool is_of_the_effect = detail::is_among<O, typename E::operations>;
  static_assert(is_of_the_effect, "weft: outer_of<E> takes an operation of E");
  if constexpr (is_of_the_effect)
    return detail::masked<E, O>(std::move(operation));
  else
    return detail::refused<typename O::result>();
}

}  // namespace weft
