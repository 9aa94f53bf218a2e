// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "effects/multi_resumption.hpp"
#include "sched/backend.hpp"
#include "sched/detail/idle_threads.hpp"
#include "sched/detail/relax.hpp"
#include "sched/process.hpp"
#include "sched/thread_queue.hpp"

namespace weft {

/// How a program is run by several threads that share its work.
struct sharing_options {
  /// How many, the calling one included; 0: as many as the machine has.
  unsigned threads = 0;
  // As in schedule_options.
  bool forkable = true;
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  full when_full = full::fail;
};

/// The work-sharing backend of seeds 000 and 001: several threads, a queue for each.
///
///     schedule<sharing>({.threads = 2}, program, handlers...);
///
/// A thread runs what stands in its own queue, the longest waiting first; what becomes ready there
/// goes to its end.  One whose queue is empty takes from another's, half of it, at most 256, in one
/// visit: so that one visit pays for many; when there is nothing anywhere it looks for a few
/// microseconds longer, if another thread is awake, who may make some, and then sleeps, until
/// somebody has work to share.
///
/// Fairness.  Who moves loses no place: what is taken from a queue is taken from its front, and
/// goes to the front of the other.  Those who stand there have at most 31 more in front of them,
/// and only of those that were put there, not of those that have moved there, and once: see F2.
/// Every thread takes from the others in turn, every 256 steps at the latest, at least one process
/// if there is one.  So one that has become ready behind k others, at a thread that is stuck in a
/// process that never lets go, runs before any other thread has taken 256 * (n - 1) * (k + 1) more
/// steps, n being the number of threads; at one that takes steps too and is stuck later,
/// 256 * (n - 1) * (k + 256).  Not counted is what others take while the system lets a thread wait
/// that is at work on a queue.  A step and the hand-overs that follow it, at most 64, are one.
///
/// Every 16384 spawns of a thread who spawns lets others go first, if as many are ready there: so
/// what one process makes does not fill the memory before anybody has had a look at it.
///
/// Not deterministic.  With one thread it is, and is one_thread, at up to twice the price.
///
/// It allocates nothing for put and take: the list goes through the processes, of which each is 48
/// bytes larger.  Source: seed 000, corrected as chapter 9 says; docs/models verifies it.
///
///   A1  What a worker puts goes to its own queue; if somebody works on that, to another one, so
///       that nobody waits for who takes a whole batch.  After that it looks whether somebody
///       sleeps (idle_threads.hpp, I2), but not after a yield into its own queue when that is
///       empty: it is about to take that one back itself.  Nor after a hand-over, if one of those
///       who sleep looks every 10 milliseconds as long as there are any (I5).
///   A2  Nobody holds two queues at once.
///   F1  Whoever looks at others looks at them in turn, and goes on where it took something last.
///   F2  Between two times that a thread takes from others, unless it had nothing, are 255 steps:
///       so those it has put in front of its queue have run by then, or have moved on, to an
///       earlier place.
class sharing {
 public:
  static constexpr unsigned wakes = 1;
  using options = sharing_options;

  /// What a process has of us.
  struct alignas(16) place : queue_entry {
    std::uint64_t answer = 0;  // that it is to go on with
  };

  class worker;

  sharing() : sharing(options()) {}
  explicit sharing(options const& o)
      : count_(o.threads ? o.threads : std::max(1U, std::thread::hardware_concurrency())),
        queues_(std::make_unique<queue[]>(count_)),
        idle_(count_) {}
  sharing(sharing const&) = delete;
  sharing& operator=(sharing const&) = delete;
  ~sharing() {
    for (unsigned i = 0; i != count_; ++i)
      for (auto f = queues_[i].try_dequeue(); !f.is_empty(); f = queues_[i].try_dequeue())
        (void)thunk_of(f.entry());
  }

  [[nodiscard]] unsigned threads() const noexcept { return count_; }

