// SPDX-License-Identifier: MIT
// A value of any type, also one that can only be moved.
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <weft/sched/commands/unique_any.hpp>
using namespace weft;

int main() {
  unique_any p(std::make_unique<int>(7));
  std::cout << p.holds<std::unique_ptr<int>>() << *p.get<std::unique_ptr<int>>() << '\n';
  try {
    (void)p.get<std::string>();
  } catch (bad_unique_any const&) {
    std::cout << "bad_unique_any\n";
  }
  auto const seven = p.take<std::unique_ptr<int>>();
  std::cout << *seven << bool(p) << '\n';
  unique_any text(std::string("text"));
  text.reset();
  std::cout << bool(text) << '\n';
}
