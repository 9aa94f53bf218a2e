// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/effects/effects.hpp>

/// Multiplies the numbers of the list 1000, 999, ... 0, from the end to the beginning, n times; and
/// adds up the products.
///
/// At a 0 the product is known, so the program performs `done`, an operation that never returns.  A
/// control clause answers it, and drops the continuation: a thousand multiplications that wait for
/// their second factor.  It measures the abort of a deep recursion: a thousand calls, and the cost
/// of destroying them.
///
/// Here frames that are not on a stack lose.  A runtime with stacks drops the continuation by
/// setting one register, and its calls are plain calls; weft creates a frame for each call, and
/// destroys each, since it might own something.
namespace effect_suite::product_early {

using weft::eff;
using weft::handler;
using weft::never;
using weft::op;
using weft::op_list;
using weft::resumption;

/// A list: a number, and the list of the others.  Null is the empty list.
struct cell {
  int head;
  cell const* tail;
};

/// Owns the list n, n - 1, ... 0.
class numbers_down {
 public:
  explicit numbers_down(int n) : cells_(static_cast<std::size_t>(n) + 1) {
    for (cell& c : cells_) {
      c = {static_cast<int>(&c - cells_.data()), first_};
      first_ = &c;
    }
  }
  [[nodiscard]] cell const* list() const { return first_; }

 private:
  std::vector<cell> cells_;
  cell const* first_ = nullptr;
};

struct finishing {
  struct [[nodiscard]] done : op<never> {
    explicit done(int p) : product(p) {}
    int product;
  };
  using operations = op_list<done>;
};

struct answers_when_done : handler<finishing> {
  int on(finishing::done d, resumption<never, int>) { return d.product; }
};

inline eff<int, finishing> product(cell const* list) {
  if (!list) co_return 0;
  if (list->head == 0) co_await finishing::done(0);
  int const of_tail = co_await product(list->tail);
  co_return list->head* of_tail;
}

inline std::int64_t program(int n) {
  numbers_down const numbers(1000);
  std::int64_t sum = 0;
  for (int i = 0; i < n; ++i) sum += run(handle(answers_when_done(), product(numbers.list())));
  return sum;
}

}  // namespace effect_suite::product_early
