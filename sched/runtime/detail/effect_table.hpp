// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <forward_list>
#include <memory_resource>
#include <mutex>
#include <vector>

#include "sched/base/detail/program.hpp"

/// Which handler stands for which effect, for the processes of a scheduler.
namespace weft::detail {

/// An effect, and the evidence for it: for processes that keep a log, and for others.
struct known_effect {
  type_identity const* effect;
  void* plain;
  void* recorded;
};

/// Learnt before processes run; thread safe after that.
class effect_table {
 public:
  void expect(std::size_t effects) { known_.reserve(effects); }
  void learn(known_effect e) { known_.push_back(e); }
  /// Of which the scheduler may have more, before processes run.
  [[nodiscard]] std::pmr::memory_resource* memory() noexcept { return &memory_; }

  [[nodiscard]] bool knows(type_identity const& effect) const noexcept { return find(effect); }
  /// Evidence for a row of effects that are all known.  Throws bad_alloc.
  [[gnu::noinline]] void* look_up(row_info const& row, bool recorded) {
    if (row.size == 0) return nullptr;
    if (row.size == 1) return one(*row.effects[0], recorded);
    return array_for(row, recorded).evidence;
  }
  /// The same, of processes that keep no log, for threads that have no place to note what they
  /// were told last.
  [[nodiscard]] void* look_up_outside(row_info const& row) {
    if (row.size < 2) return look_up(row, false);
    // [1] acquire: with [2].
    row_array const* last = last_outside_.load(std::memory_order_acquire);
    if (!last || last->row != &row) [[unlikely]] {
      last = &array_for(row, false);
      last_outside_.store(last, std::memory_order_release);  // [2] release: with [1]
    }
    return last->evidence;
  }

 private:
  struct row_array {
    row_info const* row;
    bool recorded;
    void** evidence;
  };

  /// Null if there is none.
  [[nodiscard]] known_effect const* find(type_identity const& effect) const noexcept {
    for (auto const& known : known_)
      if (known.effect == &effect) return &known;
    for (auto const& known : known_)  // of another module's row
      if (*known.effect == effect) return &known;
    return nullptr;
  }
  [[nodiscard]] void* one(type_identity const& effect, bool recorded) const noexcept {
    known_effect const& known = *find(effect);
    return recorded ? known.recorded : known.plain;
  }
  [[nodiscard]] row_array const& array_for(row_info const& row, bool recorded) {
    std::lock_guard const lock(mutex_);
    for (auto const& r : rows_)
      if (r.row == &row && r.recorded == recorded) return r;
    auto** const all = std::pmr::polymorphic_allocator<void*>(&memory_).allocate(row.size);
    for (std::size_t i = 0; i != row.size; ++i) all[i] = one(*row.effects[i], recorded);
    return rows_.emplace_front(row_array{&row, recorded, all});
  }

  // What a small program has fits in.
  std::byte room_[320];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  std::pmr::vector<known_effect> known_{&memory_};
  std::mutex mutex_;
  std::pmr::forward_list<row_array> rows_{&memory_};  // under mutex_; each stays where it is
  std::atomic<row_array const*> last_outside_ = nullptr;
};

}  // namespace weft::detail
