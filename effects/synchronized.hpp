// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "weft/effects/detail/handler_lock.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// A `Handler` that several threads may use at once: it answers one operation at a time.  It may
/// have value clauses only.  `Handler` is `X` for an owned handler, `X&` for a borrowed one.
/// Costs a lock for each operation.  One allocation, of the lock.
template <class Handler>
class synchronized_handler {
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
/// One allocation, of a lock.  Each call of synchronized() makes a lock of its own: two
/// schedulers that run at once, each with its own synchronized(n), do not exclude each other.
template <class Handler>
auto synchronized(Handler&& handler) {
  return synchronized_handler<Handler>(std::forward<Handler>(handler));
}

}  // namespace weft
