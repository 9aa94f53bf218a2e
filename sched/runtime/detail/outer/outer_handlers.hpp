// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/row.hpp"

/// The handlers that are passed to `schedule`: which effect each of them takes, and how they are
/// installed.
namespace weft {
template <class C>
struct issuing;  // commands.hpp
}  // namespace weft

namespace weft::detail {

/// eff<T, Es...>, for a row that is given as a type.
template <class T, class Row>
struct eff_with_row;
template <class T, class... Es>
struct eff_with_row<T, row<Es...>> : identity<eff<T, Es...>> {};
template <class T, class Row>
using eff_of = typename eff_with_row<T, Row>::type;

// ---- the clauses of a handler

template <class H, class O>
concept has_value_clause = has_clause<H, O>;
template <class H, class O>
concept takes_the_rest =
    takes_auto<H, O, void> || has_clause<H, O, resumption<typename O::result>> ||
    has_clause<H, O, multi_resumption<typename O::result>>;
template <class H, class O>
concept asks_outward = has_clause<H, O, asking<row<>>>;
template <class H, class Operations>
constexpr bool has_some_clause = false;
template <class H, class... Os>
constexpr bool has_some_clause<H, op_list<Os...>> =
    ((has_value_clause<H, Os> || takes_the_rest<H, Os> || asks_outward<H, Os>) || ...);
template <class H, class Row>
constexpr bool only_value_clauses = false;
template <class H, class... Es>
constexpr bool only_value_clauses<H, row<Es...>> = ([]<class... Os>(op_list<Os...>) {
  return (!takes_the_rest<H, Os> && ...);
}(typename Es::operations()) && ...);

/// Whether a clause of `H` performs to handlers further out.
template <class H, class Row>
constexpr bool has_outward_clause = false;
template <class H, class... Es>
constexpr bool has_outward_clause<H, row<Es...>> = ([]<class... Os>(op_list<Os...>) {
  return (asks_outward<H, Os> || ...);
}(typename Es::operations()) || ...);

template <class E>
constexpr bool is_of_commands = false;
template <class C>
constexpr bool is_of_commands<issuing<C>> = true;

// ---- mistakes

template <class H>
constexpr bool is_marked_thread_safe = requires { requires std::remove_cvref_t<H>::thread_safe; };

/// Finds the first mistake in `Hs`, the handlers for the effects of a row.  `Several`: whether the
/// scheduler has several threads.
template <bool Several, class Row, class... Hs>
struct outer_mistake;
template <bool Several, class... Es, class... Hs>
struct outer_mistake<Several, row<Es...>, Hs...> {
  template <class E>
  static constexpr bool is_handled =
      (has_some_clause<std::remove_reference_t<Hs>, typename E::operations> || ...);

