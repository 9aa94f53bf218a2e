// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstdint>
#include <random>

#include "weft/effects/detail/compiler.hpp"

namespace weft::detail {

/// Random numbers that are the same on every machine for the same seed.  The generator is the
/// standard's; the distribution is written here, since std::uniform_int_distribution differs from
/// library to library.
class portable_rng {
 public:
  explicit portable_rng(std::uint64_t seed) : random_(seed) {}

  /// A number from 0 to n - 1, all equally likely; n is not 0.  It is the upper half of a product
  /// of a drawn number and n; where that would favour some results, another number is drawn
  /// (Lemire: Fast Random Integer Generation in an Interval, 2019).
  [[nodiscard]] std::uint64_t below(std::uint64_t n) {
    assert(n != 0);
    wide product = wide{random_()} * n;
    if (lower(product) < n)
      for (std::uint64_t const unfair = (0 - n) % n; lower(product) < unfair;)
        product = wide{random_()} * n;
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  __extension__ using wide = unsigned __int128;
  static std::uint64_t lower(wide w) noexcept { return static_cast<std::uint64_t>(w); }

  std::mt19937_64 random_;
};

}  // namespace weft::detail
