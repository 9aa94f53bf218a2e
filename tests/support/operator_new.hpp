// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

/// For a test of one source file: replaces operator new, so that the test decides which allocations
/// succeed.
namespace weft::tests {

struct allocation {
  std::size_t bytes;
  std::size_t alignment = 0;  ///< 0: the default.
  bool throws = true;         ///< Not the one with std::nothrow.
};

/// Called for each allocation, on its thread.  Returns whether it is to succeed.  The source file
/// that includes this header, or a header of it, defines this function.
bool admit(allocation const& a) noexcept;

/// The number of blocks that are allocated.
inline std::atomic<long> live_blocks = 0;

/// Null if that allocation fails.
inline void* allocate(allocation const& a) noexcept {
  if (!admit(a)) return nullptr;
  void* const p = a.alignment == 0 ? std::malloc(a.bytes == 0 ? 1 : a.bytes)
                                   : std::aligned_alloc(a.alignment, (a.bytes + a.alignment - 1) /
                                                                         a.alignment * a.alignment);
  if (p) ++live_blocks;
  return p;
}
inline void* allocate_or_throw(allocation const& a) {
  if (void* const p = allocate(a)) return p;
  throw std::bad_alloc();
}
inline void deallocate(void* p) noexcept {
  if (p) --live_blocks;
  std::free(p);
}

}  // namespace weft::tests

void* operator new(std::size_t bytes) { return weft::tests::allocate_or_throw({bytes}); }
void* operator new[](std::size_t bytes) { return weft::tests::allocate_or_throw({bytes}); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return weft::tests::allocate({bytes, 0, false});
}
void* operator new(std::size_t bytes, std::align_val_t a) {
  return weft::tests::allocate_or_throw({bytes, static_cast<std::size_t>(a)});
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return weft::tests::allocate_or_throw({bytes, static_cast<std::size_t>(a)});
}
void operator delete(void* p) noexcept { weft::tests::deallocate(p); }
void operator delete[](void* p) noexcept { weft::tests::deallocate(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { weft::tests::deallocate(p); }
void operator delete(void* p, std::size_t) noexcept { weft::tests::deallocate(p); }
void operator delete[](void* p, std::size_t) noexcept { weft::tests::deallocate(p); }
void operator delete(void* p, std::align_val_t) noexcept { weft::tests::deallocate(p); }
void operator delete[](void* p, std::align_val_t) noexcept { weft::tests::deallocate(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  weft::tests::deallocate(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  weft::tests::deallocate(p);
}
