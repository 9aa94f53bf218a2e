// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/detail/socket_place.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/detail/socket_address.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft::detail {

namespace {
[[noreturn, gnu::cold]] void throw_occupied(direction d) {
  throw std::logic_error(
      d == direction::reading
          ? "weft: a process already waits to read from, or accept at, this socket: one at a time "
            "may"
          : "weft: a process already waits to write to this socket: one at a time may");
}
}  // namespace

socket_id socket_place::begin(descriptor fd, socket_address const& peer) noexcept {
  std::lock_guard const lock(mutex_);
  fd_ = std::move(fd);
  peer_ = peer;
  for (side& s : sides_) s.ready.begin();
  // Relaxed: no other thread changes the word while the place is free, and the lock of the table
  // published the last change.
  std::uint32_t const number = number_of(life_.load(std::memory_order_relaxed)) + 1;
  // [4] release: pairs with [3] of socket_place.hpp: a user that enters sees what was written here.
  life_.store(std::uint64_t{number} << 32 | open | one_user, std::memory_order_release);
  return {index, number};
}
bool socket_place::close(std::uint32_t number) noexcept {
  std::uint64_t found = life_.load(std::memory_order_relaxed);  // relaxed: the exchange verifies it
  do {
    if (!is_open(found, number)) return false;
    // Relaxed: a watcher sees the change by the lock (SOCKET-5), the last user by [5] of
    // socket_place.hpp.
  } while (!life_.compare_exchange_weak(found, found & ~open, std::memory_order_relaxed));
  std::lock_guard const lock(mutex_);
  for (side& s : sides_) open_gate(s);
  return true;
}
void socket_place::end() noexcept {
  std::lock_guard const lock(mutex_);
  fd_ = descriptor();
}

void socket_place::watch(direction d, external_event& g) {
  std::lock_guard const lock(mutex_);
  side& s = sides_[index_of(d)];
  if (s.gate) throw_occupied(d);
  s.gate = &g;
  // Relaxed: a thread that has closed the socket took the lock before, or will take it and find
  // this watcher (SOCKET-5).
  bool const is_closed = (life_.load(std::memory_order_relaxed) & open) == 0;
  if (is_closed || s.ready.may_try()) open_gate(s);
}
void socket_place::unwatch(direction d, external_event const& g) noexcept {
  std::lock_guard const lock(mutex_);
  side& s = sides_[index_of(d)];
  if (s.gate == &g) s.gate = nullptr;
}
void socket_place::happens(std::uint32_t number, bool reading, bool writing,
                           bool is_last) noexcept {
  std::lock_guard const lock(mutex_);
  // Relaxed: the number changes only under the lock (SOCKET-3).
  if (!is_open(life_.load(std::memory_order_relaxed), number)) return;
  if (reading) happens(sides_[0], is_last);
  if (writing) happens(sides_[1], is_last);
}
void socket_place::happens(side& s, bool is_last) noexcept {
  s.ready.happens(is_last);
  open_gate(s);
}
void socket_place::open_gate(side& s) noexcept {
  external_event* const g = std::exchange(s.gate, nullptr);
  while (g) try {
      return g->open();
    } catch (std::bad_alloc const&) {  // no other thread would open it, so retry
      std::this_thread::yield();
    }
}

}  // namespace weft::detail
#endif
