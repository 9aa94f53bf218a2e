// SPDX-License-Identifier: MIT

/// The rival: a chain of objects, one for each prime.  Each asks the next one by a virtual
/// function, whose class the compiler does not know there, and checks the answer, so this is a call
/// and not a jump.  For weft clang emits a jump, as the clause does nothing after asking; hence a
/// ratio below 1.

#include "examples/effect_suite/handler_sieve.hpp"

#include <cstdint>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using weft::bench::launder;

constexpr int input = 60'000;
constexpr std::uint64_t answer = 171'848'738;

class oracle {
 public:
  virtual bool is_prime(int v) = 0;

 protected:
  ~oracle() = default;
};
class sieving final : public oracle {
 public:
  sieving(int prime, oracle& up) : prime_(prime), up_(up) {}
  bool is_prime(int v) override { return v % prime_ != 0 && launder(up_.is_prime(v)); }

 private:
  int prime_;
  oracle& up_;
};
class nothing_divides final : public oracle {
 public:
  bool is_prime(int) override { return true; }
};

[[gnu::noinline]] std::int64_t sum_of_primes(int i, int n, std::int64_t sum, oracle& nearest) {
  for (; i < n; ++i) {
    if (!nearest.is_prime(i)) continue;
    sieving one_more(i, nearest);
    return launder(sum_of_primes(i + 1, n, sum + i, *launder<oracle*>(&one_more)));
  }
  return sum;
}

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::handler_sieve::program(launder(input)));
}
std::uint64_t virtually() {
  nothing_divides outermost;
  return static_cast<std::uint64_t>(
      sum_of_primes(2, launder(input), 0, *launder<oracle*>(&outermost)));
}

}  // namespace

void weft::bench::effect_suite_handler_sieve(suite& bench) {
  bench.compare_seconds("handler_sieve", handled, "virtual-call a handler", virtually, answer);
}
