// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/failing_memory.hpp"

/// For tests in which an allocation of each of several programs fails.
namespace weft::tests {

/// Runs each program with one failing allocation, with three in a row, and with forty: at every
/// `apart`-th place, starting at another place for each program.
inline void try_all_without_memory(std::vector<program_without_memory> const& programs,
                                   std::string_view where, long apart) {
  tried all;
  long first = 0;
  for (long const in_a_row : {1, 3, 40})
    for (auto const& p : programs) {
      try_without_memory(p, {in_a_row, first, apart}, where, all);
      first = (first + 1) % apart;
    }
  std::string wrong;
  for (auto const& w : all.wrong) wrong += w + '\n';
  CHECK(wrong == "");
  CHECK(all.places > 0);
  std::printf("%.*s: %ld runs, in %ld of which an allocation failed\n",
              static_cast<int>(where.size()), where.data(), all.runs, all.places);
}

/// Every so-many-th place is tried in a normal run of the tests.
inline constexpr long sampled = 11;

}  // namespace weft::tests
