// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "effects/resumption.hpp"

/// Starting a program under handlers.  For sched/, which is such a handler; the public `handle`
/// will stand on it.
namespace weft::detail {

// ---- what kind of clause a handler has for an operation

template <class H, class O>
concept has_value_clause = requires(H& h, O o) { h.on(std::move(o)); };
template <class H, class O>
concept has_control_clause =
    requires(H& h, O o, resumption<typename O::result> k) { h.on(std::move(o), std::move(k)); };
template <class H, class O>
concept has_multi_clause = requires(H& h, O o, multi_resumption<typename O::result> k) {
  h.on(std::move(o), std::move(k));
};
template <class H, class O>
concept has_clause = has_value_clause<H, O> || has_control_clause<H, O> || has_multi_clause<H, O>;

template <class H, class Operations>
constexpr bool has_some_clause = false;
template <class H, class... Os>
constexpr bool has_some_clause<H, op_list<Os...>> = (has_clause<H, Os> || ...);

/// Speaks for a handler that lacks a clause.
template <class Handler, class Operation, bool Has>
constexpr void require_clause() {
  static_assert(Has, "weft: the handler has no clause on(operation) for this operation");
}
/// Speaks for an effect without a handler.
template <class Effect, bool Handled>
constexpr void require_handler() {
  static_assert(Handled,
                "weft: no handler was passed that can be called as h.on(operation) for this effect "
                "of the program");
}

// ---- a handler `H` as the operation `O` sees it

template <class O, class H>
class clause_by final : public clause<O> {
  using R = typename O::result;

 public:
  explicit clause_by(H& h) noexcept : handler_(h) { require_clause<H, O, has_clause<H, O>>(); }

  /// This, as a clause<O>, if that is the operation.
  void* if_for(std::string_view const* operation) noexcept {
    return operation == &name_of<O> ? static_cast<clause<O>*>(this) : nullptr;
  }

  bool answers_at_once([[maybe_unused]] O& o, [[maybe_unused]] answer<R>& a) override {
    if constexpr (has_value_clause<H, O>) {
      try {
        if constexpr (std::is_void_v<R>) {
          handler_.on(std::move(o));
          a.set();
        } else if constexpr (std::is_same_v<R, never>) {
          handler_.on(std::move(o));
          throw std::logic_error("weft: a clause returned for " + std::string(name_of<O>) +
                                 ", which never returns");
        } else {
          constexpr bool answers = std::is_convertible_v<decltype(handler_.on(std::move(o))), R>;
          static_assert(answers,
                        "weft: the clause on(operation) returns what does not convert to the "
                        "operation's result");
          if constexpr (answers) a.set(handler_.on(std::move(o)));
        }
      } catch (...) {
        a.fail(std::current_exception());  // it was a call: the exception arises at the operation
      }
      return true;
    } else {
      return false;
    }
  }
  void control([[maybe_unused]] O o, [[maybe_unused]] std::unique_ptr<prompt> rest) override {
    if constexpr (has_control_clause<H, O>)
      handler_.on(std::move(o), resumption<R>(std::move(rest)));
    else if constexpr (has_multi_clause<H, O>)
      handler_.on(std::move(o), multi_resumption<R>(std::move(rest)));
  }

 private:
  H& handler_;
};

template <class H, class Operations>
class clauses_by;
template <class H, class... Os>
class clauses_by<H, op_list<Os...>> {
 public:
  explicit clauses_by(H& h) noexcept : clauses_(clause_by<Os, H>(h)...) {}

  void* if_for([[maybe_unused]] std::string_view const* operation) noexcept {
    void* found = nullptr;
    std::apply([&](auto&... clause) { (void)((found = clause.if_for(operation)) || ...); },
               clauses_);
    return found;
  }

 private:
  std::tuple<clause_by<Os, H>...> clauses_;
};

/// Of several handlers, the first that has a clause for some operation of `E`.
template <class E, class H, class... Hs>
auto& first_handler_of(H& h, Hs&... others) {
  if constexpr (has_some_clause<H, typename E::operations>)
    return h;
  else
    return first_handler_of<E>(others...);
}
template <class E, class... Hs>
consteval bool is_handled() {
  constexpr bool handled = (has_some_clause<Hs, typename E::operations> || ...);
  require_handler<E, handled>();
  return handled;
}
template <class Row, class... Hs>
constexpr bool all_handled = false;
template <class... Es, class... Hs>
constexpr bool all_handled<row<Es...>, Hs...> = (is_handled<Es, Hs...>() && ...);

// ---- a program under handlers

template <class Program, class Row, class... Hs>
class installed;
template <class Program, class... Es, class... Hs>
class installed<Program, row<Es...>, Hs...> final : public installation {
  template <class E>
  using by =
      clauses_by<std::remove_reference_t<decltype(first_handler_of<E>(std::declval<Hs&>()...))>,
                 typename E::operations>;

 public:
  explicit installed(Program program, Hs&... handlers)
      : program_(std::move(program)), handlers_(by<Es>(first_handler_of<Es>(handlers...))...) {}

  std::coroutine_handle<> start(answer<void>& to) const override {
    auto const outermost = program_().release();
    outermost.promise().to = &to;
    return outermost;
  }
  void* find([[maybe_unused]] std::string_view const* operation) const noexcept override {
    void* found = nullptr;
    std::apply([&](auto&... effect) { (void)((found = effect.if_for(operation)) || ...); },
               handlers_);
    return found;
  }

 private:
  Program const program_;  // called as const: what one run changed in it, the next would see
  mutable std::tuple<by<Es>...> handlers_;
};

/// Runs `program` under `handlers`, which are borrowed, until it ends or a clause takes it.
template <class Program, class... Hs>
void start(Program program, Hs&... handlers) {
  using body = std::invoke_result_t<Program const&>;
  if constexpr (all_handled<typename body::effects, Hs...>) {
    using under = installed<Program, typename body::effects, Hs...>;
    prompt::go(std::make_unique<prompt>(std::make_shared<under>(std::move(program), handlers...)));
  }
}

}  // namespace weft::detail
