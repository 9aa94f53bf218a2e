// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "deque/persistent_deque.hpp"
#include "sched/backends/detail/injection_queue.hpp"
#include "sched/base/backend.hpp"

namespace weft {

/// The default backend: one thread, one persistent deque, the longest waiting first.
/// Deterministic.
///
/// What other threads put goes to a small list, and into the deque when the worker looks: at the
/// next take.
class one_thread {
 public:
  /// A thunk may own a version of the queue it stands in: a process that keeps a checkpoint.
  using queue = persistent_deque<thunk, deque_policy<plain_counts, heap_memory, 512, true>>;
  static constexpr unsigned wakes = 1;

  class worker {
   public:
    worker(one_thread& home, unsigned) noexcept : arrivals_(home.arrivals_) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() {
      for (std::size_t i = 0; i != offers_.size(); ++i) (void)offers_[i]->begin();  // BACKEND-6
    }

    [[gnu::always_inline]] void put(thunk&& t, why) { put_in(std::move(t)); }
    [[nodiscard, gnu::always_inline]] bool can_exchange() const noexcept {
      return !arrivals_.has_news() && ready_.can_rotate_in_place();
    }
    [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
      std::uint64_t const answer = t.answer();
      return ready_.rotate_in_place(t.release(), answer);
    }
    /// O(1).  Allocates nothing unless a version of the queue is kept.
    [[gnu::always_inline]] thunk take(instant until, dry_test dry) {
      if (arrivals_.has_news()) [[unlikely]]
        if (!arrivals_.fetch(*this)) return thunk::nothing::stopped;
      if (ready_.empty()) [[unlikely]]
        if (auto w = arrivals_.wait(*this, until, dry); !w.has_come) return std::move(w.instead);
      return ready_.pop_back();
    }

    [[nodiscard]] bool has_others() const noexcept {
      return !ready_.empty() || arrivals_.has_letters();
    }
    void keep_offers() noexcept { kept_ = detail::most_kept; }
    template <class Next>
    [[nodiscard]] offers_put put_all(std::size_t n, Next next) noexcept {
      if (!has_room(n)) [[unlikely]]
        return offers_put::no_room;
      for (; n != 0; --n) offers_.push_back(next());
      arrivals_.remind();
      return offers_put::done;
    }
    void make_room(std::size_t n) {
      if (!has_room(n)) offers_.reserve(std::max(2 * offers_.capacity(), offers_.size() + n));
    }
    void tell() noexcept {}
    [[nodiscard]] offer* take_back() noexcept {
      if (offers_.empty()) return nullptr;
      offer* const o = offers_.back();
      offers_.pop_back();
      return o;
    }

    /// What is ready, as a value: a version.  O(1).
    [[nodiscard]] queue const& ready() const noexcept { return ready_; }
    /// Instead of all there are, those that were put from outside too; and who is dropped may have
    /// others put there.  Throws bad_alloc.
    void ready(queue q) {
      for (ready_ = {}; arrivals_.has_news() && arrivals_.fetch(*this); ready_ = {}) {
      }
      ready_ = std::move(q);
    }

   private:
    friend class detail::arrivals;
    [[gnu::always_inline]] void put_in(thunk&& t) {
      // Moved, not built from its two words: without memory for it those would have been a thunk
      // already, and dropped, and so the process.
      ready_.push_front(std::move(t));
    }
    [[nodiscard]] bool is_empty() const noexcept { return ready_.empty(); }
    [[nodiscard]] bool has_room(std::size_t n) const noexcept {
      return offers_.capacity() - offers_.size() >= n;
    }
    /// Of who has let go of the thread (BACKEND-7, BACKEND-8).
    [[gnu::noinline]] void is_reminded() {
      if (kept_ != 0 && !ready_.empty()) {
        --kept_;
        return arrivals_.remind();
      }
      std::size_t begun = 0;
      try {  // one that cannot be begun is dropped, which may offer others
        if (without_room_) put_in(std::move(without_room_));
        while (begun != offers_.size())
          if (thunk t = offers_[begun++]->begin()) {
            without_room_ = std::move(t);
            put_in(std::move(without_room_));
          }
      } catch (std::bad_alloc const&) {  // the others are to be begun all the same
        offers_.erase(offers_.begin(), offers_.begin() + static_cast<std::ptrdiff_t>(begun));
        return arrivals_.remind();
      }
      offers_.clear();
    }
    /// One that was begun, and for which the queue had no memory.
    [[nodiscard]] thunk take_kept() noexcept {
      return std::exchange(without_room_, thunk::nothing::dry);
    }

    detail::arrivals& arrivals_;
    queue ready_;
    std::vector<offer*> offers_;
    thunk without_room_ = thunk::nothing::dry;  // see take_kept()
    unsigned kept_ = 0;                         // BACKEND-8: for so many takes
  };

  one_thread() = default;
  one_thread(one_thread const&) = delete;
  one_thread& operator=(one_thread const&) = delete;

  void put(thunk&& t, why) { arrivals_.put(std::move(t)); }
  [[nodiscard]] static detail::spare_letter reserve() { return std::make_unique<detail::letter>(); }
  void put(thunk&& t, why, detail::spare_letter in) noexcept {
    arrivals_.put(std::move(t), std::move(in));
  }
  /// Always no: it would be O(n).
  thunk claim(process*) noexcept { return thunk::nothing::dry; }
  void stop() { arrivals_.stop(); }

 private:
  detail::arrivals arrivals_;
};
static_assert(backend<one_thread> && offering<one_thread>);

}  // namespace weft
