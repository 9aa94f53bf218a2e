// SPDX-License-Identifier: MIT
// failure: failing with an error that the type names, and three ways to handle it.
#include <iostream>
#include <optional>
#include <string>
#include <variant>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<int, failure<std::string>> half(int n) {
  if (n % 2 != 0) co_await failure<std::string>::fail{"odd"};
  co_return n / 2;
}

int main() {
  std::optional<int> const maybe = run(handle(failure_to_optional<std::string>(), half(3)));
  std::cout << (maybe ? "a value" : "nothing") << '\n';

  std::variant<int, std::string> const either =
      run(handle(failure_to_variant<std::string>(), half(8)));
  std::cout << std::get<0>(either) << '\n';

  try {
    run(handle(failure_to_exception<std::string>(), half(5)));
  } catch (std::string const& error) {
    std::cout << "thrown: " << error << '\n';
  }
}
