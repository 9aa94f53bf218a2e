// SPDX-License-Identifier: MIT
#pragma once

/// The network of the system that a test is about: the reactor, or asio_network, if the test is
/// compiled for that (tests/table.bzl).

#if defined(WEFT_TEST_OF_ASIO_NETWORK)
#include "weft/adapters/asio_network.hpp"
#else
#include "weft/io/reactor.hpp"
#endif

namespace weft::tests {

#if defined(WEFT_TEST_OF_ASIO_NETWORK)
using system_network = asio_network;
inline constexpr char const* its_name = "an asio_network";
inline constexpr char const* cannot_begin = "Too many open files";
#else
using system_network = reactor;
inline constexpr char const* its_name = "a reactor";
inline constexpr char const* cannot_begin = "weft: begin a reactor: Too many open files";
#endif

}  // namespace weft::tests
