// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "tests/support/operator_new.hpp"

/// For a test of one source file, whose operator new this replaces: allocations are counted, and
/// fail on demand.  Not those with an alignment of their own, nor those with std::nothrow.
namespace weft::tests {

/// The number of allocations that succeed before one fails; if negative, none fails.
inline std::atomic<long> until_failure = -1;
/// The number of allocations so far, including failed ones.
inline std::atomic<long> allocations = 0;

bool admit(allocation const& a) noexcept {
  if (a.alignment != 0 || !a.throws) return true;
  ++allocations;
  return until_failure < 0 || until_failure-- != 0;
}

}  // namespace weft::tests
