// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/resumption.hpp"

namespace weft {

/// The effect of failing with an `E`.  Unlike an exception, the failure is in the type; and
/// a failure costs no more than a call if the handler drops the continuation, whose frames are
/// destroyed from the innermost outwards.
template <class E>
struct failure {
  /// Fails with the error.  Never returns.
  struct [[nodiscard("weft: co_await it")]] fail : op<never> {
    [[nodiscard("weft: co_await it")]] explicit fail(E e) : error(std::move(e)) {}
    E error;
  };

  using operations = op_list<fail>;
};

/// Answers with an optional of the body's result, empty if the body failed.  If the body computes
/// void: with a bool, whether it came to its end.
template <class E>
class failure_to_optional : public handler<failure<E>> {
 public:
  template <class A>
  A on(typename failure<E>::fail, resumption<never, A>) const {
    return A();
  }
  template <class T>
  std::optional<T> on_return(T result) const {
    return std::optional<T>(std::move(result));
  }
  bool on_return() const noexcept { return true; }
};

/// Answers with either the body's result (std::monostate for void) or the error.
template <class E>
class failure_to_variant : public handler<failure<E>> {
 public:
  template <class A>
  A on(typename failure<E>::fail f, resumption<never, A>) const {
    return A(std::in_place_index<1>, std::move(f.error));
  }
  template <class T>
  std::variant<T, E> on_return(T result) const {
    return std::variant<T, E>(std::in_place_index<0>, std::move(result));
  }
  std::variant<std::monostate, E> on_return() const { return {}; }
};

/// Throws the error at the operation; from there it is an ordinary exception.
template <class E>
class failure_to_exception : public handler<failure<E>> {
 public:
  [[noreturn]] void on(typename failure<E>::fail f) const { throw std::move(f.error); }
};

}  // namespace weft
