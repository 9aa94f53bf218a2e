// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"

/// The results of programs whose acts may come in any order (dialect_of_results()).
namespace weft::tests {

/// The result of an evaluation of one statement after the other; none if it fails.
[[nodiscard]] inline std::optional<int> value_of(block const& b) {
  int sum = 0;
  for (statement const& s : b) {
    if (s.what == act::throws) return std::nullopt;
    if (s.what == act::adds) sum += s.n;
    if (s.what == act::races) {
      ++sum;  // whichever of its parts is the first
      continue;
    }
    for (block const& part : s.parts) {
      auto const v = value_of(part);
      if (!v && s.what != act::attempts) return std::nullopt;
      sum += v.value_or(-1);
    }
  }
  return sum;
}

}  // namespace weft::tests
