// SPDX-License-Identifier: MIT

/// The reserve of memory for unwinding, with one order weakened, which the argument selects.
/// ThreadSanitizer must report a race for each, and none for 0, which weakens no order.  For
/// weaken.py:

// weakens 1 in effects/memory/unwinding_reserve.hpp to relaxed:
//    taken | first_free, std::memory_order_acquire
// weakens 2 in effects/memory/unwinding_reserve.hpp to relaxed:
//    block_bytes)), std::memory_order_release

#include "weft/effects/memory/unwinding_reserve.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/weakened/weakened.hpp"

namespace {

weft::detail::unwinding_reserve reserve;

/// Takes a block, the first free one, writes to it and returns it.
int uses_it() {
  int* const block = static_cast<int*>(reserve.take(sizeof(int)));
  if (!block) return 1;
  *block += 1;
  return reserve.give(block) ? 0 : 1;
}

/// Two threads use the reserve in turn; the turns order nothing else.
int in_turn() {
  static constexpr int turns = 100;
  std::atomic<int> turn = 0;
  int wrong[2] = {};
  auto const use = [&](int me) {
    for (int i = me; i < turns; i += 2) {
      while (turn.load(std::memory_order_relaxed) != i) std::this_thread::yield();
      wrong[me] += uses_it();
      turn.store(i + 1, std::memory_order_relaxed);
    }
  };
  std::thread other(use, 1);
  use(0);
  other.join();
  return wrong[0] + wrong[1];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) weft::tests::weakened_order = std::atoi(argv[1]);
  return in_turn();
}
