// SPDX-License-Identifier: MIT
// console: printing that a test can read back; for_each awaits a computation for each element.
#include <iostream>
#include <string>
#include <vector>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<void, console> print_all(std::vector<std::string> names) {
  co_await console::print{"names:"};
  co_await for_each(
      names, [](std::string const& n) -> eff<void, console> { co_await console::print{" " + n}; });
  co_await console::print_line{"."};
}

int main() {
  std::vector<std::string> const names{"ann", "ben"};
  run(handle(console_to_stream(std::cout), print_all(names)));

  std::string printed;
  run(handle(console_to_string(printed), print_all(names)));
  std::cout << printed.size() << " characters\n";
}
