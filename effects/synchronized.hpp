// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "effects/operation.hpp"

namespace weft {

/// A handler that may be used by several threads at once: `Handler`, one operation at a time.
/// Value clauses only.
template <class Handler>
class synchronized_handler {
 public:
  static constexpr bool thread_safe = true;

  explicit synchronized_handler(Handler h) : handler_(std::move(h)) {}

  template <operation O>
    requires requires(Handler& h, O o) { h.on(std::move(o)); }
  decltype(auto) on(O o) {
    std::lock_guard const lock(*mutex_);
    return handler_.on(std::move(o));
  }

 private:
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // handlers move
  Handler handler_;
};

/// Makes one of `handler`, which is borrowed if it is named:
///
///     schedule<sharing>(program, synchronized(console_to_stream(std::cout)));
///
/// A lock an operation.
template <class Handler>
auto synchronized(Handler&& handler) {
  return synchronized_handler<Handler>(std::forward<Handler>(handler));
}

}  // namespace weft
