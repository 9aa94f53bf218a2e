// SPDX-License-Identifier: MIT
#pragma once

#include "weft/io/reactor.hpp"

/// The network of the system that a test is about.
namespace weft::tests {

using system_network = reactor;
inline constexpr char const* its_name = "a reactor";
inline constexpr char const* cannot_begin = "weft: begin a reactor: Too many open files";

}  // namespace weft::tests
