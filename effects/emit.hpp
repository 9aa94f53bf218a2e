// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "effects/operation.hpp"

namespace weft {

/// Giving values away, one after the other: what a generator does, or a producer.
///
///     eff<void, emit<int>> squares(int n) {
///       for (int i = 1; i <= n; ++i) co_await emit<int>::value{i * i};
///     }
///
/// Where they go is the handler's business.  One with a value clause takes each at once: it is
/// pushed.  One that keeps the rest of the program until somebody wants the next value is pulled:
/// effects/each.hpp makes a range of it.
///
/// A `T` is moved from hand to hand.  For a reference emit a pointer or a std::reference_wrapper.
template <class T>
struct emit {
  static_assert(detail::require_value<T>());

  struct value : op<void> {
    explicit value(std::remove_reference_t<T> v) : it(std::move(v)) {}
    std::remove_reference_t<T> it;
  };

  using operations = op_list<value>;
};

/// Handles emit by adding to a vector of its own, and answers with that; if the body computes
/// something, with a pair of its result and the vector.  `handle(emit_to_vector<int>(),
/// squares(9))`
///
/// Other ways to push need no handler of ours: `clauses{[](emit<int>::value v) { use(v.it); }}`.
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
