// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>

#include "weft/effects/detail/platform.hpp"

namespace weft::detail {

/// A fence in two halves, for two threads that each store to one location and then read the
/// location that the other stores to.  The thread that does so often uses the light half, which
/// binds the compiler only.  The thread that does so seldom uses the heavy half, by which the
/// system interrupts all other running threads of the process and has each execute a full fence.
///
///   FENCE-1  For each light and each heavy fence, one of the two comes first: the accesses before
///       the first one are visible to the accesses after the second, whatever their memory orders.
///
/// A heavy fence takes about 1 to 2 microseconds.  Its cost grows with the number of running
/// threads, and it waits for the heavy fences of other programs.  Thread safe.
///
/// Source: D. Dice, H. Huang, M. Yang, Asymmetric Dekker synchronization, 2001; the wording of
/// FENCE-1 from D. Goldblatt, Asymmetric fences, P1202R5; membarrier(2).
class asymmetric_fence {
 public:
  /// Whether the system offers the heavy half: Linux from 4.14 on, unless it is forbidden to this
  /// process.  The first call registers the process for it; the result never changes.
  [[nodiscard]] static bool exists() noexcept { return can_interrupt_threads(); }
  /// The light half.  [1] seq_cst: pairs with heavy() (FENCE-1).  The compiler moves no access
  /// across it, and emits no instruction for it.
  static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  /// The heavy half: a system call.  If the system refuses it, terminates the program.  Requires
  /// exists().
  static void heavy() noexcept {
    if (interrupt_threads()) [[likely]]
      return;
    std::perror("weft: membarrier, which was there before, and on which others rely");
    std::terminate();
  }
};

}  // namespace weft::detail
