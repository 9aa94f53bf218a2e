// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

/// For a test of one source file, whose operator new this replaces: allocations are counted, and
/// fail on demand.
namespace weft::tests {

/// The number of allocations that succeed before one fails; if negative, none fails.
inline std::atomic<long> until_failure = -1;
/// The number of allocations so far, including failed ones.
inline std::atomic<long> allocations = 0;

inline void* allocate(std::size_t bytes) {
  ++allocations;
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}

}  // namespace weft::tests

void* operator new(std::size_t bytes) { return weft::tests::allocate(bytes); }
void* operator new[](std::size_t bytes) { return weft::tests::allocate(bytes); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return std::malloc(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
