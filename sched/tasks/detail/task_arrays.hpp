// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/tasks/detail/task.hpp"

/// Storage for several tasks of one type, and for their answers.  The tasks are destroyed first, as
/// they refer to the answers.
namespace weft::detail {

/// Storage for `N` tasks with a value of type `T`, and for the values: in the awaiting frame.
template <class T, std::size_t N>
class inline_task_array {
 public:
  static constexpr bool may_be_none = N == 0;

  explicit inline_task_array(std::size_t) noexcept {}
  inline_task_array(inline_task_array const&) = delete;
  inline_task_array& operator=(inline_task_array const&) = delete;
  ~inline_task_array() { std::destroy_n(tasks(), count_); }
  void make(std::size_t i, join& j, std::coroutine_handle<> f) noexcept {
    std::construct_at(tasks() + i, j, f, answers_[i]);
  }
  /// Notes that the first `n` tasks have been made.
  void has(std::size_t n) noexcept { count_ = n; }
  [[nodiscard]] task* tasks() noexcept { return reinterpret_cast<task*>(tasks_); }
  [[nodiscard]] result_slot<T>* answers() noexcept { return answers_.data(); }
  auto take_all() {
    return [this]<std::size_t... Is>(std::index_sequence<Is...>) {
      return std::array<T, N>{answers_[Is].take_value()...};
    }(std::make_index_sequence<N>());
  }
  /// Called when the values have been taken: the tasks, which have ended, are not destroyed any
  /// more.
  void let_go() noexcept { count_ = 0; }

 private:
  std::array<result_slot<T>, N> answers_;
  alignas(task) std::byte tasks_[std::max<std::size_t>(N, 1) * sizeof(task)];
  std::size_t count_ = 0;
};

/// Storage for `n` tasks: one block, from the frames' pool if it is small.
template <class T>
class heap_task_array {
 public:
  static constexpr bool may_be_none = true;

  explicit heap_task_array(std::size_t n) : size_(n) {
    if (n > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("weft: too many tasks for one when_all");
    if (n == 0) return;
    block_ = frames.take(bytes());
    std::uninitialized_default_construct_n(answers(), n);
  }
  heap_task_array(heap_task_array const&) = delete;
  heap_task_array& operator=(heap_task_array const&) = delete;
  ~heap_task_array() {
    if (!block_) return;
    std::destroy_n(tasks(), count_);
    std::destroy_n(answers(), size_);
    frames.give(block_, bytes());
  }
  void make(std::size_t i, join& j, std::coroutine_handle<> f) noexcept {
    std::construct_at(tasks() + i, j, f, answers()[i]);
  }
  void has(std::size_t n) noexcept { count_ = n; }
  [[nodiscard]] result_slot<T>* answers() noexcept { return static_cast<result_slot<T>*>(block_); }
  [[nodiscard]] task* tasks() noexcept {
    return reinterpret_cast<task*>(static_cast<std::byte*>(block_) + behind_answers());
  }
  auto take_all() {
    std::vector<T> all;
    all.reserve(size_);
    for (std::size_t i = 0; i != size_; ++i) all.push_back(answers()[i].take_value());
    return all;
  }
  void let_go() noexcept {
    count_ = 0;
    if constexpr (std::is_trivially_destructible_v<kept<T>>)
      if (block_) frames.give(std::exchange(block_, nullptr), bytes());
  }

 private:
  static_assert(alignof(result_slot<T>) % alignof(task) == 0, "so the tasks may stand behind them");

  [[nodiscard]] std::size_t behind_answers() const noexcept {
    return size_ * sizeof(result_slot<T>);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return behind_answers() + size_ * sizeof(task);
  }

  std::size_t const size_;
  std::size_t count_ = 0;  // the tasks that were made
  void* block_ = nullptr;
};

}  // namespace weft::detail
