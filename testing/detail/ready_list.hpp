// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

/// The ready processes of a run.  controlled_backend.hpp keeps them in the order of their ids.  The
/// list has room at both ends: an insertion or a removal moves the processes on the nearer side, if
/// there is room.  So both are O(1) at the ends, and O(n) in the middle.  Allocates while it grows.
class ready_list {
 public:
  /// The contents of a thunk (a process and its answer), and the id, so that a comparison of ids
  /// does not read the process.  The list owns a count of the process, unless `who` is null.
  struct slot {
    process_id id;
    process* who = nullptr;
    std::uint64_t answer = 0;
  };

  ready_list() = default;
  ready_list(ready_list&& other) noexcept { swap(other); }
  ready_list& operator=(ready_list other) noexcept {
    swap(other);
    return *this;
  }
  ~ready_list() { clear(); }
  void swap(ready_list& other) noexcept {
    room_.swap(other.room_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] slot const& operator[](std::size_t i) const noexcept { return first_[i]; }
  /// Takes the process out of its slot, which stays.
  [[nodiscard]] thunk take(std::size_t i) noexcept {
    return thunk(std::exchange(first_[i].who, nullptr), first_[i].answer);
  }
  /// Fills a slot that has no process.
  void fill(std::size_t i, process_id id, thunk&& t) noexcept {
    first_[i] = {id, t.get(), t.answer()};
    (void)t.release();
  }
  /// Inserts a process.  If it throws bad_alloc, `t` is unchanged.
  void insert(std::size_t at, process_id id, thunk&& t) {
    if (first_ + size_ == room_.data() + room_.size()) [[unlikely]]
      make_room();
    if (at == size_) {  // the usual place of a new process: nothing is moved
    } else if (at < size_ / 2 && first_ != room_.data()) {
      std::copy(first_, first_ + at, first_ - 1);
      --first_;
    } else {
      std::copy_backward(first_ + at, first_ + size_, first_ + size_ + 1);
    }
    ++size_;
    fill(at, id, std::move(t));
  }
  /// Removes a slot that has no process.
  void erase(std::size_t at) noexcept {
    if (at < size_ / 2) {
      std::copy_backward(first_, first_ + at, first_ + at + 1);
      ++first_;
    } else {
      std::copy(first_ + at + 1, first_ + size_, first_ + at);
    }
    if (--size_ == 0) first_ = room_.data();
  }
  /// Where a process with that id is inserted: behind all processes with an id up to that one.
  /// O(log n); O(1) if the place is the end.
  [[nodiscard]] std::size_t place_of(process_id id) const noexcept {
    if (size_ == 0 || first_[size_ - 1].id <= id) return size_;
    auto const* const at =
        std::upper_bound(first_, first_ + size_, id,
                         [](process_id of, slot const& s) noexcept { return of < s.id; });
    return static_cast<std::size_t>(at - first_);
  }
  void clear() noexcept {
    for (std::size_t i = 0; i != size_; ++i) (void)take(i);
    first_ = room_.data();
    size_ = 0;
  }

 private:
  /// Makes room at the end: moves the processes to the front, if they leave much of the room free
  /// there, or else into a larger room.
  void make_room();

  std::vector<slot> room_;
  slot* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::detail
