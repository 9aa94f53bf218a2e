// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/memory/frame_pool.hpp"

/// The parts of replay logs (replay_log.hpp).
namespace weft::detail {

struct boxed {
  virtual ~boxed() = default;
};
template <class R>
struct boxed_answer final : boxed {
  explicit boxed_answer(R const& a) : value(a) {}
  R value;
};

/// An answer from which the answers to the next operations of the same kind can be computed, as
/// with consecutive numbers.
template <class R>
concept consecutive_answer = fits_a_word<R> && requires(R const& r, std::uint32_t n) {
  { r.nth_after(n) } -> std::same_as<R>;
};

/// An operation and its answer; with a count of repetitions if the answer is void or one of
/// consecutive numbers.  32 bytes.
class log_entry {
 public:
  explicit log_entry(site const& at) noexcept : log_entry(at, is_nothing) {}
  template <class R>
    requires fits_a_word<R>
  log_entry(site const& at, R const& word) noexcept : log_entry(at, is_word) {
    std::memcpy(&word_, &word, sizeof(R));
  }
  /// Takes over `box`, an object made by new.
  log_entry(site const& at, boxed& box) noexcept : log_entry(at, is_box) { box_ = &box; }
  log_entry(site const& at, std::exception_ptr error) noexcept : log_entry(at, is_error) {
    ::new (static_cast<void*>(&error_)) std::exception_ptr(std::move(error));
  }
  log_entry(log_entry&& other) noexcept : log_entry(other.at(), static_cast<kind>(other.kind_)) {
    count_ = other.count_;
    if (kind_ == is_error) [[unlikely]]
      ::new (static_cast<void*>(&error_)) std::exception_ptr(std::move(other.error_));
    else
      word_ = std::exchange(other.word_, 0);
  }
  log_entry& operator=(log_entry const&) = delete;
  ~log_entry() {
    if (kind_ == is_box) delete box_;
    if (kind_ == is_error) forget(error_);
  }

  [[nodiscard]] site at() const noexcept { return {operation_, where_, hash_}; }
  [[nodiscard]] bool is_at(site const& s) const noexcept {
    if (operation_ == s.operation && hash_ == s.hash) [[likely]]
      return site::same_place(where_, s.where);
    return is_at_slow(s);
  }
  /// Compares as is_at() does, if the pointers or hashes differ: another module of the program may
  /// have recorded the answer, or perform the operation.
  [[nodiscard, gnu::noinline]] bool is_at_slow(site const& s) const noexcept { return at() == s; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// If this is a void answer at the site `s`, counts one repetition more and returns true.
  [[nodiscard]] bool counts(site const& s) noexcept {
    if (kind_ != is_nothing || count_ == most_often || !is_at(s)) return false;
    ++count_;
    return true;
  }
  /// If this is an answer at the site `s` and `number` comes next, counts one repetition more and
  /// returns true.
  template <consecutive_answer R>
  [[nodiscard]] bool counts(site const& s, R const& number) noexcept {
    if (kind_ != is_word || count_ == most_often || !is_at(s)) return false;
    if (!(as_word<R>().nth_after(count_) == number)) return false;
    ++count_;
    return true;
  }
  /// Answers the `nth` of the operations that this entry counts, from 0 on.  The caller has checked
  /// that the operation is the same, so `R` is the type of the recorded answer.
  template <class R>
  void answer_to(result_slot<R>& a, [[maybe_unused]] std::uint32_t nth) const {
    if (kind_ == is_error) [[unlikely]]
      return a.fail(error_);
    if constexpr (std::is_same_v<kept<R>, weft::detail::nothing>) {
      a.set();
    } else if constexpr (consecutive_answer<R>) {
      a.set(nth == 0 ? as_word<R>() : as_word<R>().nth_after(nth));
    } else if constexpr (fits_a_word<R>) {
      a.set(as_word<R>());
    } else if constexpr (std::is_copy_constructible_v<R>) {
      a.set(static_cast<boxed_answer<R> const*>(box_)->value);
    }
  }

 private:
  enum kind : std::uint32_t { is_nothing, is_word, is_box, is_error };
  static constexpr std::uint32_t most_often = (std::uint32_t{1} << 30) - 1;

  template <class R>
  [[nodiscard]] R as_word() const noexcept {
    std::array<std::byte, sizeof(R)> bytes;
    std::memcpy(bytes.data(), &word_, sizeof(R));
    return std::bit_cast<R>(bytes);
  }

  log_entry(site const& at, kind k) noexcept
      : operation_(at.operation),
        where_(at.where),
        hash_(at.hash),
        kind_(k & 3),
        count_(1),
        word_(0) {}

  operation_info const* operation_;
  std::source_location where_;
  std::uint32_t hash_;
  std::uint32_t kind_ : 2;  // an enumerator of `kind`
  std::uint32_t count_ : 30;
  union {
    std::uint64_t word_;
    boxed* box_;
    std::exception_ptr error_;
  };
};

/// Entries that are contiguous in memory.
struct log_stretch {
  log_entry const* first;
  log_entry const* last;  // one past the end
};

/// Consecutive entries, stored behind this object in its block.  Shared, also between threads; an
/// entry does not change once two logs see it.
class log_segment {
 public:
  log_segment(log_segment const&) = delete;
  log_segment& operator=(log_segment const&) = delete;

