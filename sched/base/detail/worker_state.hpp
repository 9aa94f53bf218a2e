// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>

#include "effects/multi_resumption.hpp"
#include "sched/base/detail/program.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"

namespace weft::detail {

class scheduling_base;

/// What a thread has that runs processes of a scheduler: its own, read and written without
/// a thought.  When its threads have ended the scheduler reads them all.
struct desk {
  explicit desk(scheduling_base& s) noexcept : home(&s) {}
  desk(desk const&) = delete;
  desk& operator=(desk const&) = delete;

  scheduling_base* home;
  process* running = nullptr;
  std::int64_t alive = 0;        // processes that began here, less those that ended here
  std::int64_t unforkable = 0;   // the same, of those that cannot be run again
  bool stopped = false;          // the backend was
  std::uint8_t hand_overs = 0;   // in a row
  std::uint8_t until_clock = 0;  // so many steps until we look at it
  std::uint32_t until_asks = 0;  // the same, until all who wait may be asked again (CANCEL-7)
  std::exception_ptr broken;     // the backend could not say who is next
  replay_log no_log{0};          // of processes that keep none

  struct row_cache {
    row_info const* row = nullptr;
    void* evidence = nullptr;
  };
  row_cache last_row[2];    // loops spawn the same row again and again
  desk* outside = nullptr;  // of a scheduler round ours, on this thread

  /// Where this thread sits: null if its scheduler has one thread only.
  [[gnu::visibility("default")]] static inline thread_local constinit desk* of_thread = nullptr;
};

}  // namespace weft::detail
