// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "effects/eff.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/errors.hpp"
#include "sched/sync/gate.hpp"

/// Something of which there is a number, and which processes take and give back: what is behind a
/// mutex, of which there is one, and a semaphore.
namespace weft::detail {

///   PERMIT-1  Who gives back first adds to `left_`, then releases the gate.  Who finds nothing left has
///       asked the gate for its epoch before.  So one of the two sees the other.
///   PERMIT-2  It belongs to all who use it: the object that it is in, who holds one, who waits, who is
///       giving back.  So that object may end before any of them is done: also by who has what
///       another is just giving back.
class permits final : public gate_owner {
 public:
  enum class kind : bool { mutex, semaphore };
  permits(std::size_t n, kind k) noexcept : left_(n), first_(n), kind_(k) {
    freed_.belongs_to(*this);
  }
  virtual ~permits() = default;

  /// Throws `cancelled` if there will be none any more.
  [[nodiscard]] bool try_take() {
    // Relaxed: as `left_`, if the epoch says so; else who closes wakes us.
    if (closed_.load(std::memory_order_relaxed)) throw cancelled();
    std::size_t n = left_.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
    while (n != 0)
      // [1] acquire: what was done before it was given back [2] is seen by who takes it.
      if (left_.compare_exchange_weak(n, n - 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        note_access(&freed_, true);
        return true;
      }
    note_access(&freed_, false);
    return false;
  }
  /// Where there is one, who has taken it says so: for reports, which nobody makes while it runs.
  void set_holder(process_id id, std::source_location since) noexcept {
    holding_.emplace(id, since);
  }
  /// Our caller keeps us (PERMIT-2).
  void give_back(std::size_t n) noexcept {
    if (n == 1 && holding_) holding_.reset();
    left_.fetch_add(n, std::memory_order_release);  // [2] release: with [1]
    if (n == 1)
      freed_.release_now();
    else
      freed_.release_all_now();
  }
  /// Who waits, or comes later, finds `cancelled`.
  void close() noexcept {
    closed_.store(true, std::memory_order_relaxed);  // relaxed: see try_take
    freed_.release_all_now();
  }

  void describe(deadlock::waiter& w, std::size_t waiting) const override {
    if (kind_ == kind::semaphore)
      w.reason = "a permit of a semaphore, which has " +
                 // Relaxed: nobody runs.
                 std::to_string(left_.load(std::memory_order_relaxed)) +
                 " left and was made with " + std::to_string(first_) + ": " +
                 text_of_waiters(waiting);
    if (holding_) w.held_by = deadlock::holder{holding_->process, text(holding_->since)};
  }

  /// For who explores: what is looked at when one is taken, and released when one is given back.
  [[nodiscard]] gate const* location() const noexcept { return &freed_; }

  /// Takes one, when there is one.
  static eff<void, syncing> take(std::shared_ptr<permits> from, std::source_location where) {
    for (auto seen = from->freed_.epoch(); !from->try_take(); seen = from->freed_.epoch())
      co_await located(syncing::wait(from->freed_, seen, for_release()), where);
  }
  /// The same; false if there is none by then.
  static eff<bool, syncing> take_until(std::shared_ptr<permits> from, instant until,
                                       std::source_location where) {
    for (auto seen = from->freed_.epoch(); !from->try_take(); seen = from->freed_.epoch()) {
      bool const woken =
          co_await located(syncing::wait_until(from->freed_, seen, until, for_release()), where);
      if (!woken) co_return false;
    }
    co_return true;
  }

 private:
  std::atomic<std::size_t> left_;
  std::atomic<bool> closed_ = false;
  std::size_t const first_;
  kind const kind_;
  std::optional<holding> holding_;  // who has the one
  gate freed_;
};

}  // namespace weft::detail
