// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

namespace weft::detail {

/// The tree of a scheduler's open groups of tasks, each inside the group around it, with a list of
/// the processes that wait in each.  A cancellation finds here the processes that it cancels, in
/// time linear in the groups and processes inside the cancelled group.
///
///   GROUP-1  A process that is about to wait enters the list of the innermost group to which its
///       frames belong, before it enters any other list.  It leaves when its operation ends.  A
///       process that belongs to no group, or is shielded from all, is on no list of a group.
///   GROUP-2  A group has its place in the tree from the time that a process first waits in it, or
///       in a group inside it.  The place is inside the next group outwards along the frames.  The
///       walk outwards passes handlers only in the chain of the process that walks; in another
///       chain it ends at the first handler, which may have captured the frames inside it, to
///       resume them under other frames.  The groups of these frames then move with them: so the
///       owner of a group inside a handler puts the group into its right place whenever the owner
///       waits.
///   GROUP-3  If there are several threads, the lists and the tree are accessed under `mutex_`.  A
///       canceller that holds `mutex_` may take the locks of the rooms; no thread takes them in the
///       other order.
///   GROUP-4  A canceller marks the group, adds a reason for attention (cancellation_state), and
///       then takes the processes on the lists of the group, and of the groups inside it, from
///       their rooms, under the lock of each room.  A process checks for cancellation under the
///       lock of the room that it enters (CANCEL-2 of wait_registry.hpp).  If the process enters
///       before the canceller looks there, it is taken; else it is refused.  So no cancelled
///       process stays in a room.
///   GROUP-5  Processes that were taken are put when no lock is held (WAITER-3).  They are linked
///       by their waiters, so a cancellation allocates nothing.
class group_tree {
 public:
  explicit group_tree(bool several_threads) noexcept : several_threads_(several_threads) {}
  group_tree(group_tree const&) = delete;
  group_tree& operator=(group_tree const&) = delete;

  /// Whether a group was opened that processes other than its owner may belong to.  If not, no
  /// process need enter a list.
  [[nodiscard]] bool was_used() const noexcept {
    return was_used_.load(std::memory_order_relaxed);  // relaxed: set before such a process begins
  }
  void note_use() noexcept {
    if (!was_used()) was_used_.store(true, std::memory_order_relaxed);  // relaxed: as in was_used()
  }
  /// Enters the waiter `w` in the list of the group of its process, if there is one (GROUP-1).  The
  /// process is running, suspended at `leaf`, and about to wait in a room.
  void enter(waiter& w, continuation leaf, waiter::kind k, void* object) noexcept;
  /// Gives a group of the running process its place (GROUP-2).
  void place(wait_group& g, continuation leaf) noexcept;
  void leave(waiter& w) noexcept;
  void leave(wait_group& g) noexcept;

  /// Calls `mark(group)` for each group inside `g`; if mark() returns false, the group was
  /// cancelled before, and is left out with the groups inside it.  Calls `take(waiter&)` for each
  /// waiter in `g` and these groups; then, without a lock, `put(process&)` for the process of each
  /// waiter for which take() was true.
  template <class Mark, class Take, class Put>
  void cancel(wait_group& g, Mark mark, Take take, Put put) noexcept {
    waiter* taken = nullptr;
    {
      auto const locked = lock();
      if (!g.is_placed) return;
      for (wait_group* at = &g; at;) {
        for (waiter* w = at->first_waiting; w; w = w->next_)
          if (take(*w)) w->next_taken_ = std::exchange(taken, w);
        at = next_below(g, *at, mark);
      }
    }
    while (taken) {
      process& p = *taken->process_;
      taken = taken->next_taken_;  // before put(): the process may go on, and destroy the waiter
      put(p);
    }
  }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock() noexcept {
    if (several_threads_) return std::unique_lock(mutex_);
    return {};
  }
  /// The next group inside `top` after `from`, in preorder, for which mark() is true; null if none
  /// is.
  template <class Mark>
  static wait_group* next_below(wait_group& top, wait_group& from, Mark& mark) noexcept {
    wait_group* next = from.first_inside;
    for (wait_group* at = &from;;) {
      for (; next; next = next->next_beside)
        if (mark(*next)) return next;
      if (at == &top) return nullptr;
      next = at->next_beside;
      at = at->around;
    }
  }
  void place_in_tree(wait_group& g) noexcept;
  static void put_inside(wait_group& g, wait_group& around) noexcept;
  static void take_out(wait_group& g) noexcept;
  /// Places the groups along the chain, from `at` outwards, up to one whose place cannot change any
  /// more.  Returns the innermost group, or null.
  wait_group* place_along(continuation at) noexcept;

  bool const several_threads_;
  std::atomic<bool> was_used_ = false;
  std::mutex mutex_;
};

}  // namespace weft::detail
