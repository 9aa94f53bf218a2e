// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/15_a_word_for_a_lock.md.

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

namespace a_word_for_a_lock {

using namespace weft;

// Exercise 1 (*): the sum of the squares of 1 to n, computed by a process for each number.
inline eff<void> square(long n, long& to) {
  to = n * n;
  co_return;
}
inline eff<void, spawning<>> squares(std::vector<long>& all) {
  for (std::size_t i = 0; i != all.size(); ++i)
    co_await spawn(square, static_cast<long>(i) + 1, std::ref(all[i]));
}
inline long sum_of_squares(std::size_t n, unsigned threads) {
  std::vector<long> all(n);
  schedule<sharing>({.threads = threads}, [&all] { return squares(all); });
  return std::accumulate(all.begin(), all.end(), 0L);
}

// Exercise 2 (**): counts how often each letter, a to z, is reported, by processes on any thread.
struct report {
  struct [[nodiscard]] letter : op<void> {
    explicit letter(char c) : it(c) {}
    char it;
  };
  using operations = op_list<letter>;
};
class counts_letters : public handler<report> {
 public:
  static constexpr bool thread_safe = true;

  void on(report::letter l) { ++at(l.it); }
  [[nodiscard]] int count(char letter) const {
    return counts_.at(static_cast<std::size_t>(letter - 'a'));
  }

 private:
  std::atomic<int>& at(char letter) { return counts_.at(static_cast<std::size_t>(letter - 'a')); }
  std::array<std::atomic<int>, 26> counts_{};
};

// Exercise 3 (**): one thread goes to sleep, another one puts a process into a queue, and a third
// one stops all.  Use `look`, `set`, `wake` and `sleep_until_woken` only: another thread may come in
// between any two of them.
struct parking {
  bool published = false;  // a process is in a queue
  bool stopped = false;    // the run is to stop
  bool announced = false;  // a thread sleeps, or is about to
  bool woken = false;
  bool slept = false;
  gate wake_up;
};
using steps = eff<void, proc, syncing>;

inline eff<bool, proc> look(bool const& flag) {
  co_await proc::yield{};
  co_return flag;
}
inline eff<void, proc> set(bool& flag) {
  co_await proc::yield{};
  flag = true;
}
inline steps wake(parking& p) {
  co_await proc::yield{};
  p.woken = true;
  co_await syncing::wake{p.wake_up};
}
inline steps sleep_until_woken(parking& p) {
  co_await proc::yield{};
  p.slept = true;
  while (!p.woken) co_await syncing::wait{p.wake_up};
}

inline steps puts_work(parking& p) {
  co_await set(p.published);
  bool const sleeps = co_await look(p.announced);
  if (sleeps) co_await wake(p);
}
inline steps stops(parking& p) {
  co_await set(p.stopped);
  bool const sleeps = co_await look(p.announced);
  if (sleeps) co_await wake(p);
}
inline steps goes_to_sleep(parking& p) {
  co_await set(p.announced);
  bool const has_work = co_await look(p.published);
  bool const is_over = co_await look(p.stopped);
  if (!has_work && !is_over) co_await sleep_until_woken(p);
}

// Exercise 4 (**): wait() returns when count_down() was called n times, on any thread.
class latch {
 public:
  explicit latch(int n) : left_(n) {}

  eff<void, syncing> count_down() {
    if (left_.fetch_sub(1) == 1) co_await syncing::wake{open_};
  }
  eff<void, syncing> wait() {
    return open_.wait_while([this] { return left_.load() > 0; });
  }

 private:
  std::atomic<int> left_;
  gate open_;
};

// Exercise 5 (***): a stack whose head is its lock: null, the top node, or the sentinel.
struct node {
  int value = 0;
  node* below = nullptr;
};
class locking_stack {
 public:
  enum class pushed { locked, was_empty, had_some };
  enum class missed { nothing, locked, empty };
  struct popped {
    missed why;
    node* top;  // null if something was missed
  };

  [[nodiscard]] static node* sentinel() {
    static node sentinel;
    return &sentinel;
  }
  /// Claims the stack and returns its top, or null.  Returns the sentinel if it is claimed.
  [[nodiscard]] node* claim() {
    node* top = head_.load(std::memory_order_relaxed);
    do
      if (top == sentinel()) return top;
    while (!head_.compare_exchange_weak(top, sentinel(), std::memory_order_acquire,
                                        std::memory_order_relaxed));
    return top;
  }
  void give_back(node* top) { head_.store(top, std::memory_order_release); }

  [[nodiscard]] pushed try_push(node& n) {
    node* const top = claim();
    if (top == sentinel()) return pushed::locked;
    n.below = top;
    give_back(&n);
    return top ? pushed::had_some : pushed::was_empty;
  }
  [[nodiscard]] popped try_pop() {
    node* const top = claim();
    if (top == sentinel()) return {missed::locked, nullptr};
    give_back(top ? top->below : nullptr);
    if (!top) return {missed::empty, nullptr};
    return {missed::nothing, top};
  }

 private:
  std::atomic<node*> head_ = nullptr;
};

// Exercise 6 (***): the list of idle threads of appendix A.  Use `read`, `write` and `swap` for the
// words of the list: another thread may come in between any two of them.
struct idler {
  idler* below = nullptr;
  bool notified = false;
  gate woken;
};
struct idle_list {
  idler* top = nullptr;
  mutex lock;
};

inline eff<idler*, proc> read(idler*& word) {
  co_await proc::yield{};
  co_return word;
}
inline eff<void, proc> write(idler*& word, idler* value) {
  co_await proc::yield{};
  word = value;
}
/// A compare-and-swap: false if the word is not `from`.
inline eff<bool, proc> swap(idler*& word, idler* from, idler* to) {
  co_await proc::yield{};
  if (word != from) co_return false;
  word = to;
  co_return true;
}

/// Puts `t` on the list, unless it is there.
inline steps push(idle_list& list, idler& t) {
  auto const held = co_await list.lock.lock();
  idler* const top = co_await read(list.top);
  for (idler* i = top; i;) {
    if (i == &t) co_return;
    i = co_await read(i->below);
  }
  co_await write(t.below, top);
  co_await write(list.top, &t);
}
/// Takes a thread off the list.  Null if the list is empty.
inline eff<idler*, proc, syncing> pop(idle_list& list) {
  auto const held = co_await list.lock.lock();
  idler* const top = co_await read(list.top);
  if (top) {
    idler* const below = co_await read(top->below);
    co_await write(list.top, below);
  }
  co_return top;
}

}  // namespace a_word_for_a_lock
