// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

namespace detail {
class children_cache;
}  // namespace detail

/// The identity of a process: the path of spawns and forks that led to it.  The first process is
/// "1", its n-th child, spawned or forked, "1.n".  So an id does not depend on what other processes
/// do, and a process has the same id in every schedule.  Processes that are submitted from outside
/// are "0.1", "0.2" and so on.
///
/// One word.  A step of the path takes 4 bits up to the 7th child, 8 bits up to the 63rd, and so
/// on.  An id that does not fit in 63 bits is a hash, written "#...": such ids are distinct in
/// practice, though not guaranteed to be.  Ids that are no hashes are ordered: a parent before its
/// children, siblings by creation.  Every operation is O(1): a path has at most 15 steps.
class process_id {
 public:
  constexpr process_id() = default;  // the first process

  /// The id of the n-th child, counted from 1.
  [[nodiscard]] constexpr process_id child(std::uint64_t n) const noexcept {
    return child(n, free_bits());
  }
  /// The id of the n-th process that is submitted from outside.  Its path begins with a step to
  /// child 0, a number that no child has.
  [[nodiscard]] static constexpr process_id submitted(std::uint64_t n) noexcept {
    return process_id().child(n, 63 - 4);
  }
  /// The id of the n-th process of the library's own: "0.0.n".
  [[nodiscard]] static constexpr process_id internal(std::uint64_t n) noexcept {
    return process_id().child(n, 63 - 8);
  }
  /// Whether this is the id of a process of the library's own.
  [[nodiscard]] constexpr bool is_internal() const noexcept { return path_ && path_ >> 55 == 0; }

  /// For a child: the sibling that is created `n` children later by the same parent.  Returns the
  /// first process's id, which no child has, if the path of this one is a hash.
  [[nodiscard]] constexpr process_id nth_after(std::uint32_t n) const noexcept {
    if (is_hash()) return {};
    std::uint64_t rest = path_ << 1;
    int free = 63;
    std::uint64_t last = rest;
    for (; rest; rest = after(rest)) {
      last = rest;
      free -= bits_of(rest);
    }
    free += bits_of(last);
    process_id const parent(path_ >> free << free);
    return parent.child(number_of(last) + n, free);
  }

  /// The id as text: "1.2".  Allocates the text.
  [[nodiscard]] std::string text() const;

  /// The id that has this text; nullopt if no id has it.  Allocates a text to compare.
  [[nodiscard]] static std::optional<process_id> read(std::string_view text);

  /// A number that is equal for equal ids.  The numbers are not evenly spread.
  [[nodiscard]] constexpr std::uint64_t hash() const noexcept { return path_; }

  friend constexpr bool operator==(process_id, process_id) = default;
  friend constexpr auto operator<=>(process_id, process_id) = default;

 private:
  friend class detail::children_cache;
  static constexpr std::uint64_t hash_mark = std::uint64_t{1} << 63;

  explicit constexpr process_id(std::uint64_t path) : path_(path) {}
  static std::optional<process_id> read_hash(std::string_view text) noexcept;
  static std::optional<process_id> read_path(std::string_view text) noexcept;
  [[nodiscard]] constexpr process_id child(std::uint64_t n, int free) const noexcept {
    int const groups = groups_for(n);
    if (4 * groups > free) return hashed(n);
    std::uint64_t const ones = (std::uint64_t{1} << groups) - 2;  // groups - 1 ones, then a zero
    std::uint64_t const step = ones << (3 * groups) | n;
    return process_id(path_ | step << (free - 4 * groups));
  }
  /// How many groups of three bits hold a number.  A step has as many bits in front of its groups
  /// as it has groups: ones and a last zero, by which a reader counts the groups.
  static constexpr int groups_for(std::uint64_t n) noexcept {
    return (static_cast<int>(std::bit_width(n)) + 2) / 3;
  }
  /// These three functions take a path that was shifted so that its first step begins at the top
  /// bit.  They return how many bits that step has, the number in it, and the path behind it.
  static constexpr int bits_of(std::uint64_t rest) noexcept {
    return 4 * (std::countl_one(rest) + 1);
  }
  static constexpr std::uint64_t number_of(std::uint64_t rest) noexcept {
    int const groups = std::countl_one(rest) + 1;
    return rest << groups >> (64 - 3 * groups);
  }
  static constexpr std::uint64_t after(std::uint64_t rest) noexcept {
    int const bits = bits_of(rest);
    return bits >= 64 ? 0 : rest << bits;
  }
  [[nodiscard]] constexpr bool is_hash() const noexcept { return path_ & hash_mark; }
  [[nodiscard]] constexpr int free_bits() const noexcept {
    if (is_hash()) return 0;
    int used = 0;
    for (std::uint64_t rest = path_ << 1; rest; rest = after(rest)) used += bits_of(rest);
    return 63 - used;
  }
  [[nodiscard]] constexpr process_id hashed(std::uint64_t n) const noexcept {
    std::uint64_t x = (path_ + n) * 0x9E3779B97F4A7C15u;  // the golden ratio, as a fraction
    x ^= x >> 32;
    return process_id((x * 0xD6E8FEB86659FD93u) | hash_mark);
  }

  std::uint64_t path_ = 0;  // the steps, from bit 62 downwards
};

}  // namespace weft
