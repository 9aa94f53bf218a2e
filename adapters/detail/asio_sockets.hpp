// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "weft/io/socket.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft::detail {

/// A socket of an asio_network.  `N` has the names of Asio, or of Boost.Asio
/// (standalone_asio_sockets in asio_network.hpp).
///
///   ASIONET-1  All members are accessed under `mutex_`; so is Asio's object, since it is not
///       thread safe.  A call on that object is an attempt, which does not wait, or begins a wait
///       in the context.
///   ASIONET-2  An event stands here from `watch` until it is opened, under the mutex, or taken
///       back by `unwatch`.  So after `unwatch` no thread is still opening it.
///   ASIONET-3  Each direction has at most one wait in the context.  A watcher begins one, unless
///       one is pending; a pending wait ends when the socket is ready, or is closed.
///   ASIONET-4  Asio's object is destroyed when the socket is closed, so that handlers which own
///       this object later need no context.
template <class N>
class asio_socket : public std::enable_shared_from_this<asio_socket<N>> {
 public:
  using stream = typename N::tcp::socket;
  using acceptor = typename N::tcp::acceptor;
  using error_code = typename N::error_code;

  asio_socket(stream s, endpoint peer_is) : peer(std::move(peer_is)), object_(std::move(s)) {}
  asio_socket(acceptor a, endpoint own) : peer(std::move(own)), object_(std::move(a)) {}

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  // ---- called under the lock

  [[nodiscard]] bool is_open() const noexcept { return object_.index() != 0; }
  [[nodiscard]] stream& socket() { return std::get<stream>(object_); }
  [[nodiscard]] acceptor& door() { return std::get<acceptor>(object_); }
  [[nodiscard]] bool is_door() const noexcept { return std::holds_alternative<acceptor>(object_); }

  void watch(direction d, external_event& g) {
    side& s = sides_[index_of(d)];
    if (s.gate) throw_occupied(d);
    s.gate = &g;
    if (!is_open() || (!is_connecting && connect_error)) return open_gate(s);
    if (is_connecting || std::exchange(s.is_waiting, true)) return;
    auto const type = d == direction::reading ? stream::wait_read : stream::wait_write;
    auto at_end = [self = this->shared_from_this(), d](error_code const&) { self->on_ready(d); };
    try {
      if (is_door())
        door().async_wait(type, std::move(at_end));
      else
        socket().async_wait(type, std::move(at_end));
    } catch (...) {
      s.is_waiting = false;
      s.gate = nullptr;
      throw;
    }
  }
  void connect(typename N::tcp::endpoint const& to) {
    is_connecting = true;
    socket().async_connect(to, [self = this->shared_from_this()](error_code const& error) {
      auto const held = self->lock();
      self->is_connecting = false;
      self->connect_error = error;
      for (side& s : self->sides_) open_gate(s);
    });
  }
  void close() noexcept {
    object_.template emplace<0>();
    for (side& s : sides_) open_gate(s);
  }
  void unwatch(direction d, external_event const& g) noexcept {
    side& s = sides_[index_of(d)];
    if (s.gate == &g) s.gate = nullptr;
  }

  endpoint const peer;
  bool is_connecting = false;
  error_code connect_error;

 private:
  struct side {
    external_event* gate = nullptr;
    bool is_waiting = false;  // whether a wait is pending in the context (ASIONET-3)
  };
  static constexpr std::size_t index_of(direction d) noexcept {
    return d == direction::reading ? 0 : 1;
  }
  [[noreturn, gnu::cold]] static void throw_occupied(direction d) {
    // A user sees these two texts with every network: io/detail/socket_place.cpp repeats them.
    if (d == direction::writing)
      throw std::logic_error(
          "weft: a process already waits to write to this socket: one at a time may");
    throw std::logic_error(
        "weft: a process already waits to read from, or accept at, this socket: one at a time may");
  }
  void on_ready(direction d) noexcept {
    auto const held = lock();
    side& s = sides_[index_of(d)];
    s.is_waiting = false;
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

  std::mutex mutex_;
  std::variant<std::monostate, stream, acceptor> object_;
  std::array<side, 2> sides_;
};

/// The sockets of an asio_network, by their ids.
template <class N>
class asio_socket_table {
 public:
  using socket = asio_socket<N>;

  /// Adds a socket.  Throws bad_alloc.
  [[nodiscard]] socket_id add(std::shared_ptr<socket> s) {
    std::lock_guard const lock(mutex_);
    if (free_.empty()) {
      places_.emplace_back();
      free_.reserve(places_.size());  // so that remove() need not allocate
      free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
    std::uint32_t const at = free_.back();
    free_.pop_back();
    places_[at].socket = std::move(s);
    return {at, places_[at].number};
  }
  /// The socket with that id; null if there is none any more.
  [[nodiscard]] std::shared_ptr<socket> find(socket_id s) const noexcept {
    std::lock_guard const lock(mutex_);
    return s.place < places_.size() && places_[s.place].number == s.number ? places_[s.place].socket
                                                                           : nullptr;
  }
  /// Takes out the socket with that id, and returns it; null if there is none any more.
  [[nodiscard]] std::shared_ptr<socket> remove(socket_id s) noexcept {
    std::lock_guard const lock(mutex_);
    if (s.place >= places_.size() || places_[s.place].number != s.number) return nullptr;
    place& p = places_[s.place];
    if (p.socket) {
      ++p.number;
      free_.push_back(s.place);
    }
    return std::exchange(p.socket, nullptr);
  }
  [[nodiscard]] std::size_t size() const noexcept {
    std::lock_guard const lock(mutex_);
    return places_.size() - free_.size();
  }

 private:
  struct place {
    std::shared_ptr<asio_socket<N>> socket;
    std::uint32_t number = 1;
  };
  std::mutex mutable mutex_;
  std::vector<place> places_;        // guarded by mutex_
  std::vector<std::uint32_t> free_;  // guarded by mutex_
};

}  // namespace weft::detail
