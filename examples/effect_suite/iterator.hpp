// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <weft/effects/effects.hpp>

/// Iterates from 0 to n, and adds up the numbers.
///
/// The iteration emits each number, an operation; its handler adds up by a value clause, and
/// answers with the sum when the iteration is over (`on_return`).  It measures one operation that
/// is answered where it is performed: a loop that does not know its body.
namespace effect_suite::iterator {

using weft::eff;
using weft::handler;
using weft::op;
using weft::op_list;

struct iteration {
  struct [[nodiscard]] emit : op<void> {
    explicit emit(int v) : value(v) {}
    int value;
  };
  using operations = op_list<emit>;
};

class summing : public handler<iteration> {
 public:
  void on(iteration::emit e) { sum_ += e.value; }
  std::int64_t on_return() { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

inline eff<void, iteration> iterate(int from, int to) {
  for (int i = from; i <= to; ++i) co_await iteration::emit(i);
}

inline std::int64_t program(int n) { return run(handle(summing(), iterate(0, n))); }

}  // namespace effect_suite::iterator
