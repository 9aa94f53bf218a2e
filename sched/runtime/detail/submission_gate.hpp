// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "sched/base/detail/relax.hpp"
#include "sched/base/errors.hpp"

namespace weft::detail {

class scheduling_outside;

/// Where processes come in from outside.  Outlives the scheduler, for those who come late.
///
///   SUBMIT-1  One word says how many have come in, and whether it is closed.  To come in is one atomic
///       step on it; who finds it closed has not come in.
///   SUBMIT-2  Who has come in puts his process, and then says that he has arrived; in between he is
///       under way.  While it is open he has a submitter, so the run goes on (SUBMIT-3).  Once it is
///       closed, who asks whether something is due waits until all who have come in have arrived:
///       they want nothing that he has.  So each of them has put before he looks at what is ready.
///   SUBMIT-3  As long as there is a submitter, and it is open, something is due.  The last one that goes
///       has an errand put in the same step, under `mutex_`, as seen by who asks: so he asks again.
///   SUBMIT-4  Errands are small processes of the library's own, put from outside under `mutex_` while
///       the run takes them.  It takes none any more, in one step under `mutex_`, when it finds
///       none left, and no submitter.
///   SUBMIT-5  It is closed for good: when a process fails, when all are to end, when the run is over,
///       and by the end of the scheduler, which waits as in SUBMIT-2 before it goes.
class entrance {
 public:
  entrance() = default;
  entrance(entrance const&) = delete;
  entrance& operator=(entrance const&) = delete;

  /// Which one comes in, from 1; 0 if it is closed.  Lock-free.
  [[nodiscard]] std::uint64_t enter() noexcept {
    // Relaxed: most of those who come too late are sent away here, and disturb nobody.
    if (word_.load(std::memory_order_relaxed) & closed) return 0;
    // Relaxed: all that it is to order is whether it was closed before.  What is read inside was
    // written before there was a submitter, and stays until all have arrived [1].
    std::uint64_t const before = word_.fetch_add(1, std::memory_order_relaxed);
    if ((before & closed) == 0) return before + 1;
    word_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: nothing was done
    return 0;
  }
  void arrive(bool is_born) noexcept {
    if (!is_born) not_born_.fetch_add(1, std::memory_order_relaxed);  // relaxed: with [1]
    // [1] release: who finds that all have arrived [2] finds what they have put.
    arrived_.fetch_add(1, std::memory_order_release);
  }
  void close() noexcept {
    // [3] release: who finds it closed [4] finds what was said before.
    word_.fetch_or(closed, std::memory_order_release);
  }
  [[nodiscard]] bool is_closed() const noexcept {
    return (word_.load(std::memory_order_acquire) & closed) != 0;  // [4] acquire: with [3]
  }
  /// SUBMIT-2.  It is closed.
  void wait_for_those_under_way() const noexcept {
    // [2] acquire: with [1].  Relaxed: who is too late comes and goes, and none comes to stay.
    for (relax wait; (word_.load(std::memory_order_relaxed) & ~closed) !=
                     arrived_.load(std::memory_order_acquire);)
      wait();
  }
  /// How many processes have begun here, submitted and errands.  While nobody comes.
  [[nodiscard]] std::int64_t born() const noexcept {
    // Relaxed: nobody comes.
    return static_cast<std::int64_t>(arrived_.load(std::memory_order_relaxed)) -
           static_cast<std::int64_t>(not_born_.load(std::memory_order_relaxed)) +
           static_cast<std::int64_t>(errands_sent);
  }

  /// A submitter goes (SUBMIT-3).
  inline void leave() noexcept;

  // ---- the scheduler's, and SUBMIT-3's

  std::mutex mutex;
  std::condition_variable changed;  // is_running, to false
  // Under the mutex:
  scheduling_outside* home = nullptr;  // while there is one
  bool is_running = false;
  bool takes_errands = false;  // SUBMIT-4
  std::size_t submitters = 0;  // SUBMIT-3
  std::uint64_t errands_sent = 0;
  // Written under it, but not when one has gone.
  std::atomic<std::size_t> errands_left = 0;

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63;

  alignas(64) std::atomic<std::uint64_t> word_ = 0;  // SUBMIT-1
  std::atomic<std::uint64_t> arrived_ = 0;           // SUBMIT-2
  std::atomic<std::uint64_t> not_born_ = 0;          // of those: they were let in, and it threw
};

/// Somebody has come in, and is under way.
class coming_in {
 public:
  /// Throws scheduler_stopped.
  explicit coming_in(entrance& e) : at_(e), number_(e.enter()) {
    if (number_ == 0) [[unlikely]]
      throw scheduler_stopped();
  }
  coming_in(coming_in const&) = delete;
  coming_in& operator=(coming_in const&) = delete;
  ~coming_in() { at_.arrive(is_born_); }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Its process is put.
  void mark_started() noexcept { is_born_ = true; }

 private:
  entrance& at_;
  std::uint64_t number_;
  bool is_born_ = false;
};

}  // namespace weft::detail
