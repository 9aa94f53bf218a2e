// SPDX-License-Identifier: MIT
#include "weft/sched/sync/barrier.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft {

///   BARRIER-1  One word holds the round and the number of arrivals; the last arrival of a round
///       begins the next round in the same atomic step.  So more than n processes may arrive at
///       once: those beyond n count for the next round.
///   BARRIER-2  The last arrival first changes the round, then releases the gate; a waiter reads
///       the gate's epoch before it reads the round.  So a waiter that finds the old round is
///       woken, or finds at its wait that the epoch has changed.
struct barrier::shared_state final : detail::gate_owner {
  explicit shared_state(std::uint32_t n) noexcept;
  virtual ~shared_state();

  /// Counts an arrival.  True if it is the last of its round; otherwise `round` is the round for
  /// whose end the caller waits.
  [[nodiscard]] bool arrive(std::uint32_t& round) noexcept {
    std::uint64_t now = word.load(std::memory_order_relaxed);  // relaxed: [1] checks the value
    for (;;) {
      round = static_cast<std::uint32_t>(now >> 32);
      bool const is_last = static_cast<std::uint32_t>(now) + 1 == all;
      std::uint64_t const next = is_last ? (now | 0xFFFF'FFFFU) + 1 : now + 1;
      // [1] acq_rel: pairs with itself and with [2] in is_over().  Each arrival reads the word that
      // the arrival before it has written, so the last one sees what all processes did before.  A
      // process that goes on reads the word of the last arrival, or a later word, and sees the
      // same.
      if (word.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
        return is_last;
    }
  }
  [[nodiscard]] bool is_over(std::uint32_t round) const {
    // [2] acquire: pairs with [1] in arrive(), which ended the round.
    if (static_cast<std::uint32_t>(word.load(std::memory_order_acquire) >> 32) != round)
      return true;
    // relaxed: close() releases the gate after its store, so a waiter that misses the store is
    // woken, and looks again.
    if (closed.load(std::memory_order_relaxed)) throw cancelled();
    return false;
  }
  void close() noexcept {
    closed.store(true, std::memory_order_relaxed);  // relaxed: as in is_over()
    next_round.release_all_now(detail::internal());
  }

  [[nodiscard]] std::string_view call() const noexcept override {
    return "weft::barrier::arrive_and_wait";
  }
  void describe(deadlock::waiter& w, std::size_t) const override;

  std::uint32_t const all;
  std::atomic<std::uint64_t> word = 0;  // high half: round; low half: arrivals (BARRIER-1)
  std::atomic<bool> closed = false;
  gate next_round;
};

barrier::barrier(std::uint32_t n) : state_(std::make_shared<shared_state>(n)) {
  if (n == 0) throw std::invalid_argument("weft: a barrier is for at least one process");
}

barrier::~barrier() {
  detail::cause_event("the end of a barrier", nullptr, [s = std::move(state_)] { s->close(); });
}

barrier::shared_state::shared_state(std::uint32_t n) noexcept : all(n) {
  next_round.belongs_to(detail::internal(), *this);
}
barrier::shared_state::~shared_state() = default;

void barrier::shared_state::describe(deadlock::waiter& w, std::size_t) const {
  // relaxed: no process runs.
  auto const come = static_cast<std::uint32_t>(word.load(std::memory_order_relaxed));
  w.reason = "the others at a barrier: " + std::to_string(come) + " of " + std::to_string(all) +
             (come == 1 ? " has" : " have") + " arrived";
}

eff<void, syncing> barrier::arrives(std::shared_ptr<shared_state> s, std::source_location where) {
  co_await detail::located(syncing::own(&s->next_round, true, "weft::barrier::arrive_and_wait"),
                           where);
  std::uint32_t round = 0;
  if (s->arrive(round)) {
    s->next_round.release_all_now(detail::internal());
    co_return;
  }
  for (auto seen = s->next_round.epoch(); !s->is_over(round); seen = s->next_round.epoch())
    co_await detail::located(syncing::wait(s->next_round, seen, detail::for_release()), where);
}

}  // namespace weft
