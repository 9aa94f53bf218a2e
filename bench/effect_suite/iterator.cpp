// SPDX-License-Identifier: MIT

/// The rival: the loop calls a virtual function with each number; the compiler does not know its
/// class there.

#include "examples/effect_suite/iterator.hpp"

#include <cstdint>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using weft::bench::either;
using weft::bench::launder;

constexpr int input = 40'000'000;
constexpr std::uint64_t answer = 800'000'020'000'000;

class consumer {
 public:
  virtual ~consumer() = default;
  virtual void take(int v) = 0;
  [[nodiscard]] virtual std::int64_t result() const = 0;
};
template <int>
class summing final : public consumer {
 public:
  void take(int v) override { sum_ += v; }
  [[nodiscard]] std::int64_t result() const override { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

[[gnu::noinline]] void iterate(int from, int to, consumer& c) {
  for (int i = from; i <= to; ++i) c.take(i);
}

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::iterator::program(launder(input)));
}
std::uint64_t virtually() {
  auto const c = either<consumer, summing>();
  iterate(0, launder(input), *c);
  return static_cast<std::uint64_t>(c->result());
}

}  // namespace

void weft::bench::effect_suite_iterator(suite& bench) {
  bench.compare_seconds("iterator", handled, "virtual-call", virtually, answer);
}
