// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "weft/effects/detail/compiler.hpp"

/// The errors of a persistent_deque that is misused: cold and noinline, so that correct use does
/// not pay for them.
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
