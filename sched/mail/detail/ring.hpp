// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

namespace weft::detail {

/// A queue of values, first in, first out, in an array that grows.  Not synchronized.
///
/// O(1), amortized.  Allocates when it grows, to twice its length; it never shrinks.
template <class T>
class ring {
 public:
  ring() = default;
  ring(ring const&) = delete;
  ring& operator=(ring const&) = delete;
  ~ring() {
    clear();
    if (cells_) std::allocator<T>().deallocate(cells_, mask_ + 1);
  }

  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  /// If it throws bad_alloc, nothing has happened.
  void push(T&& v) {
    if (!cells_ || size() > mask_) [[unlikely]]
      grow();
    std::construct_at(cells_ + (end_ & mask_), std::move(v));
    ++end_;
  }
  /// The oldest value; the ring must not be empty.
  [[nodiscard]] T& front() noexcept {
    assert(size() != 0);
    return cells_[begin_ & mask_];
  }
  void pop() noexcept {
    std::destroy_at(&front());
    ++begin_;
  }
  void clear() noexcept {
    while (size() != 0) pop();
  }

 private:
  static constexpr std::size_t first_length = 8;

  [[gnu::noinline]] void grow() {
    std::size_t const n = cells_ ? 2 * (mask_ + 1) : first_length;
    T* const cells = std::allocator<T>().allocate(n);
    std::size_t const count = size();
    for (std::size_t i = 0; i != count; ++i) {
      std::construct_at(cells + i, std::move(front()));
      pop();
    }
    if (cells_) std::allocator<T>().deallocate(cells_, mask_ + 1);
    cells_ = cells;
    mask_ = n - 1;
    begin_ = 0;
    end_ = count;
  }

  T* cells_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t begin_ = 0;  // increases until the ring grows, like end_; the cell is begin_ & mask_
  std::size_t end_ = 0;
};

}  // namespace weft::detail
