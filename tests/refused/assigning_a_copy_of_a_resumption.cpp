// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a resumption is used once: std::move it, or take a multi_resumption
/// Naming: resumption<

#include "weft/effects/effects.hpp"

struct parking {
  weft::resumption<void> parked;
  void park(weft::resumption<void> const& k) { parked = k; }
};

int main() { parking().park({}); }
