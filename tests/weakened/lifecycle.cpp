// SPDX-License-Identifier: MIT

/// sched/backends/detail/stealing_state.hpp with one order weakened: the argument is its label there.
/// ThreadSanitizer must report a race for each, and none for 0, which weakens no order.

#include <atomic>

#include "tests/support/lifecycle_threads.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

using right = weft::detail::stealing_state_orders;
using weft::tests::unless_weakened;

template <int Weakened>
struct weakened_orders : right {
  static constexpr auto waits = unless_weakened<Weakened, 1>(right::waits);
  static constexpr auto takes = unless_weakened<Weakened, 2>(right::takes);
  static constexpr auto flags = unless_weakened<Weakened, 3>(right::flags);
  static constexpr auto told = unless_weakened<Weakened, 4>(right::told);
};

/// Repeats until both threads have been first, which the operating system decides.
template <int Weakened>
int run() {
  using orders = weakened_orders<Weakened>;
  constexpr int rounds = 5'000;
  int flagged = 0;
  int wrong = weft::tests::wrong_take_overs_on_threads<orders>(rounds);
  while (flagged == 0 || flagged % rounds == 0)
    wrong += weft::tests::wrong_flags_on_threads<orders>(rounds, flagged);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::tests::run_weakened<4>(argc, argv, []<int Weakened>() { return run<Weakened>(); });
}
