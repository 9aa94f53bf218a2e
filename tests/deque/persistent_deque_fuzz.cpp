// SPDX-License-Identifier: MIT

/// Looks for a program of deque commands that breaks a law:
///
///     ./bazelw run --config=fuzz //tests/deque:persistent_deque_fuzz -- -max_total_time=30
///
/// What it finds goes into tests/deque/found/, where a test runs it for ever.

#include <cstddef>
#include <cstdint>

#include "tests/support/deque_commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  weft::tests::run_deque_commands({data, size});  // what it throws is a finding
  return 0;
}
