// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "tests/support/deque_machine.hpp"
#include "tests/support/tracked.hpp"
#include "weft/deque/persistent_deque.hpp"

namespace weft::tests {

/// Runs `program` on machines of several kinds of deque; throws broken_law if a version is
/// wrong, or if elements or blocks were not destroyed exactly once.
inline void run_deque_commands(std::span<std::uint8_t const> program) {
  auto const on = [&]<class D>(std::type_identity<D>) {
    using element = typename D::value_type;
    element::births = element::deaths = fallible_memory::blocks = 0;
    {
      deque_machine<D> machine;
      machine.run(program);
    }
    if (element::births != element::deaths) throw broken_law("births are deaths");
    if (fallible_memory::blocks != 0) throw broken_law("blocks are given back");
  };
  using plain = deque_policy<plain_counts, fallible_memory>;
  using tiny = deque_policy<plain_counts, fallible_memory, 64>;  // many tiers soon
  using atomic = deque_policy<atomic_counts, fallible_memory, 128>;
  using owning = deque_policy<plain_counts, fallible_memory, 64, true>;
  on(std::type_identity<persistent_deque<tracked<moves::safely>, plain>>());
  on(std::type_identity<persistent_deque<tracked<moves::safely>, tiny>>());
  on(std::type_identity<persistent_deque<tracked<moves::safely, 64>, atomic>>());
  on(std::type_identity<persistent_deque<tracked<moves::safely>, owning>>());
  on(std::type_identity<persistent_deque<tracked<moves::may_throw>, tiny>>());
  on(std::type_identity<persistent_deque<tracked<moves::may_throw>, atomic>>());
}

}  // namespace weft::tests
