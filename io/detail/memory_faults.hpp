// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "weft/sched/backends/detail/portable_rng.hpp"

/// The faults of a network in memory, and the decision where they happen.
namespace weft::detail {

/// A fault, or none.  A run has a budget for each kind of fault (fault_budgets).
enum class fault : std::uint8_t {
  none,
  one_byte,  // reads or writes one byte instead of several
  half,      // reads or writes half of the bytes only
  delay,     // the attempt yields nothing, but the next one may
  reset,
  refusal,
  silence  // from now on nothing is transmitted
};
inline constexpr std::size_t faults = 7;

/// The operation at which a fault happens.
enum class io_attempt : std::uint8_t { reading, writing, connecting, accepting };

/// The faults that are possible at an attempt; the first entry stands for no fault.
class fault_menu {
 public:
  explicit fault_menu(io_attempt a) noexcept;

  void add(fault f) noexcept;
  [[nodiscard]] io_attempt at() const noexcept { return at_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] fault operator[](std::size_t i) const noexcept { return faults_[i]; }
  /// The entries as text, for reports.
  [[nodiscard]] std::span<std::string_view const> names() const noexcept {
    return {names_.data(), size_};
  }

 private:
  io_attempt at_;
  std::size_t size_ = 0;
  std::array<fault, faults> faults_{};
  std::array<std::string_view, faults> names_{};
};

/// How many faults of each kind may still happen in this run.
///
///   MEMNET-1  The budgets decide which faults are possible, but explorers need not hear of the
///       accesses to them (location_listener.hpp).  Each kind has one total for all processes, so
///       the order of two decisions does not matter: what two processes can decide in one order,
///       they can decide in the other order.
class fault_budgets {
 public:
  enum kind : std::uint8_t { splits, short_writes, delays, resets, refusals, silences, kinds };
  using numbers = std::array<std::size_t, kinds>;

  fault_budgets(numbers const& most, std::optional<std::uint64_t> seed);
  fault_budgets(fault_budgets const&) = delete;
  fault_budgets& operator=(fault_budgets const&) = delete;

  /// Adds a fault to the menu if its budget is not used up.
  void may(fault_menu& menu, fault f) const noexcept;
  /// Chooses what happens: the explorer decides if there is one, else the random-number generator,
  /// if there is one; else there is no fault.
  [[nodiscard]] fault decide(fault_menu const& menu);

 private:
  [[nodiscard]] static kind kind_of(fault f, io_attempt a) noexcept;
  [[nodiscard]] std::size_t choose(fault_menu const& menu);

  numbers left_;
  std::optional<portable_rng> rng_;
};

}  // namespace weft::detail
