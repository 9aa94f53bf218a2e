// SPDX-License-Identifier: MIT
#include "weft/io/detail/memory_faults.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/sched/backends/detail/portable_rng.hpp"
#include "weft/sched/base/decision.hpp"

namespace weft::detail {

namespace {
std::string_view wording(fault f, io_attempt a) noexcept {
  using row = std::array<std::string_view, faults>;
  static constexpr std::array<row, 4> all{
      {{"read", "read of one byte", "read of half", "delayed read", "reset at a read", "",
        "silence at a read"},
       {"write", "write of one byte", "write of half", "delayed write", "reset at a write", "",
        "silence at a write"},
       {"connect", "", "", "delayed connect", "", "refused connect", "silence at a connect"},
       {"accept", "", "", "delayed accept", "", "", ""}}};
  return all[static_cast<std::size_t>(a)][static_cast<std::size_t>(f)];
}
}  // namespace

fault_menu::fault_menu(io_attempt a) noexcept : at_(a) { add(fault::none); }
void fault_menu::add(fault f) noexcept {
  faults_[size_] = f;
  names_[size_] = wording(f, at_);
  ++size_;
}

fault_budgets::fault_budgets(numbers const& most, std::optional<std::uint64_t> seed) : left_(most) {
  if (seed) rng_.emplace(*seed);
}
void fault_budgets::may(fault_menu& menu, fault f) const noexcept {
  if (left_[kind_of(f, menu.at())] != 0) menu.add(f);
}
fault fault_budgets::decide(fault_menu const& menu) {
  if (menu.size() == 1) return fault::none;
  fault const f = menu[choose(menu)];
  if (f != fault::none) --left_[kind_of(f, menu.at())];
  return f;
}
fault_budgets::kind fault_budgets::kind_of(fault f, io_attempt a) noexcept {
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
std::size_t fault_budgets::choose(fault_menu const& menu) {
  // Without an explorer, one attempt in `one_in` has a fault.
  static constexpr std::uint64_t one_in = 8;
  if (decider::of_thread) return weft::decide(menu.names());
  if (!rng_ || rng_->below(one_in) != 0) return 0;
  return 1 + static_cast<std::size_t>(rng_->below(menu.size() - 1));
}

}  // namespace weft::detail
