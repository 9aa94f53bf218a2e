// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "weft/sched/backends/detail/portable_rng.hpp"
#include "weft/sched/base/decision.hpp"

/// The faults of a network in memory, and the decision where they happen.
namespace weft::detail {

/// A kind of fault; each has a budget for one run.
enum class fault : std::uint8_t {
  none,
  one_byte,  // reads or writes one byte instead of several
  half,      // reads or writes half of the bytes
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
  explicit fault_menu(io_attempt a) noexcept : at_(a) { add(fault::none); }

  void add(fault f) noexcept {
    faults_[size_] = f;
    names_[size_] = name(f);
    ++size_;
  }
  [[nodiscard]] io_attempt at() const noexcept { return at_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] fault operator[](std::size_t i) const noexcept { return faults_[i]; }
  /// The entries as text, for reports.
  [[nodiscard]] std::span<std::string_view const> names() const noexcept {
    return {names_.data(), size_};
  }

 private:
  [[nodiscard]] std::string_view name(fault f) const noexcept {
    using row = std::array<std::string_view, faults>;
    static constexpr std::array<row, 4> all{
        {{"read", "read of one byte", "read of half", "delayed read", "reset at a read", "",
          "silence at a read"},
         {"write", "write of one byte", "write of half", "delayed write", "reset at a write", "",
          "silence at a write"},
         {"connect", "", "", "delayed connect", "", "refused connect", "silence at a connect"},
         {"accept", "", "", "delayed accept", "", "", ""}}};
    return all[static_cast<std::size_t>(at_)][static_cast<std::size_t>(f)];
  }

  io_attempt at_;
  std::size_t size_ = 0;
  std::array<fault, faults> faults_{};
  std::array<std::string_view, faults> names_{};
};

/// How many faults of each kind may still happen in this run.
///
///   MEMNET-1  The budgets decide which faults are possible, but need not be a location
///       (location_listener.hpp).  Each kind has one total for all processes; so if two processes
///       can make their decisions in one order, they can make the same decisions in the other
///       order.
class fault_budgets {
 public:
  enum kind : std::uint8_t { splits, short_writes, delays, resets, refusals, silences, kinds };
  using numbers = std::array<std::size_t, kinds>;

  fault_budgets(numbers const& most, std::optional<std::uint64_t> seed) : left_(most) {
    if (seed) rng_.emplace(*seed);
  }
  fault_budgets(fault_budgets const&) = delete;
  fault_budgets& operator=(fault_budgets const&) = delete;

  /// Adds a fault to the menu if its budget is not used up.
  void may(fault_menu& menu, fault f) const noexcept {
    if (left_[kind_of(f, menu.at())] != 0) menu.add(f);
  }
  /// Chooses what happens: the explorer decides if there is one, else the random-number generator,
  /// if there is one; else there is no fault.
  [[nodiscard]] fault decide(fault_menu const& menu) {
    if (menu.size() == 1) return fault::none;
    fault const f = menu[choose(menu)];
    if (f != fault::none) --left_[kind_of(f, menu.at())];
    return f;
  }

 private:
  /// Without an explorer, one attempt in `one_in` has a fault.
  static constexpr std::uint64_t one_in = 8;

  [[nodiscard]] static kind kind_of(fault f, io_attempt a) noexcept {
    switch (f) {
      case fault::delay:
        return delays;
      case fault::reset:
        return resets;
      case fault::refusal:
        return refusals;
      case fault::silence:
        return silences;
      default:
        return a == io_attempt::writing ? short_writes : splits;
    }
  }
  [[nodiscard]] std::size_t choose(fault_menu const& menu) {
    if (decider::of_thread) return weft::decide(menu.names());
    if (!rng_ || rng_->below(one_in) != 0) return 0;
    return 1 + static_cast<std::size_t>(rng_->below(menu.size() - 1));
  }

  numbers left_;
  std::optional<portable_rng> rng_;
};

}  // namespace weft::detail
