// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
/// its next take.  Any thread may call put() and stop(); one thread calls all other functions.
///
/// O(1) a step, as a rule; at worst O(log n), as a push to the deque.  Allocates as the deque does,
/// and a node for each put by another thread.
class one_thread {
 public:
  /// The last argument of the policy is true, since the process of a thunk may keep a checkpoint,
  /// and so own a version of the queue that the thunk is in.
  using queue = persistent_deque<thunk, deque_policy<plain_counts, heap_memory, 1024, true>>;
  static constexpr unsigned wakes = 1;

  class worker {
   public:
    worker(one_thread& home, unsigned) noexcept : injected_(home.injected_) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker();

    [[gnu::always_inline]] void put(thunk&& t, put_reason) { put_in(std::move(t)); }
    using in_place_worker = worker;  // for in_place_backend (backend.hpp)
    [[nodiscard, gnu::always_inline]] bool put_in_place(process* p, std::uint64_t answer) noexcept {
      turns_ = 0;
      return ready_.emplace_front_in_place(p, answer);
    }
    [[nodiscard, gnu::always_inline]] detail::taken_in_place take_in_place() noexcept {
      detail::taken_in_place taken;
      if (injected_.has_news() ||
          !ready_.take_back_in_place([&](thunk& t) { taken = {t.get(), t.answer()}; })) [[unlikely]]
        return {};
      turns_ = 0;
      return taken;
    }
    [[nodiscard, gnu::always_inline]] bool can_exchange() const noexcept {
      return !injected_.has_news() && turns_ != 0;
    }
    /// Sets turns_, the number of times that exchange() may be called.
    [[nodiscard]] bool prepare_exchange() noexcept {
      turns_ = ready_.rotations();
      return turns_ != 0;
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
      if (ready_.empty()) [[unlikely]]
        if (auto w = injected_.wait(*this, until, quiescent); !w.has_come)
          return std::move(w.instead);
      turns_ = 0;
      return ready_.pop_back();
    }

    [[nodiscard]] bool has_other_work() const noexcept {
      return !ready_.empty() || injected_.has_injected();
    }
    void defer_lazy_tasks() noexcept { kept_ = detail::max_deferrals; }
    template <class Next>
    [[nodiscard]] lazy_push push_lazy(std::size_t n, Next next) noexcept {
      if (!has_room(n)) [[unlikely]]
        return lazy_push::no_room;
      for (; n != 0; --n) lazy_.push_back(next());
      injected_.remind();  // the next take promotes the tasks (on_reminder())
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

    /// The ready processes: a version of the queue, which must be copied before the worker goes on.
    /// O(1).
    [[nodiscard]] queue const& ready() noexcept {
      turns_ = 0;
      return ready_;
    }
    /// Replaces all ready processes: also those that other threads have put, and those that the
    /// dropped processes put while they unwind.  Throws bad_alloc.
    void ready(queue q);

    [[nodiscard]] bool try_leave() noexcept { return injected_.try_leave(); }
    void come_back() noexcept { injected_.come_back(); }

   private:
    friend class detail::injection_queue;
    [[gnu::always_inline]] void put_in(thunk&& t) {
      // Passes `t` on as a reference, so that it is unchanged if there is no memory.  A new thunk,
      // constructed before the memory is found, would be dropped then, and its process unwound.
      turns_ = 0;
      ready_.push_front(std::move(t));
    }
    [[nodiscard]] bool is_empty() const noexcept { return ready_.empty(); }
    [[nodiscard]] bool has_room(std::size_t n) const noexcept {
      return lazy_.capacity() - lazy_.size() >= n;
    }
    /// Promotes the lazy tasks that a process pushed, when its step is over (BACKEND-7, BACKEND-8).
    void on_reminder();
    /// Returns the promoted task for which the queue had no memory, or empty (INJECT-4).
    [[nodiscard]] thunk take_kept() noexcept {
      return std::exchange(without_room_, thunk::reason::quiescent);
    }

    detail::injection_queue& injected_;
    queue ready_;
    // How many rotations of ready_ need no check: each takes a free place at the front.  0: not
    // known, since a put takes such a place, too, and a take may change what is free.
    std::size_t turns_ = 0;
    std::vector<lazy_task*> lazy_;
    thunk without_room_ = thunk::reason::quiescent;  // the result of take_kept()
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
  void on_wakeup(std::function<void()> f) { injected_.set_waker(std::move(f)); }

 private:
  detail::injection_queue injected_;
};
static_assert(lazy_backend<one_thread> && leaving_backend<one_thread>);

}  // namespace weft
