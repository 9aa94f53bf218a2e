// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "weft/sched/backends/detail/stealing_shared.hpp"
#include "weft/sched/backends/detail/stealing_state.hpp"
#include "weft/sched/backends/detail/stealing_worker.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process.hpp"

namespace weft {

/// The work-stealing backend: several threads, each with work of its own.
///
///     schedule<stealing>({.threads = 2}, program, handlers...);
///
/// A process that becomes ready on a thread goes to the thread's own deque, last in, first out; a
/// process that is put from outside goes to the global queue.  A worker runs the processes in its
/// deque; then its lazy tasks; then those processes that have yielded; then it takes one from the
/// global queue, and up to 16 more; then it visits the other workers, from a random one on, and
/// steals: half of the processes that have yielded there, at most 32; if none has, half of that
/// worker's deque, at most 256; if the deque is empty, a lazy task.  If it finds nothing anywhere,
/// it looks a few times more and then sleeps until another worker has work to share.  A process
/// that yields goes to a separate queue, first in, first out, since in the deque it would be the
/// next to run; thieves take from this queue as well.  A process that is spawned while 128 are in
/// the deque goes to the separate queue, too (WORKER-4).
///
/// Fairness.  A step here includes the hand-overs in it, at most 64.  At every 64th step a worker
/// takes the longest-waiting process of one place, by turns: the global queue, the processes that
/// have yielded, its deque, its lazy tasks, and the next of the other workers.  So a process behind
/// k others in one of the worker's own three places has its turn, or is stolen, within
/// 320 * (k + 1) of the worker's steps.  A process behind k others in the global queue has its turn
/// within 320 * (k + 1) steps of any one worker, or by then a worker has taken it in a batch, into
/// a deque in which fewer than 32 other processes have waited longer.  If a thread is stuck in a
/// process, consider a process behind k others in that thread's deque, among those that have
/// yielded, or among its lazy tasks: it has its turn, or is stolen, within 960 * (n - 1) * (k + 1)
/// steps of any other thread, where n is the number of threads.
///
/// After every 16384 spawns on a thread, the process that spawns lets the others go first, if at
/// least 16384 are ready there.  So one process does not fill the memory with processes before any
/// of them has run.
///
/// Not deterministic, except with one thread.  It allocates when a deque grows; if there is no
/// memory for that, the process goes to the global queue.  A process is 32 bytes larger.  put and
/// take are O(1), amortised, and a theft O(n) in the processes that it takes.  Thread safe, except
/// for a worker, which its own thread uses.
///
/// Source: the second part of docs/appendix_pseudo_code_read_twice.md, with the steal corrected
/// as docs/decisions/011-stealing-half.md says; the deque is that of Chase and Lev
/// (deque/chase_lev.hpp).
///
///   WORKER-1  A ready process is in one place: a deque, a queue, or the global queue.  The thread
///       that takes the process out owns it (STEAL-5 and STEAL-6 of the deques; GLOBAL-1 and
///       GLOBAL-3 of the global queue).
///   WORKER-2  A worker publishes the process that it puts, and then checks whether another worker
///       sleeps; a worker that goes to sleep announces its sleep, and then looks everywhere
///       (idle_threads.hpp, IDLE-2; publish() of the deques, STEAL-7 for lazy tasks, GLOBAL-2 of
///       the global queue).  There are two exceptions, for a process that the worker will most
///       likely take itself.  If a process yields while nothing else is ready on its worker, the
///       worker neither publishes it nor checks; the worker does both later, if it takes another
///       process in its regular search for the oldest.  If a process hands over while nothing else
///       is ready on its worker, the worker publishes it, but wakes no worker if one is on watch
///       (IDLE-5).
///   WORKER-3  A process that is about to wait is woken by a flag (stealing_state.hpp), so a waker
///       does not wait until the process sleeps.  Only a hand-over waits for that.
///   WORKER-4  Thieves take processes from a deque one by one, and each time read the words that
///       the owner of the deque writes; from the queue of yielded processes they take many at once.
///       So if a deque already holds enough for its thread to run next, further spawned processes
///       go to the queue of yielded processes, and thieves look there first.
class stealing {
 public:
  static constexpr unsigned wakes = 1;
  using options = stealing_options;  ///< The options of this backend.

  using header = detail::stealing_header;
  class worker : public detail::stealing_worker {
   public:
    worker(stealing& all, unsigned index) noexcept : stealing_worker(all.shared_, index) {}
  };

  stealing() : stealing(options()) {}
  explicit stealing(options const& o);

  /// The number of threads.
  [[nodiscard]] unsigned threads() const noexcept { return shared_.count; }

  /// Puts into the global queue.  Called by any thread.
  void put(thunk&& t, put_reason w) noexcept {
    if (w == put_reason::started) shared_.list_if_wanted(*t.get());
    if (header* const p = shared_.ready(std::move(t), w)) shared_.enter_global(*p);
  }
  /// Always returns an empty thunk: the process may be in the middle of a deque.
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() noexcept { shared_.idle.stop(); }
  /// Makes all sleeping workers return from take(), and compute their deadlines again: any of them
  /// may be the only one that stays idle, and it then has to wake at the earliest deadline.
  void recheck_deadlines() noexcept;

  /// Called when a process has ended, before it is destroyed: removes it from the list of
  /// processes(), if it is on that list.
  void on_end(process& p) noexcept {
    header& at = header_of<header>(p);
    if (at.listed) [[unlikely]]
      shared_.list.remove(at.listed);
    at.life.move(stealing_state::complete);
  }

  /// The counts of a worker so far.  O(1).  Thread safe, also while processes run: each number is
  /// right at about this time.  Throws std::out_of_range if there is no such worker.
  [[nodiscard]] worker_counts counts(unsigned index) const;
  /// A report of each process: its state, and the operation and place where it waits, in the order
  /// of ids.  O(n log n); allocates the reports.  Thread safe, also while processes run.  During
  /// the call processes go on, but none starts or ends; so a report may be out of date.  Throws
  /// std::logic_error unless the options have `.keep_list = true`.
  [[nodiscard]] std::vector<process_report> processes() const;

 private:
  detail::stealing_shared shared_;
};

static_assert(concurrent_backend<stealing> && exchanging_backend<stealing> &&
              lazy_backend<stealing> && configurable_backend<stealing>);

}  // namespace weft
