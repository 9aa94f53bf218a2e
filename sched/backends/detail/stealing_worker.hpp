// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <utility>

#include "sched/backends/stealing.hpp"

namespace weft {

/// A worker of the work-stealing backend: a thread's end of it.
class stealing::worker {
 public:
  worker(stealing& all, unsigned index) noexcept
      : all_(all), own_(all.homes_[index]), index_(index), random_(index + 1), visited_(index) {
    all_.idle_.join();
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker() { all_.idle_.leave(); }

  void put(thunk&& t, put_reason w) noexcept {
    if (w == put_reason::started && all_.options_.keep_list) [[unlikely]]
      all_.list(*t.get());
    bool const may_be_alone = w == put_reason::yielded || w == put_reason::handed_over;
    bool const is_alone = may_be_alone && own_.deque.size() == 0 && own_.yielded.size() == 0;
    if (header* const p = ready(std::move(t), w)) enter(*p, w, is_alone);
  }

  [[nodiscard]] bool has_other_work() const noexcept {
    return own_.deque.size() != 0 || own_.yielded.size() != 0 || !all_.global_.is_empty();
  }
  void defer_lazy_tasks() noexcept { lets_go_first_ = true; }
  template <class Next>
  [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
    if (!own_.lazy.try_push_all(n, next)) [[unlikely]]
      return lazy_push::no_room;
    if (is_alone_) return lazy_push::done;
    own_.lazy.publish();
    return all_.idle_.is_to_wake() ? lazy_push::unannounced : lazy_push::done;
  }
  void reserve_lazy(std::size_t n) { own_.lazy.reserve(n); }
  void announce_lazy() noexcept { all_.idle_.wake_one(); }
  [[nodiscard]] lazy_task* reclaim() noexcept {
    // A single worker has no thief but itself, on its own thread.
    auto const o = is_alone_ ? own_.lazy.try_pop_alone() : own_.lazy.try_pop();
    return o ? *o : nullptr;
  }

  // ---- callbacks of a process that runs here (WAIT-4 of wait_registry.hpp)

  void on_wait_begin(process& p) noexcept {
    if (auto* const l = header_of<header>(p).listed) [[unlikely]]
      l->waits(p);
  }
  void on_waiting(process& p, wait_kind what) noexcept {
    header& at = header_of<header>(p);
    if (!at.life.wait(what == wait_kind::mail ? stealing_state::idle : stealing_state::blocked))
      enter(at, put_reason::woken, false);
  }
  void on_wait_cancelled(process&) noexcept {}
  void on_handover(process& p) noexcept {
    header& at = header_of<header>(p);
    at.life.take_over(detail::relax());
    count_step(at);
  }

  /// Whether so many processes are ready that a process that spawns must let others go first.
  [[nodiscard]] bool is_crowded() noexcept {
    if (++spawned_ < most_ready) return false;
    spawned_ = 0;  // the next most_ready spawns need not wait: so the process makes progress
    return own_.deque.size() + own_.yielded.size() >= most_ready;
  }

  /// False while a worker sleeps, which might have to be woken.
  [[nodiscard]] bool can_exchange() const noexcept {
    return until_oldest_ > 1 && (all_.count_ == 1 || all_.idle_.nobody_sleeps()) &&
           own_.deque.size() == 0;
  }
  [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
    --until_oldest_;
    header* const next = own_.yielded.size() != 0 ? take_yielded() : nullptr;
    if (!next) {
      count_step(header_of<header>(*t.get()));
      return t;
    }
    header& p = *ready(std::move(t), put_reason::yielded);
    enter(p, put_reason::yielded, false);
    return begin_step(*next);
  }

  /// Returns the next process.  Parks while there is none.
  thunk take(instant until, quiescence_test quiescent) {
    for (;;) {
      if (all_.idle_.is_over()) return all_.idle_.why_over();
      if (header* const p = find()) return begin_step(*p);
      if (unsigned const told = looks(); told != looked_) {
        looked_ = told;
        return thunk::reason::deadline;
      }
      auto const nothing_new = [this] { return all_.all_are_empty() && looks() == looked_; };
      using slept = detail::idle_threads::slept;
      slept const how = all_.idle_.sleep(index_, until, quiescent, nothing_new);
      if (how != slept::not_at_all) add(own_.parked, 1);
      if (how == slept::until_woken) add(own_.woken, 1);
      if (how == slept::until_deadline) return thunk::reason::deadline;
    }
  }

 private:
  using thief_of_deque = chase_lev<header*>::thief;
  using thief_of_yielded = steal_queue<header*>::thief;

  static constexpr unsigned steps_to_oldest = 64;
  static constexpr unsigned most_stolen = 256;
  static constexpr unsigned most_taken = 32;
  static constexpr unsigned most_spawned = 128;
  static constexpr unsigned most_ready = 16'384;

  static void add(std::atomic<std::uint64_t>& n, std::uint64_t more) noexcept {
    // Relaxed: only this worker writes it.
    n.store(n.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] unsigned looks() const noexcept {
    return all_.looks_.load(std::memory_order_seq_cst);  // seq_cst: with [1], after announcing
  }
  thunk begin_step(header& p) noexcept {
    p.life.move(stealing_state::running);
    count_step(p);
    return thunk_of(p);
  }
  void count_step(header& p) noexcept {
    // Relaxed: this worker owns the process.
    p.steps.store(p.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    add(own_.run, 1);
  }

  /// `is_alone`: nothing else is ready here, so if the process yields, this worker takes it back
  /// itself.
  void enter(header& p, put_reason w, bool is_alone) noexcept {
    bool const is_late =
        w == put_reason::yielded || all_.options_.order == local_order::fifo ||
        (w == put_reason::started && own_.deque.size() >= most_spawned);  // WORKER-4
    try {
      if (is_late)
        own_.yielded.push(&p);
      else
        own_.deque.push(&p);
    } catch (...) {  // no memory: the global queue needs none
      return all_.enter_global(p);
    }
    if (all_.count_ == 1 || (w == put_reason::yielded && is_alone)) return;  // WORKER-2
    if (is_late)
      own_.yielded.publish();
    else
      own_.deque.publish();
    if (w == put_reason::handed_over && is_alone) return all_.idle_.request_watch();
    all_.idle_.wake_one();
  }

  // ---- the next process

  header* find() noexcept {
    if (std::exchange(lets_go_first_, false)) [[unlikely]]
      if (header* const p = find_other()) return p;
    if (--until_oldest_ == 0)
      if (header* const p = find_oldest()) return p;
    if (auto const p = own_.deque.try_pop()) return *p;
    if (header* const p = steal_lazy()) return p;
    if (header* const p = take_yielded()) return p;
    for (unsigned looks = 0;; ++looks) {
      if (header* const p = take_global(all_.options_.batch)) return p;
      bool was_lost = false;
      if (header* const p = steal(was_lost)) return p;
      if (was_lost) continue;
      if (looks >= all_.options_.looks || all_.idle_.all_others_sleep()) return nullptr;
      if (looks < all_.options_.spins)
        detail::pause_for(8);
      else
        std::this_thread::yield();
    }
  }
  /// BACKEND-8: takes from the global queue, the deque and the yielded processes before the lazy
  /// tasks.
  header* find_other() noexcept {
    if (header* const p = take_global(0)) return p;
    if (auto const p = own_.deque.try_pop()) return *p;
    return take_yielded();
  }
  header* find_oldest() noexcept {
    until_oldest_ = steps_to_oldest;
    header* const p = oldest();
    // Also for a process that was put without being published, and is not taken back now
    // (WORKER-2).
    if (p && (own_.deque.size() != 0 || own_.yielded.size() != 0)) share_more();
    return p;
  }
  /// Returns the longest-waiting process of one place, by turns.  Null if there is none.
  header* oldest() noexcept {
    turn_ = (turn_ + 1) % 5;
    // One only: others would stand behind all that there is in the deque.
    if (turn_ == 0) return take_global(0);
    if (turn_ == 1) return take_yielded();
    if (turn_ == 2) {
      auto const p = thief_of_deque(own_.deque).steal();
      return p ? *p : nullptr;
    }
    bool was_lost = false;
    return turn_ == 3 ? steal_lazy(own_, was_lost) : visit(was_lost);
  }
  header* steal_lazy() noexcept {
    for (;;) {
      lazy_task* const o = reclaim();
      if (!o) return nullptr;
      if (header* const p = begun(*o)) return p;
    }
  }
  /// Promotes a lazy task as if its process had just been put, and found.  Null if that fails.
  header* begun(lazy_task& o) noexcept {
    thunk t = o.promote();
    if (!t) return nullptr;
    if (all_.options_.keep_list) [[unlikely]]
      all_.list(*t.get());
    return ready(std::move(t), put_reason::started);
  }
  header* take_yielded() noexcept {
    header* p;
    return own_.yielded.take({&p, 1}) != 0 ? p : nullptr;
  }
  /// The others go to the deque, in such an order that they come out as they stood in the queue.
  header* take_global(std::size_t most_others) noexcept {
    std::array<header*, 1 + most_taken> taken;
    std::size_t const most = 1 + std::min<std::size_t>(most_others, most_taken);
    std::size_t n = all_.global_.take({taken.data(), most}, all_.count_);
    if (n == 0) return nullptr;
    if (n == 1) return taken[0];
    while (--n != 0) keep(own_.deque, *taken[n]);
    share_more();
    return taken[0];
  }
  /// Adds a process to the worker's own deque or queue, without publishing it.
  void keep(auto& in, header& p) noexcept {
    try {
      in.push(&p);
    } catch (...) {
      all_.global_.push(p);
    }
  }
  /// Publishes what the worker does not do next, and wakes another one for it.
  void share_more() noexcept {
    own_.deque.publish();
    own_.yielded.publish();
    all_.idle_.wake_one();
  }

  // ---- thefts (stealing_thefts.hpp)

  header* steal(bool& was_lost) noexcept;
  header* visit(bool& was_lost) noexcept;
  header* steal_from(home& from, bool& was_lost) noexcept;
  header* steal_lazy(home& from, bool& was_lost) noexcept;
  chase_lev<header*>::thief::half steal_half(chase_lev<header*>& from) noexcept;
  header* note_stolen(header& first, std::size_t others) noexcept;
  [[nodiscard]] unsigned random_below(unsigned n) noexcept;

  stealing& all_;
  home& own_;
  unsigned const index_;
  bool const is_alone_ = all_.count_ == 1;
  std::uint32_t random_;
  unsigned looked_ = 0;         // the last value of looks_ seen
  unsigned spawned_ = 0;        // spawns since the last check
  bool lets_go_first_ = false;  // BACKEND-8
  unsigned until_oldest_ = steps_to_oldest;
  unsigned turn_ = 0;    // the place of the last oldest()
  unsigned visited_;     // the worker that was visited last
  unsigned visits_ = 0;  // which of its places is visited
};

static_assert(concurrent_backend<stealing> && exchanging_backend<stealing> &&
              configurable_backend<stealing>);

}  // namespace weft

#include "sched/backends/detail/stealing_thefts.hpp"