  /// From anywhere: into the queues in turn.
  void put(thunk&& t, why w) noexcept {
    queue_entry& e = entry_of(std::move(t), w);
    // Relaxed: any number will do.
    (void)enter(e, next_.fetch_add(1, std::memory_order_relaxed) % count_);
    idle_.wake_one();
  }
  /// O(1).  Says no also if somebody is at work on the queue.
  thunk claim(process* p) noexcept {
    queue_entry& e = process_place<place>(*p);
    // Relaxed: a hint, the queue makes sure.
    auto const* const at = static_cast<queue const*>(e.owner.load(std::memory_order_relaxed));
    if (at && const_cast<queue*>(at)->try_dequeue_entry(e) == thread_queue::removal::removed)
      return thunk_of(e);
    return thunk::nothing::dry;
  }
  void stop() noexcept { idle_.stop(); }

  /// Those who sleep are to look until when: all of them, as any may be the last that has time to.
  void look_again() noexcept {
    // [1] seq_cst: published, and then we look who sleeps (idle_threads.hpp, I2).
    looks_.fetch_add(1, std::memory_order_seq_cst);
    idle_.wake_all();
  }

 private:
  /// A cache line of its own, which two threads do not share by chance.
  struct alignas(64) queue : thread_queue {};

  static void move(process& p, process_state to) noexcept {
    process_place<place>(p).state.move(to);
  }
  /// Ready.  One that is about to wait is so once it waits.
  [[nodiscard]] static queue_entry& entry_of(thunk&& t, why w) noexcept {
    auto& at = process_place<place>(*t.get());
    at.answer = t.answer();
    (void)t.release();
    if (w == why::yielded || w == why::handed_over || !at.state.wake(process_state::queued))
      at.state.move(process_state::queued);
    return at;
  }
  [[nodiscard]] static thunk thunk_of(queue_entry& e) noexcept {
    auto& at = static_cast<place&>(e);
    return thunk(&process_at(at), at.answer);
  }

  /// At the end of that queue; if somebody works on it, of the next that nobody works on.  Whether
  /// that one was the first, and empty.
  bool enter(queue_entry& e, unsigned first) noexcept {
    for (detail::relax wait;; wait())
      for (unsigned i = 0; i != count_; ++i) {
        auto const entered = queues_[(first + i) % count_].try_enqueue(e);
        if (entered != thread_queue::entered::locked)
          return i == 0 && entered == thread_queue::entered::was_empty;
      }
  }
  [[nodiscard]] bool all_are_empty() const noexcept {
    for (unsigned i = 0; i != count_; ++i)
      if (!queues_[i].is_empty()) return false;
    return true;
  }

