// SPDX-License-Identifier: MIT

/// sched/process_state.hpp with one order weakened, chosen by the argument, as they are labelled
/// there.  ThreadSanitizer must object to each; 0, with none, must pass.

#include <atomic>
#include <string_view>

#include "tests/support/state_threads.hpp"

namespace {

template <int Weakened>
struct weakened_orders : weft::state_orders {
  static constexpr auto sleeps =
      Weakened == 1 ? std::memory_order_relaxed : weft::state_orders::sleeps;
  static constexpr auto wakes =
      Weakened == 2 ? std::memory_order_relaxed : weft::state_orders::wakes;
};

template <int Weakened>
int run() {
  return weft::tests::wrong_wakes_on_threads<weakened_orders<Weakened>>(3, 1000);
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const which = argc > 1 ? argv[1] : "";
  if (which == "0") return run<0>();
  if (which == "1") return run<1>();
  if (which == "2") return run<2>();
  return 2;
}
