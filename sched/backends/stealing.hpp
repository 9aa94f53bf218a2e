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

/// In which order a worker runs what becomes ready on its own thread.
enum class local_order : std::uint8_t {
  lifo,  ///< What became ready last, whose data is in the cache still.
  fifo   ///< What waits longest.
};

/// How a program is run by threads that steal from each other.
struct stealing_options {
  /// How many, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // As in schedule_options.
  bool forkable = true;
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;

  local_order order = local_order::lifo;
  /// How many more a worker takes along when it takes one from the global queue: 32 at the most.
  unsigned batch = 16;
  /// A worker that finds nothing looks again at once so many times; then after it has let other
  /// threads have the processor, until it has looked so many times in all; then it sleeps.
  unsigned spins = 4;
  unsigned looks = 16;
  /// Whether there is a list of all processes, for processes(): to be born, to wait and to end take
  /// a lock then.
  bool keep_list = false;
};

/// What a worker has done so far.
struct worker_counts {
  std::uint64_t run = 0;     ///< Steps of processes; one that is handed over to takes one as well.
  std::uint64_t stolen = 0;  ///< Processes that it has stolen from other workers.
  std::uint64_t parked = 0;  ///< How often it has slept, and does so no more.
  std::uint64_t woken = 0;   ///< How often it was woken from that: not by the clock.
};

/// The work-stealing backend of seed 004: several threads, each with work of its own.
///
///     schedule<stealing>({.threads = 2}, program, handlers...);
///
/// What becomes ready on a thread goes to its own deque, and comes back last in, first out; what is
/// put from outside to the global queue.  A worker runs what is in its deque; then what has
/// yielded; then it takes from the global queue, one and up to 16 more; and then it steals half of
/// what another has, of a random one: of what has yielded there, at most 32, else of its deque, at
/// most 256.  When there is nothing anywhere it looks a few times more and then sleeps, until
/// somebody has work to share.  A process that yields goes to a queue of its own kind, first in,
/// first out, which is stolen from as well: in the deque it would come straight back.  So does one
/// that is spawned while 128 are in the deque (WORKER-4).
///
/// Fairness.  Every 64th step (a step, and what is handed over in it, up to 64 times) a worker
/// takes what has waited longest, by turns: in the global queue, among those that have yielded, in
/// its deque, of what it offers, with the next one of the other workers.  So what is in one of its
/// own three behind k others has its turn, or has been stolen, within 320 * (k + 1) of the worker's
/// steps; what is in the global queue behind k others has its turn within 320 * (k + 1) steps of
/// any one worker, or has been taken along by then, and is in a deque in which fewer than 32 others
/// have been longer; and what is ready at a thread that is stuck in a process, behind k others in
/// its deque, or behind k that have yielded, or that it offers, has its turn within 960 * (n - 1) *
/// (k + 1) steps of any other one, n being the number of threads, or has been stolen by then.
///
/// Every 16384 spawns of a thread who spawns lets others go first, if as many are ready there: so
/// what one process makes does not fill the memory before anybody has had a look at it.
///
/// Not deterministic, except with one thread.  It allocates where a deque grows; if there is no
/// memory for that, what would go there goes to the global queue.  A process is 32 bytes larger.
///
/// Source: seed 004, its steal put right as docs/decisions/011-stealing-half.md says; the deque is
/// that of Chase and Lev (deque/chase_lev.hpp).
///
///   WORKER-1  A process that is ready stands in one place: a deque, a queue, or the global queue.  Who
///       takes it out has it (STEAL-5 and STEAL-6 of the deques; GLOBAL-1 and GLOBAL-3 of the global queue).
///   WORKER-2  What is put is published, and then its thread looks whether somebody sleeps; who goes to
///       sleep announces it, and then looks everywhere (idle_threads.hpp, IDLE-2; publish() of the
///       deques, STEAL-7 of those of offers, GLOBAL-2 of the global queue).  Not so what its thread is about
///       to take itself: a yield while nothing else is there, of which it speaks if it takes
///       something else first; and what is put behind a hand-over, if somebody is on watch (IDLE-5).
///   WORKER-3  A process that is about to wait is woken by a flag (stealing_state.hpp): nobody waits for it.
///   WORKER-4  Of a deque thieves take one by one, each time looking at what its owner is writing to; of
///       the other queue many at once.  So what a process spawns beyond what its thread does next
///       goes there, and thieves look there first.
class stealing {
 public:
  static constexpr unsigned wakes = 1;
  using options = stealing_options;

