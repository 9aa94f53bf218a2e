// SPDX-License-Identifier: MIT
// Rows have names, and handlers are composed: each discharges its effects.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
using namespace weft;

using environment = row<reader<std::string>, console>;  // a name for a row

eff<void, environment, state<int>> greet() {
  std::string const name = co_await reader<std::string>::ask{};
  int const n = co_await state<int>::get{};
  co_await console::print_line{"hello " + name + " " + std::to_string(n)};
}

struct lenient {  // names no effects, so `with` names them
  int on(state<int>::get) const { return 1; }
  void on(state<int>::put) const {}
};

int main() {
  run(handle(
      with<state<int>>(lenient()) | reader_of(std::string("ann")) | console_to_stream(std::cout),
      greet()));
}
