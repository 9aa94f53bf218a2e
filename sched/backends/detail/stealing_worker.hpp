// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/sched/backends/detail/stealing_shared.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

/// A worker of the work-stealing backend: the part of the backend that one thread uses.
class stealing_worker {
 public:
  using header = stealing_header;

  stealing_worker(stealing_shared& all, unsigned index) noexcept
      : all_(all), own_(all.homes[index]), index_(index), random_(index + 1), last_victim_(index) {
    all_.idle.join();
  }
  stealing_worker(stealing_worker const&) = delete;
  stealing_worker& operator=(stealing_worker const&) = delete;
  ~stealing_worker() { all_.idle.leave(); }

  void put(thunk&& t, put_reason w) noexcept {
    if (w == put_reason::started) all_.list_if_wanted(*t.get());
    bool const may_be_alone = w == put_reason::yielded || w == put_reason::handed_over;
    bool const is_alone = may_be_alone && own_.deque.size() == 0 && own_.yielded.size() == 0;
    if (header* const p = stealing_shared::ready(std::move(t), w)) enter(*p, w, is_alone);
  }

  [[nodiscard]] bool has_other_work() const noexcept {
    return own_.deque.size() != 0 || own_.yielded.size() != 0 || !all_.global.is_empty();
  }
  void defer_lazy_tasks() noexcept { defers_lazy_ = true; }
  template <class Next>
  [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
    if (!own_.lazy.try_push_all(n, next)) [[unlikely]]
      return lazy_push::no_room;
    if (is_alone_) return lazy_push::done;
    own_.lazy.publish();
    return all_.idle.is_to_wake() ? lazy_push::unannounced : lazy_push::done;
  }
  void reserve_lazy(std::size_t n);
  void announce_lazy() noexcept { all_.idle.wake_one(); }
  [[nodiscard]] lazy_task* reclaim() noexcept {
    // If there is only one worker, no other thread takes from its deque.
    auto const o = is_alone_ ? own_.lazy.try_pop_alone() : own_.lazy.try_pop();
    return o ? *o : nullptr;
  }

