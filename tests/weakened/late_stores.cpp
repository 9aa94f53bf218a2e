// SPDX-License-Identifier: MIT

/// deque/chase_lev.hpp and deque/steal_queue.hpp with one store, which the argument selects, that a
/// load may overtake: the result is then wrong on the machine itself, although ThreadSanitizer sees
/// no race.  0, with none, is right.
///
/// 1: [7] of chase_lev, as a release.  2 and 3: [5], publish, of chase_lev and of steal_queue, as a
/// release.  4 and 5: the heavy fence of chase_lev (STEAL-7), left out, where it replaces [7] and
/// where it replaces [5].

#include <atomic>
#include <type_traits>

#include "tests/support/steal_pairs.hpp"
#include "tests/support/steal_threads.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

using namespace weft;

template <int Weakened, int Label>
constexpr std::memory_order unless_a_release =
    Weakened == Label ? std::memory_order_release : std::memory_order_seq_cst;

template <int Weakened>
struct deque_orders : chase_lev_orders {
  static constexpr auto claims = unless_a_release<Weakened, 1>;
  static constexpr auto announces = unless_a_release<Weakened, 2>;
};
template <int Weakened>
struct queue_orders : steal_queue_orders {
  static constexpr auto announces = unless_a_release<Weakened, 3>;
};

struct no_fence : detail::asymmetric_fence {
  static void heavy() noexcept {}
};
struct without_fence : interrupting_orders {
  using fence = no_fence;
};
template <int Weakened, int Label>
using fenced_orders = std::conditional_t<Weakened == Label, without_fence, interrupting_orders>;

/// Both threads must run at once, which the operating system decides: hence the repetitions, of
/// which a busy machine may need many.
template <int Weakened>
int run() {
  using deque_t = basic_chase_lev<int, deque_orders<Weakened>>;
  using queue_t = basic_steal_queue<int, queue_orders<Weakened>>;
  constexpr bool all = Weakened == 0;
  for (int attempts = all ? 20 : 2'000'000; attempts != 0; --attempts) {
    int wrong = 0;
    if (all || Weakened == 1)
      wrong += tests::wrong_last_ones_on_threads<deque_orders<Weakened>>(1, 10'000);
    if (all || Weakened == 2) wrong += tests::missed_wakeups_on_threads<deque_t>(2'000);
    if (all || Weakened == 3) wrong += tests::missed_wakeups_on_threads<queue_t>(2'000);
    if (all || Weakened == 4)
      wrong += tests::wrong_last_ones_on_threads<fenced_orders<Weakened, 4>>(1, 10'000);
    if (all || Weakened == 5)
      wrong +=
          tests::missed_wakeups_on_threads<basic_chase_lev<int, fenced_orders<Weakened, 5>>>(2'000);
    if (wrong != 0) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_weakened<5>(argc, argv, []<int Weakened>() { return run<Weakened>(); });
}
