// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "deque/chase_lev.hpp"
#include "deque/steal_queue.hpp"
#include "effects/multi_resumption.hpp"
#include "sched/backends/detail/global_queue.hpp"
#include "sched/backends/detail/idle_threads.hpp"
#include "sched/backends/detail/process_list.hpp"
#include "sched/backends/stealing_state.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/relax.hpp"
#include "sched/base/process.hpp"

namespace weft {

/// The order in which a worker runs the processes that become ready on its own thread.
enum class local_order : std::uint8_t {
  lifo,  ///< The last that became ready, whose data is still in the cache.
  fifo   ///< The one that waits longest.
};

/// How a program is run by threads that steal from each other.
struct stealing_options {
  /// How many threads, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // As in schedule_options.
  bool forkable = true;
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;

  local_order order = local_order::lifo;
  /// How many processes more a worker takes along when it takes one from the global queue: at most
  /// 32.
  unsigned batch = 16;
  /// A worker that finds nothing looks again at once, `spins` times; then each time after it has
  /// yielded the processor, until it has looked `looks` times in all; then it sleeps.
  unsigned spins = 4;
  unsigned looks = 16;
  /// Whether the backend keeps a list of all processes, for processes().  With a list, starting,
  /// waiting and ending take a lock.
  bool keep_list = false;
};

/// Counts of a worker.
struct worker_counts {
  std::uint64_t run = 0;     ///< Steps of processes; a hand-over is a step of the receiver.
  std::uint64_t stolen = 0;  ///< Processes that it has stolen from other workers.
  std::uint64_t parked = 0;  ///< How often it has slept and woken up.
  std::uint64_t woken = 0;   ///< How often another thread, and not the clock, woke it.
};

/// The work-stealing backend: several threads, each with work of its own.
///
///     schedule<stealing>({.threads = 2}, program, handlers...);
///
/// A process that becomes ready on a thread goes to the thread's own deque, last in, first out; a
/// process that is put from outside goes to the global queue.  A worker runs the processes in its
/// deque; then those that have yielded; then it takes one from the global queue, and up to 16 more;
/// then it steals half of the work of a random worker: of the processes that have yielded there, at
/// most 32, else of its deque, at most 256.  If there is nothing anywhere, it looks a few times
/// more and then sleeps until another worker has work to share.  A process that yields goes to a
/// queue of its own kind, first in, first out, from which thieves take as well: in the deque it
/// would come straight back.  So does a process that is spawned while 128 are in the deque
/// (WORKER-4).
///
/// Fairness.  A step here includes the hand-overs in it, at most 64.  At every 64th step a worker
/// takes the longest-waiting process of one place, by turns: the global queue, the processes that
/// have yielded, its deque, its lazy tasks, and the next of the other workers.  So a process behind
/// k others in one of the worker's own three places has its turn, or is stolen, within
/// 320 * (k + 1) of the worker's steps.  A process behind k others in the global queue has its turn
/// within 320 * (k + 1) steps of any one worker, or is taken along by then, and is in a deque in
/// which fewer than 32 others have been longer.  If a thread is stuck in a process, one behind k
/// others in its deque, among those that have yielded, or among its lazy tasks has its turn within
/// 960 * (n - 1) * (k + 1) steps of any other thread, where n is the number of threads, or is
/// stolen by then.
///
/// After every 16384 spawns on a thread, the process that spawns lets the others go first, if as
/// many are ready there.  So one process does not fill the memory with processes before any of them
/// has run.
///
/// Not deterministic, except with one thread.  It allocates when a deque grows; if there is no
/// memory for that, the process goes to the global queue.  A process is 32 bytes larger.
///
/// Source: chapters 11 and 12 of docs/, with the steal corrected as
/// docs/decisions/011-stealing-half.md says; the deque is that of Chase and Lev
/// (deque/chase_lev.hpp).
///
///   WORKER-1  A ready process is in one place: a deque, a queue, or the global queue.  The thread
///       that takes it out owns it (STEAL-5 and STEAL-6 of the deques; GLOBAL-1 and GLOBAL-3 of the
///       global queue).
///   WORKER-2  A worker publishes what it puts, and then checks whether another worker sleeps; a
///       worker that goes to sleep announces it, and then looks everywhere (idle_threads.hpp,
///       IDLE-2; publish() of the deques, STEAL-7 for lazy tasks, GLOBAL-2 of the global queue).  A
///       worker does not publish what it is about to take itself: a yield while nothing else is
///       there, which it publishes if it takes something else first; and a process that it puts
///       behind a hand-over, if a worker is on watch (IDLE-5).
///   WORKER-3  A process that is about to wait is woken by a flag (stealing_state.hpp): no thread
///       waits for it.
///   WORKER-4  Thieves take from a deque one by one, and each time read the words that its owner
///       writes; from the queue of yielded processes they take many at once.  So processes that are
///       spawned beyond those that the thread runs next go there, and thieves look there first.
class stealing {
 public:
  static constexpr unsigned wakes = 1;
  using options = stealing_options;

  /// The backend's header of a process.
  struct alignas(16) header {
    stealing_state_word life;
    std::atomic<std::uint32_t> steps = 0;  // written by the thread that owns the process
    std::uint64_t answer = 0;              // to resume the process with
    header* next = nullptr;                // in the list of the global queue
    detail::listed_process* listed = nullptr;
  };

  class worker;

