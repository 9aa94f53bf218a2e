// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/queue_threads.hpp"
#include "weft/sched/backends/detail/sharing_state.hpp"

namespace weft::tests {

/// One thread falls asleep, again and again; the others wake it as soon as it can be found.  One of
/// them succeeds, once it sleeps, and then sees its writes.  Returns the number of failures.
template <class Orders = detail::sharing_state_orders>
int wrong_wakes_on_threads(unsigned wakers, int rounds) {
  detail::basic_sharing_state<Orders> state(detail::sharing_state::running);
  std::atomic<int> can_be_found = -1;
  std::atomic<unsigned> done = 0;
  std::vector<int> winners(wakers);  // of this round
  int written = -1;                  // by the sleeper, when it can already be found
  int wrong = 0;
  std::vector<int> bad(wakers);

  on_threads(wakers + 1, [&](unsigned me) {
    for (int i = 0; i != rounds; ++i) {
      if (me == wakers) {
        done.store(0, std::memory_order_relaxed);
        state.move(detail::sharing_state::yielding);
        can_be_found.store(i, std::memory_order_release);
        if (i % 3 == 0) std::this_thread::yield();
        written = i;
        state.move(detail::sharing_state::sleeping);
        while (done.load(std::memory_order_acquire) != wakers) std::this_thread::yield();
        int sum = 0;
        for (int const w : winners) sum += w;
        wrong += sum != 1 || state.now() != detail::sharing_state::queued;
        state.move(detail::sharing_state::running);
      } else {
        while (can_be_found.load(std::memory_order_acquire) != i) std::this_thread::yield();
        bool const won = state.wake(detail::sharing_state::queued);
        if (won) bad[me] += written != i;
        winners[me] = won;
        done.fetch_add(1, std::memory_order_release);
      }
    }
  });
  for (int const b : bad) wrong += b;
  return wrong;
}

}  // namespace weft::tests
