// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an element of a persistent_deque must move without throwing, or be copyable
/// Naming: stubborn

#include "weft/deque/persistent_deque.hpp"

struct stubborn {
  stubborn() = default;
  stubborn(stubborn&&) noexcept(false) {}
};

int main() { weft::persistent_deque<stubborn> d; }
