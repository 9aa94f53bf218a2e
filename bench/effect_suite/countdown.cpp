// SPDX-License-Identifier: MIT

/// The rival: the same loop on a variable behind two virtual functions, whose class the compiler
/// does not know there.  It does not know the handler in the program that performs either.

#include "examples/effect_suite/countdown.hpp"

#include <cstdint>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using weft::bench::either;
using weft::bench::launder;

constexpr int input = 200'000'000;
constexpr std::uint64_t answer = 0;

class variable {
 public:
  virtual ~variable() = default;
  virtual int get() = 0;
  virtual void put(int v) = 0;
};
template <int>
class plain_variable final : public variable {
 public:
  explicit plain_variable(int initial) : value_(initial) {}
  int get() override { return value_; }
  void put(int v) override { value_ = v; }

 private:
  int value_;
};

[[gnu::noinline]] int count_down(variable& v) {
  for (;;) {
    int const i = v.get();
    if (i == 0) return i;
    v.put(i - 1);
  }
}

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::countdown::program(launder(input)));
}
std::uint64_t virtually() {
  auto const v = either<variable, plain_variable>(launder(input));
  return static_cast<std::uint64_t>(count_down(*v));
}

}  // namespace

void weft::bench::effect_suite_countdown(suite& bench) {
  bench.compare_seconds("countdown", handled, "virtual-call", virtually, answer);
}
