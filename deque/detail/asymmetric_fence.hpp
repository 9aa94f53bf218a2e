// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>

#if __has_include(<sys/syscall.h>)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace weft::detail {

/// A fence in two halves, for two sides that each store and then look at what the other has stored:
/// who does that all the time has the light half, which only the compiler sees; who seldom does,
/// the heavy one, which has the system interrupt all other threads of the process that run, and
/// make each of them do what a full fence does.
///
///   FENCE-1  Of a light and a heavy fence one comes first: what came before that one is seen after the
///       other, whatever the orders.
///
/// A heavy one is 1 to 2 microseconds here.  It grows with how many threads run, and waits for the
/// heavy ones of other processes.  Thread safe.
///
/// Source: D. Dice, H. Huang, M. Yang, Asymmetric Dekker synchronization, 2001; the words of FENCE-1
/// from D. Goldblatt, Asymmetric fences, P1202R5; membarrier(2).
class asymmetric_fence {
 public:
  /// Whether there is one: on Linux, from 4.14 on, if nothing forbids it.  Always the same.
  [[nodiscard]] static bool exists() noexcept {
    static bool const does = call(command::begin);
    return does;
  }
  /// seq_cst: the compiler moves nothing past it, either way; the processor never hears of it.
  static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  /// If there is one.
  static void heavy() noexcept {
    if (call(command::fence)) [[likely]]
      return;
    // A process that was stopped and restored elsewhere has to ask for it again.
    if (call(command::begin) && call(command::fence)) return;
    std::perror("weft: membarrier, which was there before, and on which others rely");
    std::terminate();
  }

 private:
  /// As in linux/membarrier.h: private and expedited, of which older ones do not know.
  enum class command { fence = 1 << 3, begin = 1 << 4 };

  [[nodiscard]] static bool call([[maybe_unused]] command c) noexcept {
#ifdef SYS_membarrier
    return ::syscall(SYS_membarrier, static_cast<int>(c), 0U, 0) == 0;
#else
    return false;
#endif
  }
};

}  // namespace weft::detail
