// SPDX-License-Identifier: MIT

/// Looks for a program of deque commands that breaks a law:
///
///     ./bazelw run --config=fuzz //tests/deque:persistent_deque_fuzz -- -max_total_time=30
///
/// Its findings are kept in tests/deque/found/, where persistent_deque_random_test runs them.

#include <cstddef>
#include <cstdint>

#include "tests/support/deque_commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  weft::tests::run_deque_commands({data, size});  // an exception is a finding
  return 0;
}
