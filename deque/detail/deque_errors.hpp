// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

/// What a deque throws at wrong use; out of line, and out of the way of what is used rightly.
namespace weft::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_empty(char const* operation) {
  throw std::out_of_range(std::string("weft::persistent_deque::") + operation +
                          ": the deque is empty");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_element(char const* operation,
                                                                    std::size_t i) {
  throw std::out_of_range(std::string("weft::persistent_deque::") + operation +
                          ": there is no element " + std::to_string(i));
}

}  // namespace weft::detail
