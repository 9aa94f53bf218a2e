// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Containers that keep their memory from run to run, so that a search allocates only while its
/// runs get longer.
namespace weft::detail {

/// A stack that keeps popped elements, with the memory that they have allocated, for later pushes.
template <class T>
class reused_stack {
 public:
  /// Makes room for `n` elements.
  void reserve(std::size_t n) { all_.reserve(n); }
  /// Returns the new top: a new element, or one that was popped, as it was then.
  T& push() {
    if (size_ == all_.size()) [[unlikely]]
      grow();
    return all_[size_++];
  }
  void pop() noexcept { --size_; }
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& back() noexcept { return all_[size_ - 1]; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return all_[i]; }
  [[nodiscard]] T const& operator[](std::size_t i) const noexcept { return all_[i]; }

 private:
  [[gnu::noinline]] void grow() { all_.emplace_back(); }

  std::vector<T> all_;  // the first size_ are on the stack
  std::size_t size_ = 0;
};

/// A hash table from words to values.  clear() forgets all values at once.  Every operation is O(1)
/// on average.
template <class T>
class word_table {
 public:
  void clear() noexcept {
    size_ = 0;
    if (++round_ != 0) return;
    for (slot& s : slots_) s.round = 0;
    round_ = 1;
  }
  /// The value of the word; null if the word is not in the table.
  [[nodiscard]] T* find(std::uint64_t word) noexcept {
    if (size_ == 0) return nullptr;
    slot& s = slot_of(word);
    return s.round == round_ ? &s.value : nullptr;
  }
  /// Returns the value of the word, and whether it is new.  The reference is valid until the next
  /// call of enter().
  std::pair<T&, bool> enter(std::uint64_t word, T const& if_new) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    slot& s = slot_of(word);
    if (s.round == round_) return {s.value, false};
    ++size_;
    s = {word, if_new, round_};
    return {s.value, true};
  }

 private:
  struct slot {
    std::uint64_t word;
    T value;
    std::uint32_t round;  // the slot is in use if this equals round_
  };
  /// The slot of the word, or the free slot where it belongs.  There always is a free slot.
  [[nodiscard]] slot& slot_of(std::uint64_t word) noexcept {
    std::size_t const mask = slots_.size() - 1;
    std::uint64_t const mixed = word * 0x9E3779B97F4A7C15u;
    auto i = static_cast<std::size_t>(mixed >> (64 - std::countr_zero(slots_.size())));
    while (slots_[i].round == round_ && slots_[i].word != word) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<slot> before(slots_.empty() ? 16 : 2 * slots_.size(), slot{0, T(), 0});
    slots_.swap(before);
    for (slot const& s : before)
      if (s.round == round_) slot_of(s.word) = s;
  }

  std::vector<slot> slots_;  // their number is a power of two
  std::size_t size_ = 0;
  std::uint32_t round_ = 1;
};

[[nodiscard]] inline std::uint64_t word_of(void const* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at);
}

}  // namespace weft::detail
