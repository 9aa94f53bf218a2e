// SPDX-License-Identifier: MIT

/// sched/thread_queue.hpp with one order weakened, chosen by the argument, as they are labelled
/// there.  ThreadSanitizer must object to each; 0, with none, must pass.

#include <atomic>
#include <string_view>

#include "tests/support/queue_threads.hpp"

namespace {

template <int Weakened>
struct weakened_orders : weft::queue_orders {
  static constexpr auto claims =
      Weakened == 1 ? std::memory_order_relaxed : weft::queue_orders::claims;
  static constexpr auto gives_back =
      Weakened == 2 ? std::memory_order_relaxed : weft::queue_orders::gives_back;
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
  std::string_view const which = argc > 1 ? argv[1] : "";
  if (which == "0") return run<0>();
  if (which == "1") return run<1>();
  if (which == "2") return run<2>();
  return 2;
}
