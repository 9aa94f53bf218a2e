// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an argument is converted to a temporary, to which the coroutine would refer when it is
///   gone: take the parameter by value

#include "weft/durable/process.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

weft::eff<long> twice(long const& n) { co_return 2 * n; }
weft::eff<long, durable::all<>> process() { co_return co_await durable::step("twice", twice, 21); }

int main() { (void)process; }
