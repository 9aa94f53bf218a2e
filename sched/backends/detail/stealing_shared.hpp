// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "weft/deque/chase_lev.hpp"
#include "weft/deque/steal_queue.hpp"
#include "weft/effects/multi_resumption.hpp"
#include "weft/sched/backends/detail/global_queue.hpp"
#include "weft/sched/backends/detail/idle_threads.hpp"
#include "weft/sched/backends/detail/process_list.hpp"
#include "weft/sched/backends/detail/stealing_state.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process.hpp"

namespace weft {

/// The order in which a worker runs the processes that become ready on its own thread.
enum class local_order : std::uint8_t {
  lifo,  ///< First the process that became ready last: its data is in the cache.
  fifo   ///< First the process that has been ready longest.
};

/// How a program is run by threads that steal from each other.
struct stealing_options {
  /// How many threads, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // The next fields are those of schedule_options.
  std::optional<bool> forkable{};
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;
  weft::trace* trace = nullptr;

  /// The order in which a worker runs the processes that become ready on its own thread.
  local_order order = local_order::lifo;
  /// How many processes more a worker takes along when it takes one from the global queue: at most
  /// 32.
  unsigned batch = 16;
  /// A worker that finds nothing looks again, `looks` times at most, and then sleeps.  Before each
  /// of the first `spins` looks it makes a short pause, before the others it yields the processor.
  unsigned spins = 4;
  unsigned looks = 16;
  /// Whether the backend keeps a list of all processes, for processes().  With a list, starting,
  /// waiting and ending take a lock.
  bool keep_list = false;
};

/// Counts of a worker.
struct worker_counts {
  std::uint64_t run = 0;     ///< Steps of processes; a hand-over is a step of the receiver.
  std::uint64_t stolen = 0;  ///< Processes that the worker has stolen from others.
  std::uint64_t parked = 0;  ///< How often the worker has slept and woken up.
  std::uint64_t woken = 0;   ///< How often another thread, not the clock, woke the worker.
};

namespace detail {

/// The work-stealing backend's header of a process.
struct alignas(16) stealing_header {
  stealing_state_word life;
  std::atomic<std::uint32_t> steps = 0;  // written by the thread that owns the process
  std::uint64_t answer = 0;              // the answer to resume the process with
  stealing_header* next = nullptr;       // the next header in the list of the global queue
  listed_process* listed = nullptr;
};

/// The part of the work-stealing backend that all its workers use (stealing.hpp has the
/// invariants).
struct stealing_shared {
  using header = stealing_header;
  /// Almost all lazy tasks are reclaimed by their own worker, so the thief pays for the memory
  /// order: its half of an asymmetric fence interrupts all running threads.  With more than
  /// `most_interrupted` threads the thief interrupts none, and the worker pays as well: a theft
  /// might cost more than the worker saves (a guess).
  using lazy_deque = basic_chase_lev<lazy_task*, interrupting_orders>;
  static constexpr unsigned most_interrupted = 8;

  /// The part of a worker that other workers read.
  struct home {
    chase_lev<header*> deque;      // processes that became ready on this worker
    steal_queue<header*> yielded;  // processes that let others go first
    lazy_deque lazy;               // tasks that the worker reclaims, unless a thief takes them
    std::atomic<std::uint64_t> run = 0, stolen = 0, parked = 0, woken = 0;  // written by the worker
  };

  stealing_shared(stealing_options const& o, unsigned threads);
  stealing_shared(stealing_shared const&) = delete;
  stealing_shared& operator=(stealing_shared const&) = delete;
  ~stealing_shared();

  /// Makes the process of `t` ready, and returns its header, for the caller to put; null if the
  /// process's own thread will put it (WORKER-3).
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
  /// Adds a process that has just been started to the list, if processes are listed.
  void list_if_wanted(process& p) noexcept {
    if (options.keep_list) [[unlikely]]
      add_to_list(p);
  }
  void enter_global(header& p) noexcept {
    global.push(p);
    idle.wake_one();
  }
  /// Whether there is no work anywhere.  For a worker that has announced that it sleeps (WORKER-2).
  /// Looks twice, with a fence in between; the fence is not needed if the first look finds work.
  [[nodiscard]] bool all_are_empty() const noexcept;
  [[nodiscard]] bool all_look_empty() const noexcept;
  void add_to_list(process& p) noexcept;

  stealing_options const options;
  unsigned const count;
  std::unique_ptr<home[]> homes;
  idle_threads idle;
  process_list list;
  std::atomic<unsigned> rechecks = 0;  // how often recheck_deadlines() was called
  alignas(64) global_queue<header> global;
};

}  // namespace detail
}  // namespace weft
