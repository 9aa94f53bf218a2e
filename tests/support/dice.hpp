// SPDX-License-Identifier: MIT
#pragma once

#include <random>

namespace weft::tests {

/// Random numbers that a seed determines, the same with every standard library.
class dice {
 public:
  explicit dice(unsigned seed) : engine_(seed) {}
  /// One of 0 .. n - 1.
  unsigned operator()(unsigned n) { return static_cast<unsigned>(engine_() % n); }

 private:
  std::mt19937 engine_;
};

}  // namespace weft::tests
