// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a step's function is called with the arguments that follow it, as const references; its
///   first parameter may be a durable::idempotency_key const&

#include "weft/durable/process.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

int longer(int n, int m) { return n + m; }
weft::eff<void, durable::all<>> process() { co_await durable::step("longer", longer, 1); }

int main() { (void)process; }
