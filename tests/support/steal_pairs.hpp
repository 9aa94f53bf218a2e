// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <span>

#include "tests/support/queue_threads.hpp"
#include "tests/support/steal_threads.hpp"
#include "weft/deque/chase_lev.hpp"
#include "weft/deque/steal_queue.hpp"

/// Two threads at a chase_lev or a steal_queue, in one situation, again and again.  Each function
/// returns the number of failures.
namespace weft::tests {

template <class T, class Orders>
bool steal_one(basic_chase_lev<T, Orders>& d) {
  return bool(typename basic_chase_lev<T, Orders>::thief(d).steal());
}
template <class T, class Orders>
bool steal_one(basic_steal_queue<T, Orders>& q) {
  T one;
  return bool(typename basic_steal_queue<T, Orders>::thief(q).take(std::span(&one, 1)));
}

/// The deque is full; a thief makes room, and the owner finds it: the owner sees all earlier writes
/// of the thief.  Returns how often it did not.
template <class Ends>
int late_rooms_on_threads(int rounds) {
  int late = 0;
  for (int i = 0; i != rounds; ++i) {
    Ends ends(2);
    int done = 0;
    std::atomic<bool> is_room = false;  // accessed relaxed: orders nothing
    on_threads(2, [&](unsigned me) {
      if (me == 0) {
        ends.push(0);
        ends.push(0);
        spin_until([&] { return is_room.load(std::memory_order_relaxed); });
        ends.push(0);
        late += done != 1;
      } else {
        done = 1;
        spin_until([&] { return steal_one(ends); });
        is_room.store(true, std::memory_order_relaxed);
      }
    });
  }
  return late;
}

/// A thief that has read bottom comes upon an array that is newer than that: these orders make it
/// wait there.
template <class Orders>
struct orders_before_growth : Orders {
  enum { nobody, is_about_to_look, has_grown };
  // Accessed relaxed: orders nothing.
  static inline std::atomic<int> when = nobody;
  static void until(int w) noexcept {
    spin_until([w] { return when.load(std::memory_order_relaxed) == w; });
  }
  struct waiting {
    operator std::memory_order() const noexcept {
      when.store(is_about_to_look, std::memory_order_relaxed);
      until(has_grown);
      return Orders::sees_array;
    }
  };
  static constexpr waiting sees_array{};
};
/// Returns how often the thief did not get an item that was in the old array.
template <class Ends, class Orders>
int late_arrays_on_threads(int rounds) {
  int late = 0;
  for (int i = 0; i != rounds; ++i) {
    Ends ends(2);
    Orders::when = Orders::nobody;
    ends.push(0);
    ends.push(1);
    on_threads(2, [&](unsigned me) {
      if (me == 0) {
        Orders::until(Orders::is_about_to_look);
        ends.push(2);
        Orders::when.store(Orders::has_grown, std::memory_order_relaxed);
      } else {
        late += !steal_one(ends);
      }
    });
  }
  return late;
}

/// The owner pushes, publishes, and looks whether the thief sleeps; the thief says that it sleeps,
/// and looks for work.  Returns how often neither saw the other.
template <class Ends>
int missed_wakeups_on_threads(int rounds) {
  Ends ends(1);
  far_words far;
  std::atomic<int> arrived = 0;
  std::atomic<bool> sleeps = false;
  bool is_asleep = false;  // as the owner sees it
  bool is_work = false;    // as the thief sees it
  int missed = 0;
  on_threads(2, [&](unsigned me) {
    int meetings = 0;
    auto const meet = [&] {
      arrived.fetch_add(1);
      ++meetings;
      spin_until([&] { return arrived.load() >= 2 * meetings; });
    };
    for (int i = 0; i != rounds; ++i) {
      if (me == 0) {
        meet();
        far.write();
        ends.push(i);
        ends.publish();
        is_asleep = sleeps.load(std::memory_order_seq_cst);
        meet();
        missed += !is_asleep && !is_work;
        (void)steal_one(ends);
        sleeps.store(false, std::memory_order_relaxed);
      } else {
        typename Ends::thief const thief(ends);
        meet();
        sleeps.store(true, std::memory_order_seq_cst);
        if constexpr (requires { ends.before_last_look(); }) ends.before_last_look();
        is_work = !thief.is_empty();
        far.write();
        meet();
      }
    }
  });
  return missed;
}

}  // namespace weft::tests
