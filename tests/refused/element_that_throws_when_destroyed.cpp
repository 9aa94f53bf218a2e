// SPDX-License-Identifier: MIT
#include "deque/persistent_deque.hpp"

struct explosive {
  ~explosive() noexcept(false) {}
};

int main() { weft::persistent_deque<explosive> d; }