  // ---- called when a process of this thread waits or hands over (WAITER-3 of waiter.hpp)

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
    at.life.take_over(relax());
    count_step(at);
  }

  /// Counts a spawn.  Returns whether the process that spawns must let others go first, since too
  /// many processes are ready.
  [[nodiscard]] bool count_spawn() noexcept {
    if (++spawned_ < most_ready) return false;
    spawned_ = 0;  // the next most_ready spawns need not wait: so the process makes progress
    return own_.deque.size() + own_.yielded.size() >= most_ready;
  }

  /// Whether exchange() may be called: not while a worker sleeps, which put() might have to wake;
  /// not while the deque has a process, which would run first; and not when find_oldest() is due.
  [[nodiscard]] bool can_exchange() const noexcept {
    return until_oldest_ > 1 && (all_.count == 1 || all_.idle.no_thread_sleeps()) &&
           own_.deque.size() == 0;
  }
  [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
    --until_oldest_;
    header* const next = own_.yielded.size() != 0 ? take_yielded() : nullptr;
    if (!next) {
      count_step(header_of<header>(*t.get()));
      return t;
    }
    header& p = *stealing_shared::ready(std::move(t), put_reason::yielded);
    enter(p, put_reason::yielded, false);
    return begin_step(*next);
  }

  /// Returns the next process.  The thread sleeps while there is none (BACKEND-5).
  thunk take(instant until, quiescence_test quiescent) {
    for (;;) {
      if (all_.idle.is_over()) return all_.idle.why_over();
      if (header* const p = find()) return begin_step(*p);
      if (sleep_to_deadline(until, quiescent)) return thunk::reason::deadline;
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
    // Relaxed: only this worker writes `n`, and the counts order nothing.
    n.store(n.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] unsigned rechecks() const noexcept {
    // seq_cst: pairs with [1] in recheck_deadlines() (stealing.cpp), so no sleeper misses a call.
    return all_.rechecks.load(std::memory_order_seq_cst);
  }
  thunk begin_step(header& p) noexcept {
    p.life.move(stealing_state::running);
    count_step(p);
    return stealing_shared::thunk_of(p);
  }
  void count_step(header& p) noexcept {
    // Relaxed: only the owner of the process, here this worker, writes `steps`; it orders nothing.
    p.steps.store(p.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    add(own_.run, 1);
  }

  /// Puts a ready process into a queue; publishes it and wakes a worker for it, but for the two
  /// exceptions of WORKER-2.  `is_alone`: nothing else is ready on this worker, so if the process
  /// yields, the worker takes it back itself.
  void enter(header& p, put_reason w, bool is_alone) noexcept {
    // Whether the process goes to the queue of yielded processes.  A spawned process does if the
    // deque has enough (WORKER-4).
    bool const is_late = w == put_reason::yielded || all_.options.order == local_order::fifo ||
                         (w == put_reason::started && own_.deque.size() >= most_spawned);
    try {
      if (is_late)
        own_.yielded.push(&p);
      else
        own_.deque.push(&p);
    } catch (...) {  // no memory: the global queue needs none
      return all_.enter_global(p);
    }
    // Returns if no other worker need see the process (WORKER-2).
    if (all_.count == 1 || (w == put_reason::yielded && is_alone)) return;
    if (is_late)
      own_.yielded.publish();
    else
      own_.deque.publish();
    if (w == put_reason::handed_over && is_alone) return all_.idle.request_watch();
    all_.idle.wake_one();
  }

  /// Sleeps until there may be work.  Returns whether the deadline has passed, or is to be computed
  /// again.
  bool sleep_to_deadline(instant until, quiescence_test quiescent);

  // ---- the next process

  header* find() noexcept {
    if (std::exchange(defers_lazy_, false)) [[unlikely]]
      if (header* const p = find_other_work()) return p;
    if (--until_oldest_ == 0)
      if (header* const p = find_oldest()) return p;
    if (auto const p = own_.deque.try_pop()) return *p;
    if (header* const p = steal_lazy()) return p;
    if (header* const p = take_yielded()) return p;
    return find_slow();
  }
  header* find_slow() noexcept;
  header* find_other_work() noexcept;
  header* find_oldest() noexcept;
  header* oldest() noexcept;
  header* steal_lazy() noexcept {
    for (;;) {
      lazy_task* const o = reclaim();
      if (!o) return nullptr;
      if (header* const p = promote(*o)) return p;
    }
  }
  /// Promotes a lazy task that was taken, and returns its process, which is ready to run.  Null if
  /// it becomes no process.
  header* promote(lazy_task& o) noexcept {
    thunk t = o.promote();
    if (!t) return nullptr;
    all_.list_if_wanted(*t.get());
    return stealing_shared::ready(std::move(t), put_reason::started);
  }
  header* take_yielded() noexcept {
    header* p;
    return own_.yielded.take({&p, 1}) != 0 ? p : nullptr;
  }
  header* take_global(std::size_t most_others) noexcept;
  void keep(auto& in, header& p) noexcept;
  void share_more() noexcept;

  // ---- thefts

  header* steal(bool& was_lost) noexcept;
  header* visit(bool& was_lost) noexcept;
  header* steal_from(stealing_shared::home& from, bool& was_lost) noexcept;
  header* steal_lazy(stealing_shared::home& from, bool& was_lost) noexcept;
  thief_of_deque::half steal_half(chase_lev<header*>& from) noexcept;
  header* note_stolen(stealing_shared::home const& from, header& first,
                      std::size_t others) noexcept;
  void note_theft(stealing_shared::home const& from, std::uint64_t n) noexcept;
  unsigned random_below(unsigned n) noexcept;

  stealing_shared& all_;
  stealing_shared::home& own_;
  unsigned const index_;
  bool const is_alone_ = all_.count == 1;
  std::uint32_t random_;
  unsigned rechecks_seen_ = 0;
  unsigned spawned_ = 0;      // spawns since the last check
  bool defers_lazy_ = false;  // the next find() looks for other work first (BACKEND-8)
  unsigned until_oldest_ = steps_to_oldest;
  unsigned turn_ = 0;          // the place that oldest() looked at last
  unsigned last_victim_;       // the worker that was visited last
  unsigned victim_place_ = 0;  // where visit() looks: 0 the deque, 1 the yielded, 2 the lazy tasks
};

}  // namespace weft::detail
