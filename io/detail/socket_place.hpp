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

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/detail/readiness.hpp"
#include "weft/io/detail/socket_address.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft::detail {

/// A place for a socket of a reactor: the descriptor, the users, the waiters.  The place is reused
/// after the socket is closed.
///
///   SOCKET-1  One word has the number of the socket, whether it is open, and the count of its
///       users; being open counts as one user.  A thread that uses the socket checks the number and
///       `open`, and adds itself, in one exchange; a thread that closes the socket checks the same,
///       and clears `open`: from then on that one user is the closing thread, which has to call
///       leave().
///   SOCKET-2  The last user closes the descriptor.  So a system call gets the descriptor of its
///       own socket, never one that the system has given to another socket meanwhile.
///   SOCKET-3  The number changes, and events are reported, under the lock: a thread that holds the
///       lock and finds its number reports to the right socket.
///   SOCKET-4  An event stands here from `watch` until it is opened, under the lock, or taken back
///       by `unwatch`.  So after `unwatch` no thread is still opening it.  The thread that opens it
///       holds no other lock; the woken process takes this lock only when it continues.
///   SOCKET-5  A watcher checks, under the lock, whether the system has reported something since
///       the attempt (READY-1), or the socket was closed; a thread that reports or closes checks
///       for watchers under the lock after that.  So either the watcher sees the report or the
///       close, or the other thread sees the watcher.
class alignas(64) socket_place {
 public:
  explicit socket_place(std::uint32_t i = 0) noexcept : index(i) {}

  // ---- use

  /// Adds the caller to the users.  False if the socket is closed, or the place has another one.
  [[nodiscard]] bool enter(std::uint32_t number) noexcept {
    std::uint64_t found = life_.load(std::memory_order_relaxed);  // relaxed: [3] verifies it
    do {
      if (!is_open(found, number)) return false;
      // [3] acquire: pairs with [4].  Relaxed on failure: it is checked again.
    } while (!life_.compare_exchange_weak(found, found + one_user, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }
  /// Removes the caller from the users.  True if it was the last one and must call end().
  [[nodiscard]] bool leave() noexcept {
    // [5] acq_rel: pairs with itself: the descriptor is closed after all uses of it.
    std::uint64_t const left = life_.fetch_sub(one_user, std::memory_order_acq_rel) - one_user;
    return (left & users) == 0;
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] socket_address const& peer() const noexcept { return peer_; }
  [[nodiscard]] readiness& ready(direction d) noexcept { return sides_[index_of(d)].ready; }

  // ---- begin and end

  /// Makes a socket of a free place.
  [[nodiscard]] socket_id begin(descriptor fd, socket_address const& peer) noexcept {
    std::lock_guard const lock(mutex_);
    fd_ = std::move(fd);
    peer_ = peer;
    for (side& s : sides_) s.ready.begin();
    // Relaxed: no other thread has an id with this number yet.
    std::uint32_t const number = number_of(life_.load(std::memory_order_relaxed)) + 1;
    // [4] release: a user that enters [3] sees what was written here.
    life_.store(std::uint64_t{number} << 32 | open | one_user, std::memory_order_release);
    return {index, number};
  }
  /// Closes the socket: from now on enter() fails, and watchers are woken.  False if the socket is
  /// closed already, or the place has another one.
  [[nodiscard]] bool close(std::uint32_t number) noexcept {
    std::uint64_t found =
        life_.load(std::memory_order_relaxed);  // relaxed: the exchange verifies it
    do {
      if (!is_open(found, number)) return false;
      // Relaxed: a watcher sees the change by the lock (SOCKET-5), the last user by [5].
    } while (!life_.compare_exchange_weak(found, found & ~open, std::memory_order_relaxed));
    std::lock_guard const lock(mutex_);
    for (side& s : sides_) open_gate(s);
    return true;
  }
  /// Closes the descriptor.  Called by the last user.
  void end() noexcept {
    std::lock_guard const lock(mutex_);
    fd_ = descriptor();
  }

  // ---- waiting

  /// Has `g` opened when another attempt may succeed, or when the socket is closed.  Called by a
  /// user.  Throws std::logic_error if the direction has a watcher.
  void watch(direction d, external_event& g) {
    std::lock_guard const lock(mutex_);
    side& s = sides_[index_of(d)];
    if (s.gate) throw_occupied(d);
    s.gate = &g;
    // Relaxed: a thread that has closed the socket took the lock before, or will take it and find
    // this watcher (SOCKET-5).
    bool const is_closed = (life_.load(std::memory_order_relaxed) & open) == 0;
    if (is_closed || s.ready.may_try()) open_gate(s);
  }
  /// Takes the event back, if it has not been opened (SOCKET-4).
  void unwatch(direction d, external_event const& g) noexcept {
    std::lock_guard const lock(mutex_);
    side& s = sides_[index_of(d)];
    if (s.gate == &g) s.gate = nullptr;
  }
  /// Reports an event to the socket of that number, and opens the events of its watchers.  Called
  /// by the reactor's thread.
  void happens(std::uint32_t number, bool reading, bool writing, bool is_last) noexcept {
    std::lock_guard const lock(mutex_);
    // Relaxed: the number changes only under the lock (SOCKET-3).
    if (!is_open(life_.load(std::memory_order_relaxed), number)) return;
    if (reading) happens(sides_[0], is_last);
    if (writing) happens(sides_[1], is_last);
  }

  std::uint32_t const index;
  socket_place* next_free = nullptr;  // under the mutex of the table

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
    throw std::logic_error(
        d == direction::reading
            ? "weft: a process already waits to read from, or accept at, this socket: one at a "
              "time may"
            : "weft: a process already waits to write to this socket: one at a time may");
  }

  static void happens(side& s, bool is_last) noexcept {
    s.ready.happens(is_last);
    open_gate(s);
  }
  static void open_gate(side& s) noexcept {
    external_event* const g = std::exchange(s.gate, nullptr);
    while (g) try {
        return g->open();
      } catch (std::bad_alloc const&) {  // no other thread would open it, so retry
        std::this_thread::yield();
      }
  }

  std::atomic<std::uint64_t> life_ = 0;  // SOCKET-1
  descriptor fd_;                        // written while there are no users
  std::mutex mutex_;
  std::array<side, 2> sides_;
  socket_address peer_;  // written while there are no users
};

}  // namespace weft::detail
