// SPDX-License-Identifier: MIT

/// The rival: the same recursion by plain calls, each of which returns whether the product is
/// known, and if so its caller returns at once.  That is the quickest way in plain C++ to leave a
/// thousand calls.  An exception, which unwinds each of them, takes sixty times as long; longjmp,
/// which visits none and runs no destructors, six tenths.

#include "examples/effect_suite/product_early.hpp"

#include <cstdint>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using effect_suite::product_early::cell;
using effect_suite::product_early::numbers_down;
using weft::bench::launder;

constexpr int input = 100'000;
constexpr std::uint64_t answer = 0;

/// Stores the product, and returns whether it is final.
[[gnu::noinline]] bool is_done(cell const* list, int& product) {
  product = 0;
  if (!list) return false;
  if (list->head == 0) return true;
  bool const done = is_done(list->tail, product);
  if (done) return true;
  product *= list->head;
  return false;
}

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::product_early::program(launder(input)));
}
std::uint64_t by_checked_calls() {
  numbers_down const numbers(1000);
  std::int64_t sum = 0;
  for (int i = 0; i != launder(input); ++i) {
    int product = 0;
    is_done(launder(numbers.list()), product);
    sum += product;
  }
  return static_cast<std::uint64_t>(sum);
}

}  // namespace

void weft::bench::effect_suite_product_early(suite& bench) {
  bench.compare_seconds("product_early", handled, "checked-calls", by_checked_calls, answer);
}
