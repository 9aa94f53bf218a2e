// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "sched/sync/external_event.hpp"

namespace weft {

/// Where somebody listens: an address in digits, of IPv4 or IPv6, and a port; listening at port 0
/// takes a free one.  A name is to be looked up before, off the thread (blocking.hpp).
struct endpoint {
  /// On this machine.
  explicit endpoint(std::uint16_t p = 0) : endpoint("127.0.0.1", p) {}
  endpoint(std::string a, std::uint16_t p) : address(std::move(a)), port(p) {}

  std::string address;
  std::uint16_t port;

  [[nodiscard]] std::string text() const {
    bool const is_ipv6 = address.find(':') != std::string::npos;
    return (is_ipv6 ? '[' + address + ']' : address) + ':' + std::to_string(port);
  }
  friend bool operator==(endpoint const&, endpoint const&) = default;
};

/// Something could not be done.  code() says why: std::errc::timed_out, connection_reset,
/// connection_refused, too_many_files_open, and what else the system has.
struct [[gnu::visibility("default")]] io_error : std::system_error {
  /// `what` was to be done: "read from 127.0.0.1:4000".
  io_error(std::error_code why, std::string const& what) : system_error(why, "weft: " + what) {}
};

/// Which socket of a network.  One that is no more is known by its number.
struct socket_id {
  std::uint32_t place = 0;
  std::uint32_t number = 0;
  friend bool operator==(socket_id, socket_id) = default;
};

enum class direction : std::uint8_t { reading, writing };

/// Whose sockets they are.
class socket_home {
 public:
  socket_home(socket_home const&) = delete;
  socket_home& operator=(socket_home const&) = delete;

  /// Does nothing if it is no more.  Thread safe if the network is.
  virtual void close(socket_id s) noexcept = 0;
  /// The gate is not opened any more, and is not being opened.
  virtual void unwatch(socket_id s, direction d, external_event& g) noexcept = 0;
  /// For errors: who is at the other end, or where it listens.
  [[nodiscard]] virtual endpoint peer(socket_id s) const = 0;
  /// Where it is itself.
  [[nodiscard]] virtual endpoint local(socket_id s) const = 0;

 protected:
  socket_home() = default;
  ~socket_home() = default;
};

/// Owns a socket: closes it when it goes.  Its network must be there until then.
class [[nodiscard]] owned_socket {
 public:
  /// For networks.
  owned_socket(socket_home& h, socket_id s) noexcept : home_(&h), id_(s) {}
  owned_socket(owned_socket&& other) noexcept
      : home_(std::exchange(other.home_, nullptr)), id_(other.id_) {}
  owned_socket& operator=(owned_socket other) noexcept {
    std::swap(home_, other.home_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~owned_socket() {
    if (home_) home_->close(id_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return home_ != nullptr; }
  /// Not of one that was moved from.
  [[nodiscard]] socket_id id() const noexcept { return id_; }
  [[nodiscard]] socket_home& home() const noexcept { return *home_; }

 private:
  socket_home* home_;
  socket_id id_;
};

namespace detail {
/// A gate that a network may open: not once this has gone.
class watched_gate {
 public:
  watched_gate(socket_home& h, socket_id s, direction d) noexcept : home_(h), id_(s), what_(d) {}
  watched_gate(watched_gate const&) = delete;
  watched_gate& operator=(watched_gate const&) = delete;
  ~watched_gate() {
    // Open: the network has let go of it.
    if (!gate.is_open()) home_.unwatch(id_, what_, gate);
  }

  external_event gate;

 private:
  socket_home& home_;
  socket_id id_;
  direction what_;
};
}  // namespace detail

}  // namespace weft
