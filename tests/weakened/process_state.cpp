// SPDX-License-Identifier: MIT

/// sched/backends/detail/sharing_state.hpp with one order weakened: the argument is its label there.
/// ThreadSanitizer must report a race for each, and none for 0, which weakens no order.

#include <atomic>

#include "tests/support/state_threads.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

template <int Weakened>
struct weakened_orders : weft::detail::sharing_state_orders {
  static constexpr auto sleeps =
      weft::tests::unless_weakened<Weakened, 1>(weft::detail::sharing_state_orders::sleeps);
  static constexpr auto wakes =
      weft::tests::unless_weakened<Weakened, 2>(weft::detail::sharing_state_orders::wakes);
};

template <int Weakened>
int run() {
  return weft::tests::wrong_wakes_on_threads<weakened_orders<Weakened>>(3, 1000);
}

}  // namespace

int main(int argc, char** argv) {
  return weft::tests::run_weakened<2>(argc, argv, []<int Weakened>() { return run<Weakened>(); });
}
