// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/detail/readiness.hpp"
#include "weft/io/detail/socket_address.hpp"
#include "weft/io/socket.hpp"

namespace weft::detail {

/// A place for a socket of a reactor: its descriptor, its users (the threads that use it now) and
/// its watchers (the processes that wait for it).  The place is reused after the socket is closed.
///
///   SOCKET-1  One word has the number of the socket, whether it is open, and the count of its
///       users; being open counts as one user.  A thread that uses the socket checks the number and
///       `open`, and adds itself, in one exchange; a thread that closes the socket checks the same,
///       and clears `open`: from then on the closing thread is the user that being open counted as,
///       and has to call leave().
///   SOCKET-2  The last user closes the descriptor.  So a system call gets the descriptor of its
///       own socket, never one that the system has given to another socket meanwhile.
///   SOCKET-3  The number changes, and events are reported, under the lock: a thread that holds the
///       lock and finds its number reports to the right socket.
///   SOCKET-4  An event stands here from `watch` until it is opened, under the lock, or taken back
///       by `unwatch`.  So after `unwatch` no thread is still opening it.  The thread that opens it
///       holds no other lock, and the woken process takes this lock only when it continues: so this
///       lock and those of the scheduler cannot deadlock.
///   SOCKET-5  A watcher checks, under the lock, whether the system has reported something since
///       the attempt (READY-1), or the socket was closed; a thread that reports or closes checks
///       for watchers under the lock after that.  So either the watcher sees the report or the
///       close, or the other thread sees the watcher.
class alignas(64) socket_place {
 public:
  explicit socket_place(std::uint32_t i = 0) noexcept : index(i) {}

  // ---- use

  /// Adds the caller to the users.  False if the socket is closed, or the place has another socket.
  [[nodiscard]] bool enter(std::uint32_t number) noexcept {
    std::uint64_t found = life_.load(std::memory_order_relaxed);  // relaxed: [3] verifies the value
    do {
      if (!is_open(found, number)) return false;
      // [3] acquire: pairs with [4] of socket_place.cpp, so that fd_ and peer_ are seen.  Relaxed
      // on failure: the loop checks the value again.
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

  /// Makes this free place a socket.
  [[nodiscard]] socket_id begin(descriptor fd, socket_address const& peer) noexcept;
  /// Closes the socket: from now on enter() fails, and watchers are woken.  False if the socket is
  /// closed already, or the place has another socket.
  [[nodiscard]] bool close(std::uint32_t number) noexcept;
  /// Closes the descriptor.  Called by the last user.
  void end() noexcept;

  // ---- waiting

  /// Opens `g` once another attempt may succeed, or the socket is closed; at once if that is so
  /// already.  Called by a thread that has entered.  Throws std::logic_error if the direction has a
  /// watcher.
  void watch(direction d, external_event& g);
  /// Takes the event back, if it has not been opened (SOCKET-4).
  void unwatch(direction d, external_event const& g) noexcept;
  /// Reports an event to the socket of that number, and opens the events of its watchers.  Called
  /// by the reactor's thread.
  void happens(std::uint32_t number, bool reading, bool writing, bool is_last) noexcept;

  std::uint32_t const index;
  socket_place* next_free = nullptr;  // guarded by the mutex of the table

 private:
  struct side {
    readiness ready;
    external_event* gate = nullptr;  // guarded by mutex_
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
  static void happens(side& s, bool is_last) noexcept;
  static void open_gate(side& s) noexcept;

  std::atomic<std::uint64_t> life_ = 0;  // number, `open`, and count of users (SOCKET-1)
  descriptor fd_;                        // written only while there are no users
  std::mutex mutex_;
  std::array<side, 2> sides_;
  socket_address peer_;  // written only while there are no users
};

}  // namespace weft::detail
