// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "effects/detail/frame.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/detail/row_set.hpp"
#include "effects/detail/transfer.hpp"

/// Resumptions that are parameters of coroutines, as `k` is of a clause.
///
///   REST-1  When a frame is unwound, a rest that it has as a parameter is unwound next, not
///           natively inside of the frame's destructor; then what stands outside of the frame.
///           So clauses that each keep a rest, one inside the other, are unwound in one loop.
///   REST-2  C++ destroys a frame's locals first, then its promise, then its parameters, in an
///           order among these that is unspecified.  The promise hands the rest over.  By then
///           all that the rest may refer to in the frame has ended, but for other parameters.
///   REST-3  A resumption in a local, an object or a container is dropped by that one's
///           destructor, natively (nested_unwinding.hpp).  The rest may refer to a local that
///           stands before it, so it must be unwound before that local ends.
namespace weft::detail {

template <class P>
constexpr bool is_rest = false;
template <class R, class A, class... Es>
constexpr bool is_rest<resumption<R, A, Es...>> = true;
template <class R, class A, class... Es>
constexpr bool is_rest<multi_resumption<R, A, Es...>> = true;

/// The first parameter that is a rest: how many there are from it on, and its type.  None: 0.  From
/// the end, since a promise is not told of the closure of a lambda by every compiler.
template <class... Parameters>
struct first_rest {
  static constexpr std::size_t from_end = 0;
};
template <class P, class... Parameters>
struct first_rest<P, Parameters...> : first_rest<Parameters...> {};
template <class P, class... Parameters>
  requires is_rest<P>
struct first_rest<P, Parameters...> {
  using type = P;
  static constexpr std::size_t from_end = 1 + sizeof...(Parameters);
};

/// REST-1.  A rest that others hold on to is dropped at once, natively: it is theirs to unwind.
inline continuation prompt::drop_before(continuation outside, bool asked) noexcept {
  if (is_given_up_ || !may_be_pinned()) return drop(), outside;
  bool const was_asked = asked && !outside.is_frame() && outside.end().end_of_rest() == this;
  if (!was_asked && is_pinned()) return drop(), outside;
  lose_leaf(handler_name());
  is_ = state::ended;
  who_ = outside;
  return innermost_left();
}
[[gnu::noinline]] inline continuation unwind_first(prompt& rest, continuation outside,
                                                   bool asked) noexcept {
  return rest.drop_before(outside, asked);
}

/// The promise of a coroutine one of whose parameters is a rest.
template <class Promise, std::size_t FromEnd, class Rest>
class promise_with_rest : public Promise {
 public:
  /// Of references to the frame's own parameters.
  template <class... Parameters>
  explicit promise_with_rest(Parameters&... parameters) noexcept {
    this->to = reinterpret_cast<result_slot_base*>(this);  // not null: it is not being unwound
    auto& rest = std::get<sizeof...(Parameters) - FromEnd>(std::tie(parameters...));
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(rest)>>) rest_ = &rest;
  }
  promise_with_rest(promise_with_rest const&) = delete;
  promise_with_rest& operator=(promise_with_rest const&) = delete;
  ~promise_with_rest() {
    if (!this->to && rest_) *static_cast<prompt**>(this->evidence) = std::move(*rest_).hand_over();
  }

 private:
  Rest* rest_ = nullptr;  // null: it is const
};

/// The promise of a coroutine that has these parameters.
template <class Promise, class... Parameters>
struct promise_for : identity<Promise> {};
template <class Promise, class... Parameters>
  requires(first_rest<Parameters...>::from_end > 0)
struct promise_for<Promise, Parameters...>
    : identity<promise_with_rest<Promise, first_rest<Parameters...>::from_end,
                                 typename first_rest<Parameters...>::type>> {};

}  // namespace weft::detail
