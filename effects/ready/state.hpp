// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// The effect of reading and writing a variable.  The handler decides where the variable lives, and
/// what happens to it if the continuation of the program is dropped.
template <class T>
struct state {
  /// Asks for the value.
  struct [[nodiscard("weft: co_await it")]] get : op<T> {
    [[nodiscard("weft: co_await it")]] get() noexcept {}
  };
  /// Sets the value.
  struct [[nodiscard("weft: co_await it")]] put : op<void> {
    [[nodiscard("weft: co_await it")]] explicit put(T v) : value(std::move(v)) {}
    T value;
  };

  using operations = op_list<get, put>;
};

/// Handles state with a variable of its own: `handle(state_of(0), body)`.  If the handler is named,
/// value() gives the last value afterwards.  Used by one thread; several threads need
/// synchronized(handler).
template <class T>
class state_of : public handler<state<T>> {
 public:
  explicit state_of(T initial) : value_(std::move(initial)) {}

  T on(typename state<T>::get) const { return value_; }
  void on(typename state<T>::put p) { value_ = std::move(p.value); }

  /// The current value.
  [[nodiscard]] T const& value() const noexcept { return value_; }

 private:
  T value_;
};

/// Handles state with a borrowed variable.  Used by one thread; several threads need
/// synchronized(handler).
template <class T>
class state_in : public handler<state<T>> {
 public:
  explicit state_in(T& variable) noexcept : variable_(variable) {}

  T on(typename state<T>::get) const { return variable_; }
  void on(typename state<T>::put p) const { variable_ = std::move(p.value); }

 private:
  T& variable_;
};

/// Handles state with a variable of its own, and answers with a pair of the body's result and the
/// last value; with the last value alone if the body computes void.  Used by one thread.
template <class T>
class state_returned : public handler<state<T>> {
 public:
  explicit state_returned(T initial) : value_(std::move(initial)) {}

  T on(typename state<T>::get) const { return value_; }
  void on(typename state<T>::put p) { value_ = std::move(p.value); }
  T on_return() { return std::move(value_); }
  template <class Result>
  std::pair<Result, T> on_return(Result result) {
    return {std::move(result), std::move(value_)};
  }

 private:
  T value_;
};

/// Replaces the value by `f(value)`.  Allocates a frame.
template <class T, std::invocable<T> F>
eff<void, state<T>> modify(F f) {
  T value = co_await typename state<T>::get{};
  co_await typename state<T>::put{std::apply(f, std::forward_as_tuple(std::move(value)))};
}

}  // namespace weft