  static consteval auto find() {
    if constexpr (!is_well<row_mistake<row<Es...>>>)
      return reported_mistake();  // the coroutine that has this row reports it
    else if constexpr (!(only_value_clauses<std::remove_reference_t<Hs>, row<Es...>> && ...))
      return typename first_mistake<
          std::conditional_t<only_value_clauses<std::remove_reference_t<Hs>, row<Es...>>,
                             no_mistake, outer_handler_with_resumption<Hs>>...>::type();
    else if constexpr (!(is_handled<Es> && ...))
      return typename first_mistake<std::conditional_t<
          is_handled<Es>, no_mistake, effect_without_handler<Es, is_of_commands<Es>>>...>::type();
    else if constexpr (Several)
      return typename first_mistake<std::conditional_t<is_marked_thread_safe<Hs>, no_mistake,
                                                       handler_not_thread_safe<Hs>>...>::type();
    else
      return no_mistake();
  }
};

/// The effects of a row for which `H` has clauses.
template <class H, class Row>
struct taken_by;
template <class H, class... Es>
struct taken_by<H, row<Es...>>
    : collected<row<>, std::conditional_t<has_some_clause<H, typename Es::operations>, row<Es>,
                                          row<>>...> {};

/// Whether the handler that takes the effect reports its own accesses to an explorer
/// (location_listener.hpp), so that the handler as a whole need not be one location:
/// `static constexpr bool reports_accesses = true`.
template <class E, class... Hs>
constexpr bool taker_reports_accesses = false;
template <class E, class H, class... Hs>
constexpr bool taker_reports_accesses<E, H, Hs...> = [] {
  if constexpr (has_some_clause<H, typename E::operations>)
    return requires { requires H::reports_accesses; };
  else
    return taker_reports_accesses<E, Hs...>;
}();

// ---- installing the handlers

/// The effect that a coroutine inside all handlers performs, in order to stay suspended there; its
/// frame holds the evidence.
struct hold_open {
  struct [[nodiscard("weft: co_await it")]] here : op<void> {
    [[nodiscard("weft: co_await it")]] here() noexcept {}
  };
  using operations = op_list<here>;
};

/// A coroutine that performs hold_open, and stays suspended as long as this object exists.
class held_open {
 public:
  /// Runs the coroutine until it is suspended.  Returns the evidence of the innermost frame.
  void* begin(eff<void, hold_open> body);
  /// The prompt around the coroutine, outside all handlers.
  [[nodiscard]] prompt const& outermost() const noexcept {
    return *keeper_.rest.prompt_here(internal());
  }

 private:
  struct keeper : region {
    keeper() noexcept { allow_dropping(); }
    resumption<void> rest;
    void on(hold_open::here, resumption<void> k) { rest = std::move(k); }
  };
  keeper keeper_;
};

class installed_handlers_base {
 public:
  installed_handlers_base() = default;
  installed_handlers_base(installed_handlers_base const&) = delete;
  installed_handlers_base& operator=(installed_handlers_base const&) = delete;
  virtual ~installed_handlers_base() = default;
};

/// Handlers, the first one innermost, installed around a coroutine that stays suspended as long as
/// this object exists.  Each handler takes those effects of `Row` for which it has clauses, and
/// which no handler before it takes.  In Hs, `X` stands for a handler that is kept here, `X&` for a
/// borrowed one.
template <class Row, class... Hs>
class installed_handlers final : public installed_handlers_base {
 public:
  static constexpr bool performs_outward =
      (has_outward_clause<std::remove_reference_t<Hs>, Row> || ...);
  template <class E>
  static constexpr bool reports_accesses =
      taker_reports_accesses<E, std::remove_reference_t<Hs>...>;

  explicit installed_handlers(Hs&&... handlers) : handlers_(std::forward<Hs>(handlers)...) {
    evidence_ = held_open_.begin(level<sizeof...(Hs)>::body(*this));
  }
  [[nodiscard]] prompt const& outermost() const noexcept { return held_open_.outermost(); }
  template <class E>
  evidence<E>* operator()() noexcept {
    return find<E, row_set<Row, hold_open>>(evidence_);
  }

 private:
  /// The coroutine inside the first I handlers; `left`: the effects that none of them takes.
  template <std::size_t I, class = void>
  struct level {
    using inside = level<I - 1>;
    using H = std::tuple_element_t<I - 1, std::tuple<Hs...>>;
    using taken = typename taken_by<std::remove_reference_t<H>, typename inside::left>::type;
    using left = row_difference<typename inside::left, taken>;
    static eff_of<void, row_set<left, hold_open>> body(installed_handlers& s) {
      if constexpr (is_empty_row<taken>) {
        co_await inside::body(s);
      } else {
        auto& h = std::get<I - 1>(s.handlers_);
        co_await make_handling<taken, std::remove_reference_t<H>&>(h, inside::body(s));
      }
    }
  };
  template <class Void>
  struct level<0, Void> {
    using left = Row;
    static eff_of<void, row_set<Row, hold_open>> body(installed_handlers&) {
      co_await hold_open::here{};
    }
  };

  std::tuple<Hs...> handlers_;
  held_open held_open_;
  void* evidence_ = nullptr;
};

}  // namespace weft::detail
