// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <utility>

#include <weft/effects/effects.hpp>

/// A loop asks n questions, which are answered when it has ended, the last one first: each answer
/// is computed from the one before.  A thousand such loops run, each with the result of the one
/// before.
///
/// The clause is a coroutine: it awaits the continuation, and works on its answer.  The
/// continuation contains the later questions, so n clauses wait for one another.  It measures a
/// clause that goes on after its continuation, n deep, without native stack.
namespace effect_suite::resume_nontail {

using weft::eff;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::resumption;

struct combining {
  struct [[nodiscard]] combine : op<void> {
    explicit combine(int v) : value(v) {}
    int value;
  };
  using operations = op_list<combine>;
};

struct from_the_end : handler<combining> {
  eff<int> on(combining::combine c, resumption<void, int> k) {
    int const rest = co_await std::move(k)();
    co_return std::abs(c.value - 503 * rest + 37) % 1009;
  }
};

inline eff<int, combining> loop(int n, int result) {
  for (int i = n; i > 0; --i) co_await combining::combine(i);
  co_return result;
}

inline int program(int n) {
  int result = 0;
  for (int i = 0; i < 1000; ++i) result = run(handle(from_the_end(), loop(n, result)));
  return result;
}

}  // namespace effect_suite::resume_nontail
