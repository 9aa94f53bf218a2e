// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <system_error>

namespace effect_suite {

/// How large the problem is: the program's argument, or `otherwise` if there is none.  Ends the
/// program with 2 if it is not a number.
inline int argument(int argc, char** argv, int otherwise) {
  if (argc < 2) return otherwise;
  std::string_view const text = argv[1];
  char const* const end = text.data() + text.size();
  int n = 0;
  auto const [read_to, error] = std::from_chars(text.data(), end, n);
  if (argc == 2 && error == std::errc() && read_to == end && n >= 0) return n;
  std::cerr << "usage: " << argv[0] << " [n], a whole number from 0; without it " << otherwise
            << '\n';
  std::exit(2);
}

}  // namespace effect_suite
