// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/queue_threads.hpp"
#include "weft/deque/chase_lev.hpp"
#include "weft/deque/steal_queue.hpp"

/// An owner and thieves that use deque/chase_lev.hpp and deque/steal_queue.hpp.  Each function
/// returns the number of failures.
namespace weft::tests {

/// Spins until another thread makes `c` true; yields the processor from time to time.
template <class Condition>
void spin_until(Condition c) {
  for (int i = 1; !c(); ++i)
    if (i % 256 == 0) std::this_thread::yield();
}

/// An element: deques hold pointers to it.  `number` is written before the push, and is no atomic,
/// so that ThreadSanitizer sees a read that is too early.  The count of takes orders nothing.
struct parcel {
  int number = -1;
  std::atomic<int> takes = 0;

  [[nodiscard]] int take() noexcept {
    takes.fetch_add(1, std::memory_order_relaxed);
    return number;
  }
};

/// Parcels of which each is taken once.
class parcels {
 public:
  explicit parcels(int n) : all_(static_cast<std::size_t>(n)) {}
  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }
  /// The next parcel, with its number.
  [[nodiscard]] parcel* next() {
    parcel& p = all_[static_cast<std::size_t>(next_)];
    p.number = next_++;
    return &p;
  }
  [[nodiscard]] bool are_left() const { return next_ != size(); }
  [[nodiscard]] unsigned left() const { return static_cast<unsigned>(size() - next_); }
  [[nodiscard]] int wrong() const {
    return static_cast<int>(std::ranges::count_if(all_, [](auto& p) { return p.takes != 1; }));
  }

 private:
  std::vector<parcel> all_;
  int next_ = 0;
};

/// The owner pushes items, a few at a time, and pops a few, or all; thieves steal one, or half,
/// push them into deques of their own and pop from there, or lose them to other thieves.
template <class Orders = chase_lev_orders>
int wrong_steals_on_threads(unsigned seed, unsigned thieves, int items) {
  using deque_t = basic_chase_lev<parcel*, Orders>;
  using thief_t = typename deque_t::thief;
  parcels all(items);
  deque_t d(1);
  std::vector<deque_t> own(thieves);
  std::vector<int> wrong(thieves + 1);
  std::atomic<bool> is_over = false;

  on_threads(thieves + 1, [&](unsigned me) {
    dice random(seed * 8 + me);
    int& bad = wrong[me];
    auto const take = [&](parcel* p) { bad += p->take() < 0; };
    auto const pop = [&](deque_t& from, unsigned most) {
      for (unsigned i = 0; i != most; ++i) {
        auto const t = from.try_pop();
        bad += t.is_lost();
        if (!t) return false;
        take(*t);
      }
      return true;
    };
    auto const push_together = [&](std::size_t n) {
      return d.try_push_all(n, [&all] { return all.next(); });
    };
    if (me == thieves) {
      while (all.are_left()) {
        unsigned const n = std::min(1 + random(20), all.left());
        if (random(2) == 0) {
          for (unsigned i = 0; i != n; ++i) d.push(all.next());
        } else if (!push_together(n)) {
          d.reserve(n);
          bad += !push_together(n);
        }
        if (random(8) == 0) std::this_thread::yield();
        pop(d, random(4) == 0 ? ~0U : random(20));
      }
      pop(d, ~0U);
      is_over.store(true, std::memory_order_relaxed);
      return;
    }
    while (!is_over.load(std::memory_order_relaxed)) {
      // From the owner, and sometimes from another thief.
      deque_t& victim = random(4) == 0 ? own[random(thieves)] : d;
      if (random(4) == 0) {
        auto const t = thief_t(victim).steal();
        if (t) take(*t);
        if (t.is_empty()) std::this_thread::yield();
      } else {
        auto const h = thief_t(victim).steal_half(own[me], 1 + random(16));
        if (h.first) take(*h.first);
        bad += !h.first && h.others != 0;
        if (h.first.is_empty()) std::this_thread::yield();
      }
      pop(own[me], random(2) == 0 ? ~0U : random(3));
    }
    pop(own[me], ~0U);
  });
  int sum = all.wrong() + !d.is_empty();
  for (int const w : wrong) sum += w;
  return sum;
}

/// The owner pushes items, a few at a time, and takes a few; thieves take some, or half.  Each
/// takes its items in order.
template <class Orders = steal_queue_orders>
int wrong_batches_on_threads(unsigned seed, unsigned thieves, int items) {
  using queue_t = basic_steal_queue<parcel*, Orders>;
  parcels all(items);
  queue_t q(1);
  std::vector<int> wrong(thieves + 1);
  std::atomic<bool> is_over = false;

  on_threads(thieves + 1, [&](unsigned me) {
    dice random(seed * 8 + me);
    int& bad = wrong[me];
    int last = -1;
    std::array<parcel*, 32> batch;
    auto const some = [&] { return std::span(batch).first(1 + random(32)); };
    auto const take = [&](std::size_t n) {
      for (parcel* const p : std::span(batch).first(n)) {
        int const number = p->take();
        bad += number <= last;
        last = number;
      }
    };
    if (me == thieves) {
      while (all.are_left()) {
        for (unsigned i = 1 + random(20); i != 0 && all.are_left(); --i) q.push(all.next());
        if (random(8) == 0) std::this_thread::yield();
        for (unsigned i = random(4); i != 0; --i) take(q.take(some()));
      }
      while (std::size_t const n = q.take(some())) take(n);
      is_over.store(true, std::memory_order_relaxed);
      return;
    }
    typename queue_t::thief const thief(q);
    while (!is_over.load(std::memory_order_relaxed)) {
      auto const n = random(2) == 0 ? thief.take(some()) : thief.take_half(some());
      bad += n && *n == 0;
      if (n) take(*n);
      if (n.is_empty()) std::this_thread::yield();
    }
  });
  int sum = all.wrong() + !q.is_empty();
  for (int const w : wrong) sum += w;
  return sum;
}

/// Words that all threads write to.  A store that follows these writes becomes visible late, while
/// the same thread may already have done later loads, unless a memory order forbids it.
class far_words {
 public:
  void write() noexcept {
    for (auto& w : all_) w.value.store(1, std::memory_order_relaxed);
  }

 private:
  struct alignas(64) word {
    std::atomic<int> value = 0;
  };
  std::array<word, 32> all_;
};

/// There are two items, or one, again and again, and the owner and the thieves all try to take
/// them.  Returns how often an item was not taken once.
template <class Orders = chase_lev_orders>
int wrong_last_ones_on_threads(unsigned thieves, int rounds) {
  basic_chase_lev<parcel*, Orders> d(4);
  parcels all(2 * rounds);
  far_words far;
  std::atomic<bool> is_over = false;
  int wrong = 0;
  on_threads(thieves + 1, [&](unsigned me) {
    if (me == thieves) {
      while (all.are_left()) {
        d.push(all.next());
        if (all.are_left()) d.push(all.next());
        far.write();
        while (auto const t = d.try_pop()) (void)(*t)->take();
        wrong += !d.is_empty();
      }
      is_over.store(true, std::memory_order_relaxed);
      return;
    }
    typename basic_chase_lev<parcel*, Orders>::thief const thief(d);
    while (!is_over.load(std::memory_order_relaxed))
      for (auto t = thief.steal(); !t.is_empty(); t = thief.steal()) {
        if (t) (void)(*t)->take();
        far.write();
      }
  });
  return wrong + all.wrong();
}

}  // namespace weft::tests
