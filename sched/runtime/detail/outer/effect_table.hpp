// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <vector>

#include "weft/sched/base/detail/program.hpp"

/// The table from effects to evidence, for the processes of a scheduler.
namespace weft::detail {

/// An effect, and the evidence for it: for processes that keep a log, and for others.
struct known_effect {
  type_identity const* effect;
  void* plain;
  void* recorded;
};

/// The table.  It is filled before processes run, and is thread safe after that.
class effect_table {
 public:
  /// Makes room for that many effects.  Throws bad_alloc, as learn() does.
  void expect(std::size_t effects);
  void learn(known_effect e);
  /// The memory from which the table allocates.
  [[nodiscard]] std::pmr::memory_resource* memory() noexcept { return &memory_; }

  [[nodiscard]] bool knows(type_identity const& effect) const noexcept;
  /// Evidence for a row of effects that are all known.  Throws bad_alloc.
  void* look_up(row_info const& row, bool recorded);
  /// Looks up evidence for a process without a log, on a thread that has no row cache
  /// (worker_state.hpp): remembers the array of the last row.
  [[nodiscard]] void* look_up_outside(row_info const& row) {
    if (row.size < 2) return look_up(row, false);
    // [1] acquire: pairs with [2], so that the array is seen complete.
    row_array const* last = last_outside_.load(std::memory_order_acquire);
    if (!last || last->row != &row) [[unlikely]] {
      last = &array_for(row, false);
      last_outside_.store(last, std::memory_order_release);  // [2] release: pairs with [1]
    }
    return last->evidence;
  }

 private:
  /// The evidence for one row.  Lies in `memory_`, which frees it.
  struct row_array {
    row_info const* row;
    bool recorded;
    void** evidence;
    row_array* next;
  };

  /// Null if the effect is not known.
  [[nodiscard]] known_effect const* find(type_identity const& effect) const noexcept;
  [[nodiscard]] void* one(type_identity const& effect, bool recorded) const noexcept;
  [[nodiscard]] row_array const& array_for(row_info const& row, bool recorded);

  // The first memory of the table: enough for a small program.
  std::byte room_[320];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  std::pmr::vector<known_effect> known_{&memory_};
  std::mutex mutex_;
  row_array* rows_ = nullptr;  // a list, under mutex_; elements never move
  std::atomic<row_array const*> last_outside_ = nullptr;
};

}  // namespace weft::detail
