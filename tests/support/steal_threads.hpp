// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "deque/chase_lev.hpp"
#include "deque/steal_queue.hpp"
#include "sched/detail/relax.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/queue_threads.hpp"

/// An owner and thieves at work on deque/chase_lev.hpp and deque/steal_queue.hpp.  Each of these
/// says how much went wrong.
namespace weft::tests {

/// What is pushed is a pointer to one.  `number` is written before that, and is no atomic, so that
/// ThreadSanitizer sees who reads it too early.  Counting who takes it puts nothing in an order.
struct parcel {
  int number = -1;
  std::atomic<int> takes = 0;

  [[nodiscard]] int take() noexcept {
    takes.fetch_add(1, std::memory_order_relaxed);
    return number;
  }
};

/// They are taken once each.
class parcels {
 public:
  explicit parcels(int n) : all_(static_cast<std::size_t>(n)) {}
  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }
  /// The next one, written.
  [[nodiscard]] parcel* next() {
    parcel& p = all_[static_cast<std::size_t>(next_)];
    p.number = next_++;
    return &p;
  }
  [[nodiscard]] bool are_left() const { return next_ != size(); }
  [[nodiscard]] int wrong() const {
    return static_cast<int>(std::ranges::count_if(all_, [](auto& p) { return p.takes != 1; }));
  }

 private:
  std::vector<parcel> all_;
  int next_ = 0;
};

/// The owner pushes so many, a few at a time, and pops a few, or all; thieves steal one, or half,
/// which they put into deques of their own and pop from there, or lose to other thieves.
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
    if (me == thieves) {
      while (all.are_left()) {
        for (unsigned i = 1 + random(20); i != 0 && all.are_left(); --i) d.push(all.next());
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

/// The owner pushes so many, a few at a time, and takes a few; thieves take some, or half.  Each
/// has what it takes in order.
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

/// Words that all threads write to.  What a thread stores after writing to them all the others see
/// late, while it may have loaded by then what comes later still: unless it was told not to.
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

/// Two are there, or one, again and again, and the owner and the thieves all want them.  Says how
/// often one was not taken once.
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

/// Of either.
template <class T, class Orders>
bool steal_one(basic_chase_lev<T, Orders>& d) {
  return bool(typename basic_chase_lev<T, Orders>::thief(d).steal());
}
template <class T, class Orders>
bool steal_one(basic_steal_queue<T, Orders>& q) {
  T one;
  return bool(typename basic_steal_queue<T, Orders>::thief(q).take(std::span(&one, 1)));
}

/// One is full; a thief makes room, and the owner finds it: it has all that the thief did before.
/// Says how often it had not.
template <class Ends>
int late_rooms_on_threads(int rounds) {
  int late = 0;
  for (int i = 0; i != rounds; ++i) {
    Ends ends(2);
    int done = 0;
    std::atomic<bool> is_room = false;  // says when, and puts nothing in an order
    on_threads(2, [&](unsigned me) {
      if (me == 0) {
        ends.push(0);
        ends.push(0);
        for (detail::relax wait; !is_room.load(std::memory_order_relaxed);) wait();
        ends.push(0);
        late += done != 1;
      } else {
        done = 1;
        for (detail::relax wait; !steal_one(ends);) wait();
        is_room.store(true, std::memory_order_relaxed);
      }
    });
  }
  return late;
}

/// A thief that has looked at bottom comes upon an array that is newer than that.  Orders that
/// wait for it there.
template <class Orders>
struct orders_before_growth : Orders {
  enum { nobody, is_about_to_look, has_grown };
  // Says when, and puts nothing in an order.
  static inline std::atomic<int> when = nobody;
  static void until(int w) noexcept {
    for (detail::relax wait; when.load(std::memory_order_relaxed) != w;) wait();
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
/// Says how often the thief did not get what had been there before.
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

/// One pushes, publishes, and looks whether the other sleeps; that one says that it sleeps, and
/// looks for something to do.  Says how often neither saw the other.
template <class Ends>
int missed_wakeups_on_threads(int rounds) {
  Ends ends(1);
  far_words far;
  std::atomic<int> arrived = 0;
  std::atomic<bool> sleeps = false;
  bool is_asleep = false;  // as one sees it
  bool is_work = false;    // and the other
  int missed = 0;
  on_threads(2, [&](unsigned me) {
    int meetings = 0;
    auto const meet = [&] {
      arrived.fetch_add(1);
      for (detail::relax wait; arrived.load() < 2 * (meetings + 1);) wait();
      ++meetings;
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
        is_work = !thief.is_empty();
        far.write();
        meet();
      }
    }
  });
  return missed;
}

}  // namespace weft::tests
