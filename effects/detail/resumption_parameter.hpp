// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/detail/transfer.hpp"

/// Resumptions that are parameters of coroutines, as `k` is of a clause.
///
///   REST-1  When a frame is unwound, a continuation that it has as a parameter is not unwound
///       natively, inside the frame's destructor.  It is unwound next, before the frames outside.
///       So clauses that each keep a continuation, one inside the other, are unwound in one loop.
///   REST-2  C++ destroys a frame's locals first, then its promise, then its parameters (these in
///       an unspecified order).  The destructor of the promise hands the continuation over to the
///       frame_unwinder.  By then, all objects of the frame that the continuation may refer to are
///       destroyed, except for other parameters.
///   REST-3  The destructor of a local, of an object or of a container drops the resumptions in it,
///       natively (nested_unwinding.hpp).  The continuation may refer to a local that is declared
///       before the resumption, so it must be unwound before that local is destroyed.
namespace weft::detail {

template <class P>
constexpr bool is_resumption_parameter = false;
template <class R, class A>
constexpr bool is_resumption_parameter<resumption<R, A>> = true;
template <class R, class A>
constexpr bool is_resumption_parameter<multi_resumption<R, A>> = true;

/// The first parameter that is a resumption: its type, and the number of parameters from it on, 0
/// if there is none.  Counted from the end, since not every compiler passes the closure of a lambda
/// to the constructor of the promise.
template <class... Parameters>
struct first_resumption_of {
  static constexpr std::size_t from_end = 0;
};
template <class P, class... Parameters>
struct first_resumption_of<P, Parameters...> : first_resumption_of<Parameters...> {};
template <class P, class... Parameters>
  requires is_resumption_parameter<P>
struct first_resumption_of<P, Parameters...> {
  using type = P;
  static constexpr std::size_t from_end = 1 + sizeof...(Parameters);
};

/// The promise of a coroutine with a resumption among its parameters.
template <class Promise, std::size_t FromEnd, class Rest>
class promise_with_resumption : public Promise {
 public:
  /// Takes references to the frame's own parameters.
  template <class... Parameters>
  explicit promise_with_resumption(Parameters&... parameters) noexcept {
    this->to = reinterpret_cast<result_slot_base*>(this);  // null would mean: the frame is unwound
    auto& rest = std::get<sizeof...(Parameters) - FromEnd>(std::tie(parameters...));
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(rest)>>) rest_ = &rest;
  }
  promise_with_resumption(promise_with_resumption const&) = delete;
  promise_with_resumption& operator=(promise_with_resumption const&) = delete;
  ~promise_with_resumption() {
    if (!this->to && rest_)
      *static_cast<prompt**>(this->evidence) = std::move(*rest_).hand_over(internal());
  }

 private:
  Rest* rest_ = nullptr;  // null if the parameter is const, and cannot be moved from
};

/// The promise of a coroutine that has these parameters.
template <class Promise, class... Parameters>
struct promise_for : identity<Promise> {};
template <class Promise, class... Parameters>
  requires(first_resumption_of<Parameters...>::from_end > 0)
struct promise_for<Promise, Parameters...>
    : identity<promise_with_resumption<Promise, first_resumption_of<Parameters...>::from_end,
                                       typename first_resumption_of<Parameters...>::type>> {};

}  // namespace weft::detail
