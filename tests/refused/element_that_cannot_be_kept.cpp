// SPDX-License-Identifier: MIT
#include "deque/persistent_deque.hpp"

struct stubborn {
  stubborn() = default;
  stubborn(stubborn&&) noexcept(false) {}
};

int main() { weft::persistent_deque<stubborn> d; }
