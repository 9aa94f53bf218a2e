// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a durable process stores this value, and does not know how: list its members in the
///   struct, MSGPACK_DEFINE(a, b), which needs a default constructor; or specialise
///   weft::durable::is_stored for a type with an adaptor of its own

#include "weft/durable/process.hpp"
#include "weft/effects/effects.hpp"

namespace durable = weft::durable;

struct point {
  int x, y;
};
point origin() { return {0, 0}; }
weft::eff<int, durable::all<>> process() { co_return (co_await durable::step("origin", origin)).x; }

int main() { (void)process; }