  unsigned count_;
  std::unique_ptr<queue[]> queues_;
  detail::idle_threads idle_;
  std::atomic<unsigned> looks_ = 0;  // how often all were told to look again
  alignas(64) std::atomic<unsigned> next_ = 0;
};

/// A thread's end.
class sharing::worker {
 public:
  worker(sharing& home, unsigned index) noexcept
      : home_(home), own_(home.queues_[index]), index_(index), visits_(index) {
    home_.idle_.join();
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker() { home_.idle_.leave(); }

  void put(thunk&& t, why w) noexcept {
    bool const was_alone = home_.enter(entry_of(std::move(t), w), index_);
    // A1.
    if (w == why::handed_over && was_alone) return home_.idle_.have_watched();
    if (w != why::yielded || !was_alone) home_.idle_.wake_one();
  }

  // ---- of a process that runs here (R4 of waiting_room.hpp)

  void is_about_to_wait(process& p) noexcept { move(p, process_state::yielding); }
  void waits(process& p, waiting_for) noexcept { move(p, process_state::sleeping); }
  void goes_on(process& p) noexcept { move(p, process_state::running); }
  /// It waits, and is to run at once, on this thread.
  void runs_next(process& p) noexcept {
    (void)process_place<place>(p).state.wake(process_state::running);
  }

  /// So much is ready that who makes more is to wait its turn.
  [[nodiscard]] bool is_crowded() noexcept {
    if (++spawned_ < most_ready) return false;
    spawned_ = 0;  // the next as many need not wait, whatever there is: so it comes forward
    return own_.length() >= most_ready;
  }
  /// Not while somebody sleeps, who may have to be told; and not when it is time for a visit.
  [[nodiscard]] bool can_exchange() const noexcept {
    return until_visit_ != 0 && home_.idle_.nobody_sleeps();
  }
  [[gnu::always_inline]] thunk exchange(thunk t) noexcept {
    --until_visit_;
    queue_entry& e = entry_of(std::move(t), why::yielded);
    auto found = own_.try_exchange(e);
    for (detail::relax wait; found.is_locked(); found = own_.try_exchange(e)) wait();
    return thunk_of(found.entry());
  }

  /// Parks when there is nothing to do.
  thunk take(instant until, dry_test dry) {
    for (;;) {
      if (home_.idle_.is_over()) return home_.idle_.why_over();
      if (queue_entry* const e = find()) return thunk_of(*e);
      if (unsigned const told = looks(); told != looked_) {
        looked_ = told;
        return thunk::nothing::deadline;
      }
      auto const nothing_new = [this] { return home_.all_are_empty() && looks() == looked_; };
      using slept = detail::idle_threads::slept;
      if (home_.idle_.sleep(index_, until, dry, nothing_new) == slept::until_deadline)
        return thunk::nothing::deadline;
    }
  }

 private:
  static constexpr unsigned steps_to_visit = 256;
  static constexpr unsigned most_shared = 32;
  static constexpr unsigned most_stolen = 256;
  static constexpr unsigned most_ready = 16'384;
  static constexpr unsigned most_looks = 50;
  static constexpr unsigned looks_apart = 8;

  [[nodiscard]] unsigned looks() const noexcept {
    return home_.looks_.load(std::memory_order_seq_cst);  // seq_cst: with [1], after we announced
  }
  queue_entry* find() noexcept;
  queue_entry* visit(bool& was_locked) noexcept;
  queue_entry* share(queue& from, bool& was_locked) noexcept;

  sharing& home_;
  queue& own_;
  unsigned index_;
  unsigned looked_ = 0;                        // of `looks_`
  unsigned spawned_ = 0;                       // since somebody was asked to wait
  unsigned visits_;                            // whom we looked at last
  unsigned until_visit_ = steps_to_visit - 1;  // how many steps
};

/// Somebody who is ready; null if after some looking nobody is.
inline queue_entry* sharing::worker::find() noexcept {
  bool was_locked = false;
  if (until_visit_ == 0)
    if (queue_entry* const e = visit(was_locked)) return e;
  --until_visit_;
  for (unsigned looks = 0;; ++looks) {
    auto const found = own_.try_dequeue();
    was_locked = found.is_locked();
    if (!was_locked && !found.is_empty()) return &found.entry();
    for (unsigned i = 1; i != home_.count_; ++i)
      if (queue_entry* const e = visit(was_locked)) return e;
    if (!was_locked && (looks >= most_looks || home_.idle_.all_others_sleep())) return nullptr;
    detail::pause_for(looks_apart);
  }
}

/// The next one in turn (F1) shares with us, whatever we have.
inline queue_entry* sharing::worker::visit(bool& was_locked) noexcept {
  until_visit_ = steps_to_visit - 1;  // F2
  visits_ = (visits_ + 1) % home_.count_;
  if (visits_ == index_) visits_ = (visits_ + 1) % home_.count_;
  if (visits_ == index_) return nullptr;  // we are alone
  return share(home_.queues_[visits_], was_locked);
}

/// Half of what it has more than we have; one at least.  The first of them is to run.
inline queue_entry* sharing::worker::share(queue& from, bool& was_locked) noexcept {
  unsigned const theirs = from.length();
  unsigned const ours = own_.length();
  unsigned const most = ours == 0 ? most_stolen : most_shared;
  entry_chain chain;
  was_locked |= !from.try_share(std::clamp((theirs - std::min(theirs, ours)) / 2, 1U, most), chain);
  if (chain.length == 0) return nullptr;
  queue_entry& first = chain.pop();
  first.state.move(process_state::running);
  if (chain.length != 0)
    for (detail::relax wait; !own_.try_prepend(chain);) wait();
  // Also for what we have put without a word, and do not take back now (A1).
  if (!own_.is_empty()) home_.idle_.wake_one();
  return &first;
}

static_assert(concurrent<sharing> && exchanging<sharing> && with_options<sharing>);

}  // namespace weft
