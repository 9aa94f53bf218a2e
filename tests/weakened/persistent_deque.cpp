// SPDX-License-Identifier: MIT

/// The counts of deque/policy.hpp with one order weakened: the argument is its label there.
/// ThreadSanitizer must report a race for each, and none for 0, which weakens no order.

#include <atomic>
#include <cstdint>

#include "tests/support/deque_threads.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

template <int Weakened>
struct weakened_counts : weft::atomic_counts {
  static constexpr auto order_1_and_3 = Weakened == 1   ? std::memory_order_acquire
                                        : Weakened == 3 ? std::memory_order_release
                                                        : std::memory_order_acq_rel;
  static constexpr auto order_2 =
      Weakened == 2 ? std::memory_order_relaxed : std::memory_order_acquire;

  class owners {
   public:
    void add() noexcept { n_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool remove() noexcept {
      // The last owner mostly sees it by [2], and then [3] is not used: so this is skipped for 3.
      return (Weakened != 3 && only_one()) || n_.fetch_sub(1, order_1_and_3) == 1;
    }
    [[nodiscard]] bool only_one() const noexcept { return n_.load(order_2) == 1; }

   private:
    std::atomic<std::uint32_t> n_{1};
  };
};

template <int Weakened>
int run() {
  int wrong = 0;
  for (unsigned seed = 0; seed != 40; ++seed)
    wrong += weft::tests::wrong_versions_on_threads<weakened_counts<Weakened>>(seed);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::tests::run_weakened<3>(argc, argv, []<int Weakened>() { return run<Weakened>(); });
}
