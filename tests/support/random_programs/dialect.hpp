// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"

/// Programs that are drawn at random.
namespace weft::tests {

/// Acts that interact.  One that stands in it twice is drawn twice as often.
using theme = std::vector<act>;

/// The programs that are drawn.
struct dialect {
  std::vector<theme> themes;       ///< A program has the words of some.
  unsigned most_themes = 1;        ///< That many at most; or of all, if there is one theme.
  theme always = {};               ///< These words as well.
  unsigned processes = 1;          ///< At least.
  unsigned more_processes = 0;     ///< That many more at most.
  unsigned acts = 4;               ///< Statements of a process, at most.
  unsigned part = 2;               ///< Statements of a part, at most.
  unsigned depth = 3;              ///< Parts in parts, at most.
  unsigned size = 12;              ///< Statements of the program, at most.
  int most_time = 3;               ///< Of waits, from 1 on.
  unsigned gates = 1;              ///< At most.
  unsigned forks = 0;              ///< Of the first process, at most.
  int ends_at = 0;                 ///< As in a program.
  bool forkable_ones = false;      ///< One process of three has a log.
  theme of_forkable_ones = {};     ///< The words of these, if they have others.
  bool ends_by_itself = false;     ///< Nothing shielded waits without a deadline.
  bool one_of_races_fails = true;  ///< Parts of `races` may fail.
  unsigned never_fails = 0;        ///< One program of so many has no failures; 0 means all may.
  bool (*accepts)(program_of_acts const&) = nullptr;  ///< Others are drawn again.
};

/// The program of that seed, or the next one of these dice.
[[nodiscard]] program_of_acts random_program(dice& random, dialect const& d);
[[nodiscard]] inline program_of_acts random_program(unsigned seed, dialect const& d) {
  dice random(seed);
  return random_program(random, d);
}

}  // namespace weft::tests
