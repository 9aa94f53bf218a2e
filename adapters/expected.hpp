// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <version>

#if defined(__cpp_lib_expected)
#include <expected>
#endif

#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/ready/failure.hpp"
#include "weft/effects/resumption.hpp"

/// The effect `failure`, and results that are a value or an error: std::expected, or a class of an
/// older library that looks like it, such as tl::expected.
namespace weft {

/// A class that has either a value or an error, as std::expected<T, E> has.
template <class X>
concept expected_like = requires(X& x) {
  typename X::value_type;
  typename X::error_type;
  { x.has_value() } -> std::convertible_to<bool>;
  X(typename X::unexpected_type(std::move(x).error()));
};

/// Handles failure<E>, and answers with an Expected<T, E>: the result of the body, or the error
/// with which the body failed.  `Expected` is a template such as tl::expected; for std::expected
/// there is failure_to_expected.  Allocates nothing.
template <template <class, class> class Expected, class E>
class failure_to : public handler<failure<E>> {
 public:
  template <class A>
  A on(typename failure<E>::fail f, resumption<never, A>) const {
    return A(typename A::unexpected_type(std::move(f.error)));
  }
  template <class T>
  Expected<T, E> on_return(T result) const {
    return Expected<T, E>(std::move(result));
  }
  Expected<void, E> on_return() const { return Expected<void, E>(); }
};

/// The inverse of failure_to: `co_await` yields the value of an expected-like result, or, if the
/// result has an error, fails with the error.  One allocation from the pool, as for each call of a
/// computation.
template <expected_like X>
eff<typename X::value_type, failure<typename X::error_type>> value_or_fail(X result) {
  if (!result.has_value())
    co_await typename failure<typename X::error_type>::fail(std::move(result).error());
  if constexpr (!std::is_void_v<typename X::value_type>) co_return *std::move(result);
}

#if defined(__cpp_lib_expected)
/// Handles failure<E>, and answers with a std::expected<T, E>: the result of the body, or the error
/// with which the body failed.  Defined if the standard library has std::expected (C++23).
/// Allocates nothing.
template <class E>
class failure_to_expected : public failure_to<std::expected, E> {};
#endif

}  // namespace weft