  /// Makes a segment that follows the first `length` entries of `before`, and takes over the
  /// caller's count of `before`.  It has twice the room of `before`, up to most_room; or
  /// least_room, if `little` or if `before` is null.  The first slot is claimed for the caller.
  /// Null if there is no memory.
  static log_segment* make(log_segment* before, std::uint32_t length, bool little) noexcept {
    std::uint32_t const room = !before || little            ? least_room
                               : before->room_ >= most_room ? most_room
                                                            : 2 * before->room_;
    try {
      void* const block = pooled::operator new(bytes(room));
      return ::new (block) log_segment(before, length, room);
    } catch (...) {
      return nullptr;
    }
  }
  void keep() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller's own count remains
  }
  /// Whether the caller is the only owner.
  [[nodiscard]] bool is_sole() const noexcept {
    // Relaxed: a count of one remains one, because only the caller could add to it.
    return owners_.load(std::memory_order_relaxed) == 1;
  }
  /// Gives up a count of `s`.  A segment without owners is deleted, and gives up its count of the
  /// segment before it; in a loop, so that a long log takes no native stack.
  static void drop(log_segment* s) noexcept {
    // acq_rel, pairs with itself: each drop of a count is a release, and the last one also an
    // acquire.  So the thread that destroys the entries has seen all that was done with them.
    while (s && s->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      auto* const before = s->before_;
      auto const room = s->room_;
      s->~log_segment();
      pooled::operator delete(s, bytes(room));
      s = before;
    }
  }

  /// Claims slot `i` for the caller, whose view ends there.  False if the slot is taken, or if
  /// there is no such slot.
  [[nodiscard]] bool claim(std::uint32_t i) noexcept {
    // Relaxed: this only decides which log gets the slot.  Another thread reads the entry in a log
    // that was copied later and handed to that thread; the hand-over synchronises.
    return i != room_ && size_.compare_exchange_strong(i, i + 1, std::memory_order_relaxed);
  }
  void put(std::uint32_t i, log_entry&& e) noexcept {
    ::new (static_cast<void*>(entries() + i)) log_entry(std::move(e));
  }
  [[nodiscard]] log_entry& at(std::uint32_t i) noexcept { return entries()[i]; }
  [[nodiscard]] log_entry const* first() const noexcept {
    return const_cast<log_segment*>(this)->entries();
  }
  [[nodiscard]] log_segment const* before() const noexcept { return before_; }
  [[nodiscard]] std::uint32_t length_before() const noexcept { return length_before_; }

 private:
  static constexpr std::uint32_t least_room = 4;
  static constexpr std::uint32_t most_room = 128;
  static std::size_t bytes(std::uint32_t room) noexcept {
    return sizeof(log_segment) + room * sizeof(log_entry);
  }

  log_segment(log_segment* before, std::uint32_t length, std::uint32_t room) noexcept
      : before_(before), length_before_(length), room_(room) {}
  ~log_segment() {
    std::uint32_t const n = size_.load(std::memory_order_relaxed);  // relaxed: no owner is left
    for (std::uint32_t i = 0; i != n; ++i) std::destroy_at(entries() + i);
  }
  [[nodiscard]] log_entry* entries() noexcept {
    return std::launder(reinterpret_cast<log_entry*>(this + 1));
  }

  std::atomic<std::uint32_t> owners_ = 1;  // the number of logs and later segments that refer here
  std::atomic<std::uint32_t> size_ = 1;    // the number of slots that are claimed
  log_segment* const before_;
  std::uint32_t const length_before_;  // the number of entries of before_ that precede this segment
  std::uint32_t const room_;
};

}  // namespace weft::detail
