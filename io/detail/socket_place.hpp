// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "io/detail/descriptor.hpp"
#include "io/detail/readiness.hpp"
#include "io/detail/socket_address.hpp"
#include "io/socket.hpp"
#include "sched/sync/external_event.hpp"

namespace weft::detail {

/// Where a reactor has a socket: its descriptor, who uses it, who waits for it.  Kept for the next
/// socket when that one is closed.
///
///   SOCKET-1  One word says all: the number of the socket, whether it is open, and how many use it; that
///       it is open counts as one.  Who uses it, or would close it, finds the number and `open`,
///       and counts itself, in one exchange.
///   SOCKET-2  The last one who uses it closes the descriptor.  So a call of the system has the
///   descriptor
///       of its own socket, and never that of another one which was given the same number by the
///       system meanwhile.
///   SOCKET-3  The number of the socket changes, and what is said of what happened, under the lock: who
///       has it and finds the number speaks of that socket.
///   SOCKET-4  A gate stands here from `watch` until it is opened, under the lock, or taken back.  So who
///       has taken it back knows that it is not being opened.  Who opens it has no other lock; a
///       process that is woken wants this one only when it goes on.
///   SOCKET-5  Who watches looks, under the lock, whether something has happened since the attempt (READY-1),
///       or it was closed; who says that something has, or closes it, looks for the gates under the
///       lock after that.  So one of them sees the other.
class alignas(64) socket_place {
 public:
  explicit socket_place(std::uint32_t i = 0) noexcept : index(i) {}

  // ---- using it

  /// False if it is not open, or another one.
  [[nodiscard]] bool enter(std::uint32_t number) noexcept {
    std::uint64_t found = life_.load(std::memory_order_relaxed);  // relaxed: [3] makes sure
    do {
      if (!is_open(found, number)) return false;
      // [3] acquire: with [4].
    } while (!life_.compare_exchange_weak(found, found + one_user, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }
  /// True if it was the last, who is to end it.
  [[nodiscard]] bool leave() noexcept {
    // [5] acq_rel, with itself: who closes the descriptor comes after all who used it.
    std::uint64_t const left = life_.fetch_sub(one_user, std::memory_order_acq_rel) - one_user;
    return (left & users) == 0;
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] socket_address const& peer() const noexcept { return peer_; }
  [[nodiscard]] readiness& ready(direction d) noexcept { return sides_[index_of(d)].ready; }

  // ---- its life

  /// Of one that is free.
  [[nodiscard]] socket_id begin(descriptor fd, socket_address const& peer) noexcept {
    std::lock_guard const lock(mutex_);
    fd_ = std::move(fd);
    peer_ = peer;
    for (side& s : sides_) s.ready.begin();
    // Relaxed: nobody else has an id with this number yet.
    std::uint32_t const number = number_of(life_.load(std::memory_order_relaxed)) + 1;
    // [4] release: who enters [3] finds what was written here.
    life_.store(std::uint64_t{number} << 32 | open | one_user, std::memory_order_release);
    return {index, number};
  }
  /// From now on nobody enters.  False if it is not open, or another one.
  [[nodiscard]] bool close(std::uint32_t number) noexcept {
    std::uint64_t found =
        life_.load(std::memory_order_relaxed);  // relaxed: the exchange makes sure
    do {
      if (!is_open(found, number)) return false;
      // Relaxed: who watches sees it by the lock (SOCKET-5), and who is the last by [5].
    } while (!life_.compare_exchange_weak(found, found & ~open, std::memory_order_relaxed));
    std::lock_guard const lock(mutex_);
    for (side& s : sides_) open_gate(s);
    return true;
  }
  /// By the last who used it.
  void end() noexcept {
    std::lock_guard const lock(mutex_);
    fd_ = descriptor();
  }

  // ---- waiting

  /// By who uses it.  Throws std::logic_error if somebody does already.
  void watch(direction d, external_event& g) {
    std::lock_guard const lock(mutex_);
    side& s = sides_[index_of(d)];
    if (s.gate) throw_occupied(d);
    s.gate = &g;
    // Relaxed: SOCKET-5.
    bool const is_closed = (life_.load(std::memory_order_relaxed) & open) == 0;
    if (is_closed || s.ready.may_try()) open_gate(s);
  }
  /// SOCKET-4.
  void unwatch(direction d, external_event const& g) noexcept {
    std::lock_guard const lock(mutex_);
    side& s = sides_[index_of(d)];
    if (s.gate == &g) s.gate = nullptr;
  }
  /// By the reactor's thread.
  void happens(std::uint32_t number, bool reading, bool writing, bool is_last) noexcept {
    std::lock_guard const lock(mutex_);
    // Relaxed: SOCKET-3.
    if (!is_open(life_.load(std::memory_order_relaxed), number)) return;
    if (reading) happens(sides_[0], is_last);
    if (writing) happens(sides_[1], is_last);
  }

  std::uint32_t const index;
  socket_place* next_free = nullptr;  // under the lock of the table

 private:
  struct side {
    readiness ready;
    external_event* gate = nullptr;  // under mutex_
  };
  static constexpr std::uint64_t open = std::uint64_t{1} << 31;
  static constexpr std::uint64_t one_user = 1;
  static constexpr std::uint64_t users = open - 1;

  static constexpr std::uint32_t number_of(std::uint64_t life) noexcept {
    return static_cast<std::uint32_t>(life >> 32);
  }
  static constexpr bool is_open(std::uint64_t life, std::uint32_t number) noexcept {
    return (life & open) != 0 && number_of(life) == number;
  }
  static constexpr std::size_t index_of(direction d) noexcept {
    return d == direction::reading ? 0 : 1;
  }
  [[noreturn, gnu::cold]] static void throw_occupied(direction d) {
    throw std::logic_error(d == direction::reading
                               ? "weft: a process waits to read from, or accept at, this socket "
                                 "already: one may"
                               : "weft: a process waits to write to this socket already: one may");
  }

  static void happens(side& s, bool is_last) noexcept {
    s.ready.happens(is_last);
    open_gate(s);
  }
  static void open_gate(side& s) noexcept {
    external_event* const g = std::exchange(s.gate, nullptr);
    while (g) try {
        return g->open();
      } catch (std::bad_alloc const&) {  // nobody else would ever open it, so we try again
        std::this_thread::yield();
      }
  }

  std::atomic<std::uint64_t> life_ = 0;  // SOCKET-1
  descriptor fd_;                        // written when nobody uses it
  std::mutex mutex_;
  std::array<side, 2> sides_;
  socket_address peer_;  // written when nobody uses it
};

}  // namespace weft::detail
