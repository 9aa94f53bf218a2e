// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_programs/acts.hpp"

/// Programs as data.
namespace weft::tests {

struct statement;
using block = std::vector<statement>;
/// `n` is a time, a number, or which of several; `parts` are for acts with parts (acts.hpp).
struct statement {
  statement(act a, int number = 0) : what(a), n(number) {}  // NOLINT: implicit
  statement(act a, block part) : what(a) { parts.push_back(std::move(part)); }
  statement(act a, int number, block part) : statement(a, std::move(part)) { n = number; }
  statement(act a, block first, block second) : statement(a, std::move(first)) {
    parts.push_back(std::move(second));
  }

  act what;
  int n = 0;
  std::vector<block> parts = {};
};

/// The statements of a process.
struct life {
  block acts;
  bool is_forkable = false;
};
/// The first process starts all of them.
struct program_of_acts {
  std::vector<life> all;
  std::size_t capacity = 2;  // of ports
  std::size_t permits = 1;   // of the semaphore
  std::size_t gates = 1;
  unsigned forks = 0;  // of the first process, before it starts the others
  int ends_at = 0;     // unless 0, the timeout of a scope around each process

  /// Whether the program has a statement for which that is true.
  [[nodiscard]] bool has(std::function<bool(statement const&)> const& is) const;
  [[nodiscard]] bool has(act a) const {
    return has([a](statement const& s) { return s.what == a; });
  }
  [[nodiscard]] bool has_mail() const {
    return has(
        [](statement const& s) { return s.what >= act::sends && s.what <= act::makes_address; });
  }
  [[nodiscard]] std::string text() const;
};
/// The number of statements.
[[nodiscard]] std::size_t size_of(program_of_acts const& p);

/// A smaller program for which `still(program)` is true, as it is for `p`: without statements, with
/// the parts of a statement in its place, with smaller numbers.  Asks a few thousand times at most.
[[nodiscard]] program_of_acts smaller(program_of_acts p,
                                      std::function<bool(program_of_acts const&)> const& still);

}  // namespace weft::tests
