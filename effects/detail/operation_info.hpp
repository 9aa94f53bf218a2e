// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "weft/effects/detail/names.hpp"
#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/detail/type_identity.hpp"
#include "weft/effects/operation.hpp"

/// Describes an operation to code that does not know its type: for messages, and for logs.
namespace weft::detail {

class replay_log;
struct site;

template <class O>
void record_answer(replay_log& log, site const& at, result_slot_base& a) noexcept;
template <class O>
void fail_answer(result_slot_base& a, std::exception_ptr e) noexcept {
  static_cast<result_slot<typename O::result>&>(a).fail(std::move(e));
}

enum class answer_size : unsigned char { nothing, word, large };
/// Whether an answer `R` can be stored as a word.
template <class R>
constexpr bool fits_a_word =
    std::is_trivially_copyable_v<kept<R>> && sizeof(kept<R>) <= sizeof(std::uint64_t);

struct operation_info : type_identity {
  answer_size size;
  /// Records the answer of the operation in a log; or ends the log, if the operation seals.
  void (*record)(replay_log&, site const&, result_slot_base&) noexcept;
  /// Answers the operation with an exception.
  void (*fail)(result_slot_base&, std::exception_ptr) noexcept;
  /// Whether the performer learns of a cancellation only after the operation has been answered.
  bool must_be_answered;
  /// Whether the answer means no more than that the performer has its turn: a cancellation that
  /// comes before the turn replaces such an answer.
  bool is_turn_only;
};
template <class O>
constexpr bool must_be_answered = false;
template <class O>
  requires requires { requires O::must_be_answered; }
constexpr bool must_be_answered<O> = true;
template <class O>
constexpr bool is_turn_only = false;
template <class O>
  requires requires { requires O::is_turn_only; }
constexpr bool is_turn_only<O> = true;
template <class O>
inline constexpr operation_info info_of{{name_of<O>, type_info_of<O>()},
                                        std::is_same_v<kept<typename O::result>, nothing>
                                            ? answer_size::nothing
                                        : fits_a_word<typename O::result> ? answer_size::word
                                                                          : answer_size::large,
                                        record_answer<O>,
                                        fail_answer<O>,
                                        must_be_answered<O>,
                                        is_turn_only<O>};

// ---- the data of an operation, as far as it can be compared (operation.hpp)

template <class O>
concept says_its_hash = requires(O const& o) {
  { hash_value(o) } -> std::convertible_to<std::size_t>;
};

/// A hash of the data; zero if the data cannot be compared.  FNV-1a (Fowler, Noll, Vo) for plain
/// bytes.
template <class O>
std::size_t argument_hash([[maybe_unused]] O const& o) {
  if constexpr (says_its_hash<O>) {
    return hash_value(o);
  } else if constexpr (std::is_trivially_copyable_v<O> &&
                       std::has_unique_object_representations_v<O> && !std::is_empty_v<O>) {
    std::size_t h = 14695981039346656037u;
    unsigned char bytes[sizeof(O)];
    std::memcpy(bytes, &o, sizeof(O));
    for (unsigned char const b : bytes) h = (h ^ b) * 1099511628211u;
    return h;
  } else {
    return 0;
  }
}

/// An operation, a hash of its data, and where it was performed.
struct site {
  operation_info const* operation;
  std::source_location where;
  std::uint32_t hash;  // of the operation's data; 0: the data are not compared

  friend bool operator==(site const& a, site const& b) noexcept {
    return same_hash(a.hash, b.hash) && same_place(a.where, b.where) && a.is_of(b.operation);
  }
  [[nodiscard]] bool is_of(operation_info const* o) const noexcept {
    return operation == o || (operation && o && *operation == *o);
  }
  /// Whether the hashes agree.  Zero agrees with any hash: code that is compiled with NDEBUG
  /// computes none.
  static bool same_hash(std::uint32_t a, std::uint32_t b) noexcept {
    return a == b || a == 0 || b == 0;
  }
  /// Whether the source locations are equal.  If a source_location is one pointer, equal pointers
  /// settle it; otherwise line and file are compared.
  static bool same_place(std::source_location const& a, std::source_location const& b) noexcept {
    if constexpr (sizeof(std::source_location) == sizeof(void*))
      if (std::bit_cast<void const*>(a) == std::bit_cast<void const*>(b)) [[likely]]
        return true;
    return a.line() == b.line() && std::strcmp(a.file_name(), b.file_name()) == 0;
  }
  [[nodiscard]] std::string text() const;
};

template <class O>
site site_of([[maybe_unused]] O const& o, std::source_location where) {
#ifdef NDEBUG
  return {&info_of<O>, where, 0};
#else
  std::size_t const h = argument_hash(o);
  return {&info_of<O>, where, static_cast<std::uint32_t>(h ^ h >> 32)};
#endif
}

}  // namespace weft::detail
