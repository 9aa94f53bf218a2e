// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/detail/socket_table.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "weft/io/detail/socket_place.hpp"

namespace weft::detail {

socket_table::~socket_table() {
  for (std::size_t k = 0; k != blocks_.size(); ++k) {
    // Relaxed: no other thread uses the table.
    socket_place* const b = blocks_[k].load(std::memory_order_relaxed);
    if (!b) continue;
    std::destroy_n(b, size_of(k));
    ::operator delete(b, std::align_val_t(alignof(socket_place)));
  }
}

socket_place& socket_table::take() {
  std::lock_guard const lock(mutex_);
  if (!free_) grow();
  socket_place& p = *free_;
  free_ = p.next_free;
  ++taken_;
  return p;
}
void socket_table::give_back(socket_place& p) noexcept {
  std::lock_guard const lock(mutex_);
  p.next_free = free_;
  free_ = &p;
  --taken_;
}
std::size_t socket_table::taken() const noexcept {
  std::lock_guard const lock(mutex_);
  return taken_;
}

void socket_table::grow() {
  std::size_t const n = size_of(count_);
  auto const begin = static_cast<std::uint32_t>(n - first);
  auto* const b = static_cast<socket_place*>(
      ::operator new(n * sizeof(socket_place), std::align_val_t(alignof(socket_place))));
  for (std::size_t i = n; i-- != 0;) {
    auto* const p = new (b + i) socket_place(begin + static_cast<std::uint32_t>(i));
    p->next_free = free_;
    free_ = p;
  }
  // [2] release: pairs with [1] of socket_table.hpp, so that find() sees the places as constructed.
  blocks_[count_++].store(b, std::memory_order_release);
}

}  // namespace weft::detail
#endif
