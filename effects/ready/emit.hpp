// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// Emits values one after the other, as a generator or a producer does.
///
///     eff<void, emit<int>> squares(int n) {
///       for (int i = 1; i <= n; ++i) co_await emit<int>::value{i * i};
///     }
///
/// The handler decides what happens to the values.  A handler with a value clause receives each
/// value at once: push.  A handler that keeps the continuation until the next value is requested
/// gives pull: so effects/ready/each.hpp makes a range of the computation.
///
/// A `T` is moved on its way.  To emit a reference, use a pointer or a std::reference_wrapper.
template <class T>
struct emit {
  static_assert(detail::require_value<T>());

  /// Emits the value.
  struct [[nodiscard("weft: co_await it")]] value : op<void> {
    [[nodiscard("weft: co_await it")]] explicit value(std::remove_reference_t<T> v)
        : it(std::move(v)) {}
    std::remove_reference_t<T> it;
  };

  using operations = op_list<value>;
};

/// Handles emit by appending to a vector of its own, and answers with the vector; if the body
/// computes a result, with a pair of the result and the vector:
/// `handle(emit_to_vector<int>(), squares(9))`
///
/// O(1) a value, amortised; allocates as the vector grows.
///
/// Other forms of push need no handler class: `clauses{[](emit<int>::value v) { use(v.it); }}`.
template <class T>
class emit_to_vector : public handler<emit<T>> {
 public:
  void on(typename emit<T>::value v) { all_.push_back(std::move(v.it)); }
  std::vector<T> on_return() { return std::move(all_); }
  template <class Result>
  std::pair<Result, std::vector<T>> on_return(Result result) {
    return {std::move(result), std::move(all_)};
  }

 private:
  std::vector<T> all_;
};

}  // namespace weft
