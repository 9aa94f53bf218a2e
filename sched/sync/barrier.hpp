// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>

#include "effects/eff.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/base/errors.hpp"
#include "sched/sync/gate.hpp"

namespace weft {

/// Where n processes meet: each waits until all have come; and so again in the next round.
///
///     barrier meet(3);
///     for (int round = 0; round != 10; ++round) {
///       ...
///       co_await meet.arrive_and_wait();
///     }
///
/// What each did before is seen by all that go on.  Who waits suspends its process, not its thread.
/// Who has arrived has, even if it is unwound while it waits: the others do not wait for it in this
/// round, but do in the next.  Who has arrived cannot fork any more.
///
/// It may end when one of them goes on, though others have not yet.  If it ends in the middle of a
/// round, those who wait find `cancelled`.  It belongs to one scheduler while somebody waits.
/// One allocation.
class barrier {
 public:
  /// Throws std::invalid_argument if n is 0; bad_alloc.
  explicit barrier(std::uint32_t n) : state_(std::make_shared<shared_state>(n)) {
    if (n == 0) throw std::invalid_argument("weft: a barrier is for one process at least");
  }
  barrier(barrier const&) = delete;
  barrier& operator=(barrier const&) = delete;
  ~barrier() {
    detail::cause_event("the end of a barrier", nullptr, [s = std::move(state_)] { s->close(); });
  }

  /// O(1), the last one O(n).  The last one goes on without letting anybody go first.  Throws
  /// `cancelled` if the barrier ends.
  eff<void, syncing> arrive_and_wait(std::source_location where = std::source_location::current()) {
    return arrives(state_, where);
  }

 private:
  ///   BARRIER-1  One word has the round and how many have come; who comes last begins the next round by
  ///       the same step.  So more than n may come at once.
  ///   BARRIER-2  Who comes last changes the round first, and then releases the gate; who waits has asked
  ///       the gate for its epoch before it looks at the round.
  struct shared_state final : detail::gate_owner {
    explicit shared_state(std::uint32_t n) noexcept : all(n) { next_round.belongs_to(*this); }
    virtual ~shared_state() = default;

    /// The round that we wait for to end; `nothing to wait for` if we are the last.
    [[nodiscard]] bool arrive(std::uint32_t& round) noexcept {
      std::uint64_t now = word.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
      for (;;) {
        round = static_cast<std::uint32_t>(now >> 32);
        bool const is_last = static_cast<std::uint32_t>(now) + 1 == all;
        std::uint64_t const next = is_last ? (now | 0xFFFF'FFFFU) + 1 : now + 1;
        // [1] acq_rel: with itself, and [2]: what each did is seen by who comes last, and so by
        // all.
        if (word.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
          return is_last;
      }
    }
    [[nodiscard]] bool is_over(std::uint32_t round) const {
      // [2] acquire: with [1].
      if (static_cast<std::uint32_t>(word.load(std::memory_order_acquire) >> 32) != round)
        return true;
      // Relaxed: who closes releases the gate after that.
      if (closed.load(std::memory_order_relaxed)) throw cancelled();
      return false;
    }
    void close() noexcept {
      closed.store(true, std::memory_order_relaxed);  // relaxed: see is_over
      next_round.release_all_now();
    }

    void describe(deadlock::waiter& w, std::size_t) const override {
      // Relaxed: nobody runs.
      auto const come = static_cast<std::uint32_t>(word.load(std::memory_order_relaxed));
      w.reason = "the others at a barrier: " + std::to_string(come) + " of " + std::to_string(all) +
                 (come == 1 ? " has" : " have") + " arrived";
    }

    std::uint32_t const all;
    std::atomic<std::uint64_t> word = 0;  // BARRIER-1: the round, and below it how many have come
    std::atomic<bool> closed = false;
    gate next_round;
  };

  static eff<void, syncing> arrives(std::shared_ptr<shared_state> s, std::source_location where) {
    co_await detail::located(syncing::touch(&s->next_round, true), where);
    co_await detail::located(syncing::own(), where);
    std::uint32_t round = 0;
    if (s->arrive(round)) {
      s->next_round.release_all_now();
      co_return;
    }
    for (auto seen = s->next_round.epoch(); !s->is_over(round); seen = s->next_round.epoch())
      co_await detail::located(syncing::wait(s->next_round, seen, detail::for_release()), where);
  }

  std::shared_ptr<shared_state> state_;
};

}  // namespace weft
