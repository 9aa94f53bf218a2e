// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/16_stealing_and_the_steal_that_was_unsound.md.  Complete each function; its
// test says what it must do.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/stealing.hpp"

namespace stealing_and_the_steal_that_was_unsound {

using namespace weft;

// Exercise 1 (*): the owner of a chase_lev pushes 0 to 7, and pops; a thief steals half; the owner
// pushes 8 and pops twice; a second thief steals one item.  Which items does each of them get?
struct gets {
  std::vector<int> owner;
  std::vector<int> first_thief;
  int second_thief;
};
inline gets what_they_get() { return {{}, {}, -1}; }

// Exercise 2 (*): the steps that the workers count together, if a process starts so many others,
// each of which yields so many times.
inline std::uint64_t steps_counted(std::uint64_t processes, std::uint64_t yields) {
  return processes * yields;
}

// Exercise 3 (**): adds up the numbers, each in a process that is submitted from outside.
struct sum_of_work {
  long sum = 0;
  std::size_t left = 0;
  std::promise<void> all{};
};
inline eff<void, proc> adds(sum_of_work& work, long n) {
  work.sum += n;
  co_return;
}
inline long sum_from_outside(std::vector<long> const& numbers) {
  if (numbers.empty()) return 0;
  sum_of_work work{.left = numbers.size()};
  scheduler<stealing> s(stealing_options{.threads = 1});
  s.start([]() -> eff<void, proc> { co_return; });
  s.run();
  return work.sum;
}

// Exercise 4 (**): steals half of the items.  Use `read_top`, `read_bottom` and `swap_top` only:
// another thread may come in between any two of them.
struct deque {
  explicit deque(int n) : bottom(n), taken(static_cast<std::size_t>(n)) {}
  int top = 0;
  int bottom;
  std::vector<int> taken;  // how often each item was taken

  void take(int item) { ++taken.at(static_cast<std::size_t>(item)); }
};
inline eff<int, proc> read_top(deque const& d) {
  co_await proc::yield{};
  co_return d.top;
}
inline eff<int, proc> read_bottom(deque const& d) {
  co_await proc::yield{};
  co_return d.bottom;
}
inline eff<bool, proc> swap_top(deque& d, int from, int to) {
  co_await proc::yield{};
  if (d.top != from) co_return false;
  d.top = to;
  co_return true;
}
inline eff<void, proc> steals_half(deque& d) {
  int t = co_await read_top(d);
  int const b = co_await read_bottom(d);
  if (b <= t) co_return;
  for (int left = std::max(1, (b - t) / 2); left != 0; --left, ++t) {
    bool const is_mine = co_await swap_top(d, t, t + 1);
    if (!is_mine) co_return;
    d.take(t);
  }
}

// Exercise 5 (**): `steals_half_at_once` is the thief of appendix A, with a look at bottom before the
// swap.  What is the smallest number of items with which a schedule goes wrong?
inline eff<void, proc> steals_half_at_once(deque& d) {
  int const t = co_await read_top(d);
  int const b = co_await read_bottom(d);
  if (b <= t) co_return;
  int const n = std::max(1, (b - t) / 2);
  int const again = co_await read_bottom(d);
  if (again < t + n) co_return;
  bool const are_mine = co_await swap_top(d, t, t + n);
  if (!are_mine) co_return;
  for (int i = t; i != t + n; ++i) d.take(i);
}
inline int fewest_items_that_show_it() { return 0; }

// Exercise 6 (***): a process goes to sleep, and is woken at any moment of that.  `swap` is a
// compare-and-swap of its word; it answers with the value that it found.  The thread that swaps
// `ready` into the word calls `put`.
enum class life { running, running_and_woken, asleep, ready };

struct sleeper {
  life word = life::running;
  bool is_held = true;  // by its own thread
  int queued = 0;
};
enum class swapper { its_thread, a_waker };

inline eff<life, proc> swap(sleeper& s, swapper by, life from, life to) {
  co_await proc::yield{};
  life const found = s.word;
  if (found != from) co_return found;
  if (by == swapper::a_waker && to != life::running_and_woken && s.is_held)
    throw std::logic_error("a waker takes a process that its thread still has");
  s.word = to;
  if (by == swapper::its_thread) s.is_held = false;
  co_return found;
}
inline void put(sleeper& s) {
  if (s.word != life::ready) throw std::logic_error("a process is put that is not ready");
  ++s.queued;
}
inline eff<void, proc> lets_go(sleeper& s) {
  auto const by = swapper::its_thread;
  co_await swap(s, by, life::running, life::asleep);
}
inline eff<void, proc> wakes(sleeper& s) {
  auto const by = swapper::a_waker;
  life const found = co_await swap(s, by, life::asleep, life::ready);
  if (found == life::asleep) put(s);
}

}  // namespace stealing_and_the_steal_that_was_unsound
