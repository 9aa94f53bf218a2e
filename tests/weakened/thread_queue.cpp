// SPDX-License-Identifier: MIT

/// sched/backends/detail/thread_queue.hpp with one order weakened: the argument is its label there.
/// ThreadSanitizer must report a race for each, and none for 0, which weakens no order.

#include <atomic>

#include "tests/support/queue_threads.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

template <int Weakened>
struct weakened_orders : weft::detail::queue_orders {
  static constexpr auto claims =
      weft::tests::unless_weakened<Weakened, 1>(weft::detail::queue_orders::claims);
  static constexpr auto gives_back =
      weft::tests::unless_weakened<Weakened, 2>(weft::detail::queue_orders::gives_back);
};

template <int Weakened>
int run() {
  int wrong = 0;
  for (unsigned seed = 0; seed != 5; ++seed)
    wrong += weft::tests::wrong_queues_on_threads<weakened_orders<Weakened>>(seed, 4, 20'000);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::tests::run_weakened<2>(argc, argv, []<int Weakened>() { return run<Weakened>(); });
}
