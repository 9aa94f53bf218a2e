// SPDX-License-Identifier: MIT

/// deque/steal_queue.hpp with one order weakened: the argument is its label there.  ThreadSanitizer
/// must report a race for each, and none for 0, which weakens no order.

#include <atomic>

#include "tests/support/steal_pairs.hpp"
#include "tests/support/steal_threads.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

using right = weft::steal_queue_orders;
using weft::tests::unless_weakened;

template <int Weakened>
struct weakened_orders : right {
  static constexpr auto publishes = unless_weakened<Weakened, 1>(right::publishes);
  static constexpr auto sees_room = unless_weakened<Weakened, 2>(right::sees_room);
  static constexpr auto grows = unless_weakened<Weakened, 3>(right::grows);
  static constexpr auto sees_array = unless_weakened<Weakened, 4>(right::sees_array);
  static constexpr auto sees_bottom = unless_weakened<Weakened, 7>(right::sees_bottom);
  static constexpr auto takes = unless_weakened<Weakened, 8>(right::takes);
};

template <int Weakened>
int run() {
  using orders = weakened_orders<Weakened>;
  using before_growth = weft::tests::orders_before_growth<orders>;
  using weft::basic_steal_queue;
  int wrong =
      weft::tests::late_rooms_on_threads<basic_steal_queue<int, orders>>(10) +
      weft::tests::late_arrays_on_threads<basic_steal_queue<int, before_growth>, before_growth>(10);
  for (unsigned seed = 0; seed != 5; ++seed)
    wrong += weft::tests::wrong_batches_on_threads<orders>(seed, 2, 3'000);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::tests::run_weakened<8>(argc, argv, []<int Weakened>() { return run<Weakened>(); });
}
