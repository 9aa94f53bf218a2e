// SPDX-License-Identifier: MIT
#include <memory>

#include "deque/chase_lev.hpp"

int main() { weft::chase_lev<std::unique_ptr<int>> d; }
