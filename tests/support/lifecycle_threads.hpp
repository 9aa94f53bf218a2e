// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/support/queue_threads.hpp"
#include "weft/sched/backends/detail/stealing_state.hpp"
#include "weft/sched/base/detail/relax.hpp"

namespace weft::tests {

/// One thread waits, again and again, and another wakes it as soon as it can be found, at any
/// moment of the wait.  Exactly one of the two must put it, and then sees what the other wrote: no
/// atomics, and nothing else orders the two.  Returns the number of failures.
template <class Orders = detail::stealing_state_orders>
int wrong_flags_on_threads(int rounds, int& flagged) {
  struct round {
    std::atomic<bool> can_be_found = false;  // accessed relaxed: orders nothing
    std::atomic<int> puts = 0;               // accessed relaxed: orders nothing
    int of_sleeper = -1;                     // written when it can already be found
    int of_waker = -1;                       // written before the wake-up
  };
  std::vector<round> all(static_cast<std::size_t>(rounds));
  std::vector<detail::basic_stealing_state<Orders>> words(all.size());
  std::vector<int> bad(2);
  int early = 0;  // wake-ups that came before the wait
  on_threads(2, [&](unsigned me) {
    for (std::size_t i = 0; i != all.size(); ++i) {
      round& r = all[i];
      auto& word = words[i];
      int const number = static_cast<int>(i);
      if (me == 0) {
        word.move(stealing_state::running);
        r.can_be_found.store(true, std::memory_order_relaxed);
        for (std::size_t n = i % 5; n != 0; --n) detail::pause_for(10);
        r.of_sleeper = number;
        if (!word.wait(i % 2 == 0 ? stealing_state::blocked : stealing_state::idle)) {
          ++early;
          bad[me] += word.now() != stealing_state::ready || r.of_waker != number;
          r.puts.fetch_add(1, std::memory_order_relaxed);
        }
        for (detail::relax wait; r.puts.load(std::memory_order_relaxed) == 0;) wait();
      } else {
        r.of_waker = number;
        for (detail::relax wait; !r.can_be_found.load(std::memory_order_relaxed);) wait();
        for (std::size_t n = i % 7; n != 0; --n) detail::pause_for(10);
        if (word.wake()) {
          bad[me] += word.now() != stealing_state::ready || r.of_sleeper != number;
          r.puts.fetch_add(1, std::memory_order_relaxed);
        }
        for (detail::relax wait; r.puts.load(std::memory_order_relaxed) == 0;) wait();
      }
    }
  });
  flagged += early;
  int sum = bad[0] + bad[1];
  for (auto const& r : all) sum += r.puts != 1;
  return sum;
}

/// The same, but the waker continues with the process at once.
template <class Orders = detail::stealing_state_orders>
int wrong_take_overs_on_threads(int rounds) {
  struct round {
    std::atomic<bool> can_be_found = false;  // as above
    int of_sleeper = -1;
  };
  std::vector<round> all(static_cast<std::size_t>(rounds));
  std::vector<detail::basic_stealing_state<Orders>> words(all.size());
  int wrong = 0;
  on_threads(2, [&](unsigned me) {
    for (std::size_t i = 0; i != all.size(); ++i) {
      round& r = all[i];
      auto& word = words[i];
      if (me == 0) {
        word.move(stealing_state::running);
        r.can_be_found.store(true, std::memory_order_relaxed);
        for (std::size_t n = i % 5; n != 0; --n) detail::pause_for(10);
        r.of_sleeper = static_cast<int>(i);
        (void)word.wait(stealing_state::idle);
      } else {
        for (detail::relax wait; !r.can_be_found.load(std::memory_order_relaxed);) wait();
        word.take_over(detail::relax());
        wrong += word.now() != stealing_state::running || r.of_sleeper != static_cast<int>(i);
      }
    }
  });
  return wrong;
}

}  // namespace weft::tests
