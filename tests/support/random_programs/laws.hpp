// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/seeds.hpp"
#include "weft/effects/memory/frame_pool.hpp"

/// Laws that all programs of a dialect keep.
namespace weft::tests {

/// The complaint about a program; or how many frames it leaves, if it has none.
template <class Law>
std::string complaint_about(program_of_acts const& p, unsigned seed, Law law) {
  auto const before = detail::frames_so_far().alive();
  std::string s = law(p, seed);
  auto const left = detail::frames_so_far().alive() - before;
  if (s.empty() && left != 0) s = std::to_string(left) + " frames are left";
  return s;
}
/// Fails if `law(program, seed)` is not empty for one of the programs.  Prints the program, and a
/// smaller one that breaks the law as well, in one of a few runs.
template <class Law>
void check_law(seeds const& some, dialect const& d, Law law) {
  some.for_each([&](unsigned seed) {
    INFO("WEFT_SEED=" << seed);  // if the program ends the process
    program_of_acts const p = random_program(seed, d);
    std::string const why = complaint_about(p, seed, law);
    if (why.empty()) return;
    INFO(why << '\n' << p.text());
    auto const fails = [&](program_of_acts const& other) {
      for (int runs = 0; runs != 5; ++runs)
        if (!complaint_about(other, seed, law).empty()) return true;
      return false;
    };
    FAIL("or smaller\n" << smaller(p, fails).text());
  });
}

}  // namespace weft::tests
