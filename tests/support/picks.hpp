// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"

/// An effect that is meant to be resumed twice, and handlers of it.
namespace weft::tests {

struct pick {
  struct one : op<int> {};
  using operations = op_list<one>;
};

/// Keeps the resumptions, and answers with A().
template <class A = void>
struct keeps_picks : region {
  std::vector<multi_resumption<int, A>> waiting;
  A on(pick::one, multi_resumption<int, A> k) {
    waiting.push_back(std::move(k));
    return A();
  }
};

/// Resumes with 0, 1, ... n - 1, one after the other, and answers with all results.
template <class T = int>
struct tries_picks {
  using list = std::vector<T>;
  int n;
  eff<list> on(pick::one, multi_resumption<int, list> k) const {
    list all;
    for (int i = 0; i != n; ++i) {
      list const some = co_await k(i);
      all.insert(all.end(), some.begin(), some.end());
    }
    co_return all;
  }
  list on_return(T result) const { return {result}; }
};

/// The text of the `E` that `f` throws, or "none".
template <class E, class F>
std::string text_of(F f) {
  try {
    f();
  } catch (E const& e) {
    return e.what();
  }
  return "none";
}

}  // namespace weft::tests
