// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::detail {

/// Whether another attempt, in one direction of a socket, may do better than the last one that
/// found nothing: so that one which cannot is no call of the system's.
///
/// The system tells of what is new once (EPOLLET).  We count that.  An attempt remembers what the
/// count was before it; if it finds nothing more, it writes that down.
///
///   READY-1  There may be something as long as the count is not the one written down.
///   READY-2  What an attempt did not find came after its call, and will be counted after it: the count
///       it had read before [1] is not that one any more.  So nothing that comes between the call
///       and the writing down is lost.
///   READY-3  Two attempts at once write down what each of them has read: an old count at worst, and
///   then
///       there is one attempt too many.
///   READY-4  The lowest bit is set with the count when the system has said that this is the end, or
///       that something out of order has come: then one that got less than it asked for does not
///       mean that there is nothing more.  Only `nothing` does.
class readiness {
 public:
  using count = std::uint64_t;

  /// Before an attempt.
  [[nodiscard]] count now() const noexcept {
    return happened_.load(
        std::memory_order_acquire);  // [1] acquire: the attempt is after it (READY-2)
  }
  [[nodiscard]] bool may_try(count now) const noexcept {
    // Relaxed: who attempts has written it, or another one who does at the same time (READY-3).
    return now != exhausted_.load(std::memory_order_relaxed);
  }
  /// An attempt that began then found nothing.
  void found_nothing(count then) noexcept {
    exhausted_.store(then, std::memory_order_relaxed);  // relaxed: as above
  }
  /// It found something, but less than there was room for.
  void found_less(count then) noexcept {
    if ((then & last) == 0) found_nothing(then);
  }

  // ---- under the lock of the place

  /// Something has: `is_last`, see READY-4.
  void happens(bool is_last) noexcept {
    // Relaxed: all who write it have the lock.
    count const before = happened_.load(std::memory_order_relaxed);
    // [2] release: with [1], though nothing was written that is to be seen by it.
    happened_.store((before + 2) | (is_last ? last : 0), std::memory_order_release);
  }
  [[nodiscard]] bool may_try() const noexcept {
    // Relaxed: who writes it has the lock.
    return may_try(happened_.load(std::memory_order_relaxed));
  }
  /// Of a new socket: one may try.
  void begin() noexcept {
    happened_.store(2, std::memory_order_relaxed);   // relaxed: who is given the socket is told of
    exhausted_.store(0, std::memory_order_relaxed);  // it later; the same
  }

 private:
  static constexpr count last = 1;
  std::atomic<count> happened_ = 2;
  std::atomic<count> exhausted_ = 0;
};

}  // namespace weft::detail