  /// What a process has of us.
  struct alignas(16) header {
    stealing_state_word life;
    std::atomic<std::uint32_t> steps = 0;  // written by who has it
    std::uint64_t answer = 0;              // that it is to go on with
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

  /// From anywhere: into the global queue.
  void put(thunk&& t, put_reason w) noexcept {
    if (w == put_reason::started && options_.keep_list) [[unlikely]]
      list(*t.get());
    if (header* const p = ready(std::move(t), w)) enter_global(*p);
  }
  /// Always no.  It would have to look for it in the middle of a deque.
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() noexcept { idle_.stop(); }
  /// Those who sleep are to look until when: all of them, as any may be the last that has time to.
  void recheck_deadlines() noexcept {
    // [1] seq_cst: published, and then we look who sleeps (idle_threads.hpp, IDLE-2).
    looks_.fetch_add(1, std::memory_order_seq_cst);
    idle_.wake_all();
  }

  /// It is over, and about to be no more.
  void on_end(process& p) noexcept {
    header& at = header_of<header>(p);
    if (at.listed) [[unlikely]]
      list_.remove(at.listed);
    at.life.move(stealing_state::complete);
  }

  /// What the worker has done so far.  O(1); from any thread, also while processes run: each number
  /// is right, at about this time.  Throws std::out_of_range if there are not so many workers.
  [[nodiscard]] worker_counts counts(unsigned index) const {
    if (index >= count_) throw std::out_of_range("weft: there is no such worker");
    home const& h = homes_[index];
    // Relaxed, all of them: numbers.
    return {h.run.load(std::memory_order_relaxed), h.stolen.load(std::memory_order_relaxed),
            h.parked.load(std::memory_order_relaxed), h.woken.load(std::memory_order_relaxed)};
  }
  /// Of each process there is: how far it is, and what it waits for, where.  In the order of their
  /// ids.  O(n log n); from any thread, also while processes run, which goes on meanwhile, except
  /// that nobody is born or dies: so a process may be past what is said of it.  Throws
  /// std::logic_error unless the options say `.keep_list = true`.
  [[nodiscard]] std::vector<process_report> processes() const {
    if (!options_.keep_list)
      throw std::logic_error("weft: stealing lists its processes if .keep_list = true says so");
    return list_.report();
  }

 private:
  /// Offers are taken back where they were made, all but a few.  Who steals one interrupts all
  /// threads that run: up to so many (a guess: with more, thefts may cost more than they save).
  using lazy_deque = basic_chase_lev<lazy_task*, interrupting_orders>;
  static constexpr unsigned most_interrupted = 8;

  /// What a worker has, and others look at.
  struct home {
    chase_lev<header*> deque;      // what has become ready there
    steal_queue<header*> yielded;  // what has let others go first
    lazy_deque lazy;               // what it will do itself, unless another takes it
    std::atomic<std::uint64_t> run = 0, stolen = 0, parked = 0, woken = 0;  // the worker's
  };

  /// Ready, unless its thread is to put it (WORKER-3).
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
  /// For who has announced that it sleeps (WORKER-2).  What is seen to be there needs no fence.
  [[nodiscard]] bool all_are_empty() const noexcept {
    if (!all_look_empty()) return false;
    homes_[0].lazy.before_last_look();  // the same fence for those of all (STEAL-7)
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
  std::atomic<unsigned> looks_ = 0;  // how often all were told to look again
  alignas(64) detail::global_queue<header> global_;
};

}  // namespace weft

#include "sched/backends/detail/stealing_worker.hpp"
