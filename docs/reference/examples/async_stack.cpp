// SPDX-License-Identifier: MIT
// The frames that an exception has left, and the version of the library.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<void> inner() {
  throw std::runtime_error("broken");
  co_return;
}
eff<void> middle() { co_await inner(); }

int main() {
  record_async_stacks(true);
  try {
    run(middle());
  } catch (std::exception const& e) {
    std::string const stack = async_stack_of(std::current_exception());
    std::cout << e.what() << ", " << (stack.find("async_stack.cpp:15") != std::string::npos)
              << '\n';
  }
  static_assert(WEFT_VERSION ==
                10000 * WEFT_VERSION_MAJOR + 100 * WEFT_VERSION_MINOR + WEFT_VERSION_PATCH);
  std::cout << (version == WEFT_VERSION) << '\n';
}
