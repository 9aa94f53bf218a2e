// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>

#if __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace weft::detail {

/// A fence in two halves, for two sides that each store and then look at what the other has stored:
/// who does that all the time has the light half, which only the compiler sees; who seldom does,
/// the heavy one, which has the system interrupt all other threads of the process that run, and
/// make each of them do what a full fence does.
///
///   A1  Of a light and a heavy fence one comes first: what came before that one is seen after the
///       other, whatever the orders.
///
/// A heavy one is 1 to 2 microseconds here, and grows with how many threads run.  Thread safe.
///
/// Source: D. Dice, H. Huang, M. Yang, Asymmetric Dekker synchronization, 2001; the words of A1
/// from D. Goldblatt, Asymmetric fences, P1202R5; membarrier(2).
class asymmetric_fence {
 public:
  /// Whether there is one: on Linux, from 4.14 on, if nothing forbids it.  Always the same.
  [[nodiscard]] static bool exists() noexcept { return exists_; }
  static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void heavy() noexcept {
    if (call(command::fence)) return;
    // Others have relied upon it.
    std::fputs("weft: membarrier was there when the program began, and is not any more\n", stderr);
    std::terminate();
  }

 private:
#if __has_include(<linux/membarrier.h>)
  enum class command {
    fence = MEMBARRIER_CMD_PRIVATE_EXPEDITED,
    begin = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
  };
  [[nodiscard]] static bool call(command c) noexcept {
    return ::syscall(SYS_membarrier, static_cast<int>(c), 0U, 0) == 0;
  }
#else
  enum class command { fence, begin };
  [[nodiscard]] static bool call(command) noexcept { return false; }
#endif

  static inline bool const exists_ = call(command::begin);
};

}  // namespace weft::detail
