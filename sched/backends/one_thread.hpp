// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weft/deque/persistent_deque.hpp"
#include "weft/sched/backends/detail/injection_queue.hpp"
#include "weft/sched/base/backend.hpp"

namespace weft {

/// The default backend: one thread and one persistent deque; the process that has been ready
/// longest runs first.  Deterministic.
///
/// A put by another thread goes to an injection queue, which the worker empties into the deque at
/// its next take.  put() and stop() are called by any thread, all else by one.
///
/// O(1) a step, as a rule; at worst O(log n), as a push to the deque.  Allocates as the deque does,
/// and a node for each put by another thread.
///
///   ONE-1  The worker asks the deque how many pushes, pops or rotations need no check, and counts
///       them down: 0 means that it asks again.  Each count stays true while the deque is used
///       only in the counted ways.  So a push with checks sets the other counts to 0, as a pop with
///       checks, and a version that is given away, set all.
///   ONE-2  A process that becomes ready when no other one is ready lies in `only_`, and the deque
///       is empty.  The next process that becomes ready is put behind it into the deque, which has
///       room for `only_`.
class one_thread {
 public:
  /// The last parameter: a thunk may own a version of the queue that it is in, since its process
  /// may keep a checkpoint.
  using queue = persistent_deque<thunk, deque_policy<plain_counts, heap_memory, 1024, true>>;
  static constexpr unsigned wakes = 1;

  class worker {
   public:
    worker(one_thread& home, unsigned) noexcept : injected_(home.injected_) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker();

    [[gnu::always_inline]] void put(thunk&& t, put_reason) { put_in(std::move(t)); }
    [[nodiscard, gnu::always_inline]] bool can_exchange() const noexcept {
      return !injected_.has_news() && turns_ != 0;
    }
    /// Finds how often exchange() may be called (ONE-1).
    [[nodiscard]] bool prepare_exchange() noexcept {
      turns_ = ready_.rotations();
      if (turns_ == 0) return false;
      pushes_ = pops_ = 0;
      return true;
    }
    [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
      --turns_;
      std::uint64_t const answer = t.answer();
      return ready_.rotate_in_place(t.release(), answer);
    }
    /// O(1).  Allocates nothing unless a version of the queue is kept.
    [[gnu::always_inline]] thunk take(instant until, quiescence_test quiescent) {
      if (injected_.has_news()) [[unlikely]]
        if (!injected_.fetch(*this)) return thunk::reason::stopped;
      if (pops_ != 0) {
        --pops_;
        return ready_.pop_back_in_place();
      }
      if (only_) {
        expects_only_ = true;
        return std::move(only_);
      }
      return take_slow(until, quiescent);
    }

    [[nodiscard]] bool has_other_work() const noexcept {
      return !is_empty() || injected_.has_injected();
    }
    void defer_lazy_tasks() noexcept { kept_ = detail::max_deferrals; }
    template <class Next>
    [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
      if (!has_room(n)) [[unlikely]]
        return lazy_push::no_room;
      for (; n != 0; --n) lazy_.push_back(next());
      injected_.remind();
      return lazy_push::done;
    }
    void reserve_lazy(std::size_t n);
    void announce_lazy() noexcept {}
    [[nodiscard]] lazy_task* reclaim() noexcept {
      if (lazy_.empty()) return nullptr;
      lazy_task* const o = lazy_.back();
      lazy_.pop_back();
      return o;
    }

    /// The ready processes, as a value: a version of the queue, to be copied before the worker goes
    /// on.  O(1).
    [[nodiscard]] queue const& ready() noexcept {
      move_only();
      turns_ = pushes_ = pops_ = 0;
      expects_only_ = false;
      return ready_;
    }
    /// Replaces all ready processes, also those that other threads have put.  Dropping a process
    /// may put other ones, hence the loop.  Throws bad_alloc.
    void ready(queue q);

   private:
    friend class detail::injection_queue;
    [[gnu::always_inline]] void put_in(thunk&& t) {
      if (pushes_ != 0) {
        --pushes_;
        ready_.push_front_in_place(std::move(t));
      } else if (expects_only_) {
        expects_only_ = false;
        std::construct_at(&only_, std::move(t));  // it was empty
      } else {
        put_slow(std::move(t));
      }
    }
    void put_slow(thunk&& t);
    [[nodiscard]] thunk take_slow(instant until, quiescence_test quiescent);
    /// Moves the only ready process into the deque (ONE-2).
    void move_only() noexcept {
      if (only_) ready_.push_front(std::move(only_));
    }
    [[nodiscard]] bool is_empty() const noexcept { return !only_ && ready_.empty(); }
    [[nodiscard]] bool has_room(std::size_t n) const noexcept {
      return lazy_.capacity() - lazy_.size() >= n;
    }
    /// Promotes the lazy tasks that a process pushed, when its step is over (BACKEND-7, BACKEND-8).
    void on_reminder();
    /// Returns the promoted task for which the queue had no memory, if there is one (INJECT-4).
    [[nodiscard]] thunk take_kept() noexcept {
      return std::exchange(without_room_, thunk::reason::quiescent);
    }

    detail::injection_queue& injected_;
    // Pushes, pops and rotations of ready_ that need no check (ONE-1).
    std::size_t pushes_ = 0;
    std::size_t pops_ = 0;
    std::size_t turns_ = 0;
    queue ready_;
    thunk only_ = thunk::reason::quiescent;  // if it is not empty, ready_ is (ONE-2)
    bool expects_only_ = false;              // both are empty, and ready_ has room
    std::vector<lazy_task*> lazy_;
    thunk without_room_ = thunk::reason::quiescent;  // see take_kept()
    unsigned kept_ = 0;  // for how many more takes lazy tasks may stay (BACKEND-8)
  };

  one_thread() = default;
  one_thread(one_thread const&) = delete;
  one_thread& operator=(one_thread const&) = delete;

  void put(thunk&& t, put_reason) { injected_.put(std::move(t)); }
  [[nodiscard]] static detail::spare_node reserve() {
    return std::make_unique<detail::injection_node>();
  }
  void put(thunk&& t, put_reason, detail::spare_node in) noexcept {
    injected_.put(std::move(t), std::move(in));
  }
  /// Always returns an empty thunk: a search would be O(n).
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() { injected_.stop(); }

 private:
  detail::injection_queue injected_;
};
static_assert(backend<one_thread> && lazy_backend<one_thread>);

}  // namespace weft
