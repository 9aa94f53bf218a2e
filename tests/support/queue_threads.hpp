// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "weft/sched/backends/detail/thread_queue.hpp"

/// Threads that use queues of sched/backends/detail/thread_queue.hpp.  Each function returns the number of
/// failures.
namespace weft::tests {

/// An entry with data that only its holder may access: no atomics, so that ThreadSanitizer sees an
/// access that is too early.
struct held_entry : detail::queue_entry {
  bool is_held = false;    // by a thread
  unsigned changes = 0;    // so far
  std::size_t number = 0;  // its place in an order
};

/// Starts threads together, and waits for all.
template <class F>
void on_threads(unsigned threads, F f) {
  std::atomic<unsigned> ready = 0;
  std::vector<std::thread> running;
  for (unsigned me = 0; me != threads; ++me)
    running.emplace_back([&ready, threads, me, &f] {
      ++ready;
      while (ready != threads) std::this_thread::yield();
      f(me);
    });
  for (auto& t : running) t.join();
}

/// Each thread puts, takes, claims, exchanges and shares at random, in its own queue and those of
/// the others, with twenty times as many entries as threads: each entry is held by one thread at a
/// time.
template <class Orders = detail::queue_orders>
int wrong_queues_on_threads(unsigned seed, unsigned threads, int steps) {
  using queue = detail::basic_thread_queue<Orders>;
  unsigned const entries = 20 * threads;
  auto const queues = std::make_unique<queue[]>(threads);
  std::vector<held_entry> all(entries);
  std::vector<int> wrong(threads);
  std::vector<unsigned> taken(threads);

  on_threads(threads, [&](unsigned me) {
    dice random(seed * 8 + me);
    std::vector<held_entry*> mine;
    int bad = 0;
    unsigned changes = 0;
    auto const take = [&](detail::queue_entry& e) {
      auto& x = static_cast<held_entry&>(e);
      bad += std::exchange(x.is_held, true);
      bad += x.state.now() != detail::sharing_state::running;
      ++x.changes;
      ++changes;
      mine.push_back(&x);
    };
    auto const ready = [&]() -> held_entry& {
      unsigned const i = random(static_cast<unsigned>(mine.size()));
      std::swap(mine[i], mine.back());
      bad += !std::exchange(mine.back()->is_held, false);
      mine.back()->state.move(detail::sharing_state::queued);
      return *mine.back();
    };
    auto const not_ready = [&] {
      mine.back()->state.move(detail::sharing_state::running);
      mine.back()->is_held = true;
    };
    for (unsigned i = me; i < entries; i += threads) take(all[i]);
    for (int step = 0; step != steps; ++step) {
      auto& q = queues[random(threads)];
      switch (random(6)) {
        case 0:
        case 1:
          if (mine.empty()) break;
          if (q.try_enqueue(ready()) == queue::entered::locked)
            not_ready();
          else
            mine.pop_back();
          break;
        case 2: {
          auto const found = q.try_dequeue();
          if (!found.is_locked() && !found.is_empty()) take(found.entry());
          break;
        }
        case 3:
          if (auto& x = all[random(entries)]; q.try_dequeue_entry(x) == queue::removal::removed)
            take(x);
          break;
        case 4:
          if (mine.empty()) break;
          if (auto const found = q.try_exchange(ready()); found.is_locked()) {
            not_ready();
          } else {
            mine.pop_back();
            take(found.entry());
          }
          break;
        case 5: {
          detail::entry_chain chain;
          if (!q.try_share(1 + random(5), chain) || chain.length == 0) break;
          if (random(2) == 0) {
            auto& first = chain.pop();
            first.state.move(detail::sharing_state::running);
            take(first);
          }
          if (chain.length == 0) break;
          while (!queues[me].try_prepend(chain)) std::this_thread::yield();
          break;
        }
      }
    }
    while (!mine.empty()) {
      auto& x = ready();
      while (queues[me].try_enqueue(x) == queue::entered::locked) std::this_thread::yield();
      mine.pop_back();
    }
    wrong[me] = bad;
    taken[me] = changes;
  });

  int sum = 0;
  unsigned changes = 0;
  for (unsigned i = 0; i != threads; ++i) {
    sum += wrong[i];
    changes += taken[i];
    unsigned const length = queues[i].length();
    unsigned found = 0;
    for (auto f = queues[i].try_dequeue(); !f.is_empty(); f = queues[i].try_dequeue(), ++found)
      sum += std::exchange(static_cast<held_entry&>(f.entry()).is_held, true);
    sum += length != found || queues[i].length() != 0;
  }
  for (auto const& x : all) {
    sum += !x.is_held;  // otherwise it is lost
    changes -= x.changes;
  }
  return sum + (changes != 0);
}

/// One thread puts numbers in order; the others take them from there, claim them, or move them in
/// chains to the front of their own queues: each thread takes its numbers in order.
inline int wrong_orders_on_threads(unsigned seed, unsigned takers, std::size_t entries) {
  detail::thread_queue q;
  auto const own = std::make_unique<detail::thread_queue[]>(takers);
  std::vector<held_entry> all(entries);
  std::vector<int> wrong(takers);
  std::atomic<std::size_t> left = entries;
  for (std::size_t i = 0; i != entries; ++i) all[i].number = i + 1;

  on_threads(takers + 1, [&](unsigned me) {
    dice random(seed * 8 + me);
    if (me == takers) {
      for (auto& e : all) {
        e.state.move(detail::sharing_state::queued);
        while (q.try_enqueue(e) == detail::thread_queue::entered::locked) std::this_thread::yield();
      }
      return;
    }
    int bad = 0;
    std::size_t last = 0;
    auto const take = [&](detail::queue_entry& e) {
      auto& x = static_cast<held_entry&>(e);
      bad += std::exchange(x.is_held, true);
      bad += x.number <= std::exchange(last, x.number);
      --left;
    };
    while (left != 0) {
      if (auto const found = own[me].try_dequeue(); !found.is_empty()) {
        take(found.entry());
      } else if (random(2) == 0) {
        auto const first = q.try_dequeue();
        if (first.is_locked() || first.is_empty())
          std::this_thread::yield();
        else
          take(first.entry());
      } else {
        detail::entry_chain chain;
        if (!q.try_share(1 + random(7), chain) || chain.length == 0)
          std::this_thread::yield();
        else
          bad += !own[me].try_prepend(chain);
      }
    }
    wrong[me] = bad;
  });
  int sum = q.length() != 0 || !q.is_empty();
  for (int const w : wrong) sum += w;
  for (auto const& e : all) sum += !e.is_held;
  return sum;
}

/// One entry, between two others: one thread claims it, one takes from the front, one shares, all
/// at once, again and again.  Returns how often not exactly one got it.
inline int wrong_winners_on_threads(int rounds) {
  detail::thread_queue q;
  detail::thread_queue other;
  std::vector<held_entry> e(3);
  held_entry& wanted = e[1];
  std::atomic<int> round = -1;
  std::atomic<int> done = 0;
  std::atomic<int> winners = 0;
  int wrong = 0;

  auto const was_left_in = [&wanted](detail::thread_queue& from) {
    bool was = false;
    for (auto f = from.try_dequeue(); !f.is_empty(); f = from.try_dequeue())
      was |= &f.entry() == &wanted;
    return was;
  };
  on_threads(4, [&](unsigned me) {
    for (int i = 0; i != rounds; ++i) {
      if (me == 0) {
        winners = 0;
        done = 0;
        for (auto& x : e) {
          x.state.move(detail::sharing_state::queued);
          x.is_held = false;
          (void)q.try_enqueue(x);
        }
        round = i;
        while (done != 3) std::this_thread::yield();
        int const left = was_left_in(q);  // all three found the queue locked
        wrong += winners + left != 1 || wanted.is_held == left;
        (void)was_left_in(other);
        continue;
      }
      while (round != i) std::this_thread::yield();
      auto const won = [&](bool it) {
        if (!it) return;
        ++winners;
        wanted.is_held = true;
      };
      if (me == 1) {
        won(q.try_dequeue_entry(wanted) == detail::thread_queue::removal::removed);
      } else if (me == 2) {
        for (int n = 0; n != 2; ++n) {
          auto const f = q.try_dequeue();
          won(!f.is_locked() && !f.is_empty() && &f.entry() == &wanted);
        }
      } else {
        detail::entry_chain chain;
        if (q.try_share(2, chain) && chain.length != 0) {
          for (auto* x = chain.first; x; x = x->next) won(x == &wanted);
          (void)other.try_prepend(chain);
        }
      }
      ++done;
    }
  });
  return wrong;
}

}  // namespace weft::tests
