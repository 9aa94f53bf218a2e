// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an element that can be stolen is read while it may be overwritten: it must be trivially copyable,
///   and its std::atomic lock-free, as that of a pointer is
/// Naming: unique_ptr<int

#include <memory>

#include "weft/deque/chase_lev.hpp"

int main() { weft::chase_lev<std::unique_ptr<int>> d; }
