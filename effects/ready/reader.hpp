// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// A value from the environment: a configuration, a clock, the identity of a user.
template <class T>
struct reader {
  /// Asks for the value.
  struct [[nodiscard("weft: co_await it")]] ask : op<T> {
    [[nodiscard("weft: co_await it")]] ask() noexcept {}
  };

  using operations = op_list<ask>;
};

/// Handles reader with a fixed value.  Used by one thread; several threads need
/// synchronized(handler).
template <class T>
class reader_of : public handler<reader<T>> {
 public:
  explicit reader_of(T value) : value_(std::move(value)) {}

  T on(typename reader<T>::ask) const { return value_; }

 private:
  T value_;
};

}  // namespace weft
