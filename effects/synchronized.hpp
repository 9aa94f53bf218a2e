// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "weft/effects/detail/clause_kind.hpp"
#include "weft/effects/detail/handler_lock.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

namespace detail {

/// A base with the member `handles` of the handler `H`, the row of its effects; empty if `H` has no
/// such member.
template <class H>
struct named_effects_of {};
template <class H>
  requires requires { typename std::remove_cvref_t<H>::handles; }
struct named_effects_of<H> {
  using handles = typename std::remove_cvref_t<H>::handles;
};
/// Base of `Self`: the return clause, which calls that of the handler `H` under the lock.  Empty if
/// `H` has none.
template <class Self, class H>
struct locked_return_clause {};
template <class Self, class H>
  requires names_on_return<H>
struct locked_return_clause<Self, H> {
  template <class... T>
    requires requires(H& h, T... result) { h.on_return(std::forward<T>(result)...); }
  decltype(auto) on_return(T&&... result) {
    auto& self = static_cast<Self&>(*this);
    handler_lock::scope const locked(self.lock_);
    return self.handler_.on_return(std::forward<T>(result)...);
  }
};

}  // namespace detail

/// A `Handler` that several threads may use at once: it answers one operation at a time.  It may
/// have value clauses and a return clause only.  `Handler` is `X` for an owned handler, `X&` for a
/// borrowed one.  Costs a lock for each operation.  One allocation, of the lock.
template <class Handler>
class synchronized_handler : public detail::named_effects_of<Handler>,
                             public detail::locked_return_clause<synchronized_handler<Handler>,
                                                                 std::remove_reference_t<Handler>> {
 public:
  static constexpr bool thread_safe = true;

  explicit synchronized_handler(Handler h) : handler_(std::forward<Handler>(h)) {}

  template <operation O>
    requires requires(Handler& h, O o) { h.on(std::move(o)); }
  decltype(auto) on(O o) {
    detail::handler_lock::scope const locked(lock_);
    return handler_.on(std::move(o));
  }

 private:
  template <class Self, class H>
  friend struct detail::locked_return_clause;

  detail::handler_lock lock_;
  Handler handler_;
};

/// Makes a synchronized handler of `handler`, which is borrowed if it is named:
///
///     schedule<sharing>(program, synchronized(console_to_stream(std::cout)));
///
///     state_of<int> n(0);
///     schedule<sharing>(program, synchronized(n));  // then n.value() is the last value
///
///     run(handle(synchronized(n), counting));       // handles the effects that `n` names
///
/// One allocation, of a lock.  Each call of synchronized() makes a lock of its own: two
/// schedulers that run at once, each with its own synchronized(n), do not exclude each other.
template <class Handler>
auto synchronized(Handler&& handler) {
  return synchronized_handler<Handler>(std::forward<Handler>(handler));
}

}  // namespace weft
