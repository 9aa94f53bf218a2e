// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an element of a persistent_deque must not throw when it is destroyed
/// Naming: explosive

#include "weft/deque/persistent_deque.hpp"

struct explosive {
  ~explosive() noexcept(false) {}
};

int main() { weft::persistent_deque<explosive> d; }