  stealing() : stealing(options()) {}
  explicit stealing(options const& o)
      : options_(o),
        count_(o.threads ? o.threads : std::max(1U, std::thread::hardware_concurrency())),
        homes_(std::make_unique<home[]>(count_)),
        idle_(count_) {
    if (count_ == 1 || count_ > most_interrupted)
      for (unsigned i = 0; i != count_; ++i) homes_[i].lazy.do_not_interrupt();
  }
  stealing(stealing const&) = delete;
  stealing& operator=(stealing const&) = delete;
  ~stealing() {
    for (unsigned i = 0; i != count_; ++i) {
      while (auto const o = homes_[i].lazy.try_pop()) (void)(*o)->promote();  // BACKEND-6
      while (auto const p = homes_[i].deque.try_pop()) (void)thunk_of(**p);
      for (header* p; homes_[i].yielded.take({&p, 1}) != 0;) (void)thunk_of(*p);
    }
    for (header* p; global_.take({&p, 1}, 1) != 0;) (void)thunk_of(*p);
  }

  [[nodiscard]] unsigned threads() const noexcept { return count_; }

  /// By any thread: into the global queue.
  void put(thunk&& t, put_reason w) noexcept {
    if (w == put_reason::started && options_.keep_list) [[unlikely]]
      list(*t.get());
    if (header* const p = ready(std::move(t), w)) enter_global(*p);
  }
  /// Always returns an empty thunk: it would have to search the middle of a deque.
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() noexcept { idle_.stop(); }
  /// Makes all sleeping workers compute their deadlines again: each of them may be the only one
  /// that stays idle.
  void recheck_deadlines() noexcept {
    // [1] seq_cst: pairs with the load in looks(); published before the check for sleepers (IDLE-2
    // of idle_threads.hpp).
    looks_.fetch_add(1, std::memory_order_seq_cst);
    idle_.wake_all();
  }

  /// The process has ended, and is about to be destroyed.
  void on_end(process& p) noexcept {
    header& at = header_of<header>(p);
    if (at.listed) [[unlikely]]
      list_.remove(at.listed);
    at.life.move(stealing_state::complete);
  }

  /// The counts of a worker so far.  O(1).  Thread safe, also while processes run: each number is
  /// right at about this time.  Throws std::out_of_range if there is no such worker.
  [[nodiscard]] worker_counts counts(unsigned index) const {
    if (index >= count_) throw std::out_of_range("weft: there is no such worker");
    home const& h = homes_[index];
    // Relaxed, all of them: counts, which order nothing.
    return {h.run.load(std::memory_order_relaxed), h.stolen.load(std::memory_order_relaxed),
            h.parked.load(std::memory_order_relaxed), h.woken.load(std::memory_order_relaxed)};
  }
  /// A report of each process: its state, and the operation and place where it waits, in the order
  /// of ids.  O(n log n).  Thread safe, also while processes run.  Processes run on meanwhile, but
  /// none starts or ends; so a report may be out of date.  Throws std::logic_error unless the
  /// options have `.keep_list = true`.
  [[nodiscard]] std::vector<process_report> processes() const {
    if (!options_.keep_list)
      throw std::logic_error("weft: stealing lists its processes if .keep_list = true says so");
    return list_.report();
  }

 private:
  /// Almost all lazy tasks are reclaimed by their own worker.  A thief interrupts all running
  /// threads, if there are at most so many (a guess: with more, thefts may cost more than they
  /// save).
  using lazy_deque = basic_chase_lev<lazy_task*, interrupting_orders>;
  static constexpr unsigned most_interrupted = 8;

  /// The part of a worker that other workers read.
  struct home {
    chase_lev<header*> deque;      // processes that became ready there
    steal_queue<header*> yielded;  // processes that let others go first
    lazy_deque lazy;               // reclaimed by the worker, unless a thief takes them
    std::atomic<std::uint64_t> run = 0, stolen = 0, parked = 0, woken = 0;  // written by the worker
  };

  /// Makes the process of `t` ready; null if its own thread will put it (WORKER-3).
  [[nodiscard]] static header* ready(thunk&& t, put_reason w) noexcept {
    header& at = header_of<header>(*t.get());
    at.answer = t.answer();
    (void)t.release();
    if (w != put_reason::woken)
      at.life.set_ready();
    else if (!at.life.wake())
      return nullptr;
    return &at;
  }
  [[nodiscard]] static thunk thunk_of(header& at) noexcept {
    return thunk(&process_behind(at), at.answer);
  }
  void list(process& p) noexcept {
    header& at = header_of<header>(p);
    at.listed = list_.add(p, at.life, at.steps);
  }
  void enter_global(header& p) noexcept {
    global_.push(p);
    idle_.wake_one();
  }
  /// For a worker that has announced that it sleeps (WORKER-2).  Work that is seen needs no fence.
  [[nodiscard]] bool all_are_empty() const noexcept {
    if (!all_look_empty()) return false;
    homes_[0].lazy.before_last_look();  // one fence for the deques of all workers (STEAL-7)
    return all_look_empty();
  }
  [[nodiscard]] bool all_look_empty() const noexcept {
    for (unsigned i = 0; i != count_; ++i)
      if (!homes_[i].deque.is_empty() || !homes_[i].yielded.is_empty() ||
          !homes_[i].lazy.is_empty())
        return false;
    return global_.is_empty();
  }

  options const options_;
  unsigned const count_;
  std::unique_ptr<home[]> homes_;
  detail::idle_threads idle_;
  detail::process_list list_;
  std::atomic<unsigned> looks_ = 0;  // counts recheck_deadlines()
  alignas(64) detail::global_queue<header> global_;
};

}  // namespace weft

#include "sched/backends/detail/stealing_worker.hpp"
