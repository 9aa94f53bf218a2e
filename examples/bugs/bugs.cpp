// SPDX-License-Identifier: MIT
#include "examples/bugs/bugs.hpp"

#include <chrono>
#include <iostream>

/// Looks for each bug, as a test would, and prints in which schedule it is found: the rows of the
/// table of docs/testing.md.
int main() {
  for (auto const* const list : {&bugs::races, &bugs::waits})
    for (bugs::bug const& b : *list) {
      weft::check_options how;
      if (!b.is_found) how.time = std::chrono::milliseconds(100);
      auto const found = b.look(how);
      std::cout << "| " << b.name << " | " << b.kind << " | " << b.from << " | ";
      if (found.ok())
        std::cout << "not found |\n";
      else
        std::cout << found.schedules << " |\n";
    }
}
