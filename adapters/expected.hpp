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

/// Answers with an Expected<T, E>: the body's result, or the error that it failed with.  `Expected`
/// is a template such as tl::expected; for the standard's there is failure_to_expected.  Allocates
/// nothing.
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

/// The way back: the value of an expected-like result; if it has an error, fails with that error.
/// `co_await` yields the value.  One allocation from the pool, as each call of a computation has.
template <expected_like X>
eff<typename X::value_type, failure<typename X::error_type>> value_or_fail(X result) {
  if (!result.has_value())
    co_await typename failure<typename X::error_type>::fail(std::move(result).error());
  if constexpr (!std::is_void_v<typename X::value_type>) co_return *std::move(result);
}

#if defined(__cpp_lib_expected)
/// Answers with a std::expected<T, E>: the body's result, or the error that it failed with.  There
/// if the standard library has std::expected (C++23).  Allocates nothing.
template <class E>
class failure_to_expected : public failure_to<std::expected, E> {};
#endif

}  // namespace weft
