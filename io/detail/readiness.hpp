// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::detail {

/// Whether another attempt, in one direction of a socket, may succeed after the last one found
/// nothing.  It saves the system call of an attempt that cannot succeed.
///
/// The system reports each event once (EPOLLET), and a counter counts the events.  An attempt reads
/// the counter before its system call; if the call finds nothing more, the attempt stores that
/// value of the counter as exhausted.
///
///   READY-1  An attempt may find something as long as the counter differs from the exhausted
///       value.
///   READY-2  Data that an attempt missed has arrived after its system call.  The event of that
///       data is counted after the attempt has read the counter [1], so the counter then differs
///       from the value that was read.  So no data that arrives between the call and the store is
///       lost.
///   READY-3  If two attempts are made at once, each stores the value that it has read.  At worst
///       an old value stays, which costs one attempt too many.
///   READY-4  The lowest bit of the counter is set once the system has reported the end or
///       out-of-band data.  Then an attempt that got less than it asked for does not prove that
///       there is nothing more; only one that got nothing does.
class readiness {
 public:
  using count = std::uint64_t;

  /// The counter, to be read before an attempt.
  [[nodiscard]] count now() const noexcept {
    // [1] acquire: pairs with [2] in happens(): the system call comes after this load (READY-2).
    return happened_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool may_try(count now) const noexcept {
    // Relaxed: an old value of the same socket costs one attempt at most (READY-3).
    return now != exhausted_.load(std::memory_order_relaxed);
  }
  /// Notes that an attempt found nothing; `then` was the counter before the attempt.
  void found_nothing(count then) noexcept {
    exhausted_.store(then, std::memory_order_relaxed);  // relaxed: publishes no data (READY-3)
  }
  /// Notes that an attempt found something, but less than it asked for.
  void found_less(count then) noexcept {
    if ((then & last) == 0) found_nothing(then);
  }

  // ---- called under the mutex of the socket_place

  /// Counts a reported event; `is_last`: it is the end, or out-of-band data (READY-4).
  void happens(bool is_last) noexcept {
    // Relaxed: all writers hold the lock.
    count const before = happened_.load(std::memory_order_relaxed);
    // [2] release: only the partner of [1] in now(): the acquire there keeps the system call of an
    // attempt behind its read of the counter (READY-2).  The store publishes no data.
    happened_.store((before + 2) | (is_last ? last : 0), std::memory_order_release);
  }
  [[nodiscard]] bool may_try() const noexcept {
    // Relaxed: all writers hold the lock.
    return may_try(happened_.load(std::memory_order_relaxed));
  }
  /// Resets the counter for a new socket, so that the first attempt may try.
  void begin() noexcept {
    happened_.store(2, std::memory_order_relaxed);   // relaxed: [4] of socket_place publishes it
    exhausted_.store(0, std::memory_order_relaxed);  // relaxed: [4] of socket_place publishes it
  }

 private:
  static constexpr count last = 1;
  std::atomic<count> happened_ = 2;
  std::atomic<count> exhausted_ = 0;
};

}  // namespace weft::detail
