// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <weft/effects/effects.hpp>

/// Adds up the primes below n, with a sieve that is made of handlers.
///
/// An operation asks whether i is prime.  If it is, the continuation of the program runs under one
/// more handler, which knows i: it answers for the multiples of i itself, and asks the next handler
/// outwards about other numbers.  So the newest handler is asked first, the one of 2 last, and the
/// outermost handler answers yes.
///
/// The clauses are value clauses that ask outwards.  It measures an operation that many handlers
/// forward: below 60000 there are 6057 of them.  Native stack: up to one clause deep for each.
namespace effect_suite::handler_sieve {

using weft::eff;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::outer;

struct primality {
  struct [[nodiscard]] is_prime : op<bool> {
    explicit is_prime(int v) : value(v) {}
    int value;
  };
  using operations = op_list<is_prime>;
};

class sieving : public handler<primality> {
 public:
  explicit sieving(int prime) : prime_(prime) {}
  bool on(primality::is_prime question, outer<primality> up) const {
    if (question.value % prime_ == 0) return false;
    return up(question);
  }

 private:
  int prime_;
};

struct nothing_divides : handler<primality> {
  bool on(primality::is_prime) const { return true; }
};

inline eff<std::int64_t, primality> sum_of_primes(int i, int n, std::int64_t sum) {
  for (; i < n; ++i) {
    bool const is_prime = co_await primality::is_prime(i);
    if (is_prime) co_return co_await handle(sieving(i), sum_of_primes(i + 1, n, sum + i));
  }
  co_return sum;
}

inline std::int64_t program(int n) {
  return run(handle(nothing_divides(), sum_of_primes(2, n, 0)));
}

}  // namespace effect_suite::handler_sieve
