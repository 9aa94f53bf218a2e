// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace weft {

class external_event;

/// The address of a socket: an IPv4 or IPv6 address in digits, and a port.  A listener at port 0
/// takes a free port.  To use the name of a host, look it up by off_thread first (blocking.hpp).
struct endpoint {
  /// Port `p` of this machine.
  explicit endpoint(std::uint16_t p = 0) : endpoint("127.0.0.1", p) {}
  /// Port `p` at the address `a`, in digits, of this machine or of another one.
  endpoint(std::string a, std::uint16_t p) : address(std::move(a)), port(p) {}

  std::string address;  ///< In digits.
  std::uint16_t port;   ///< 0, for a listener: any free port.

  /// The text "127.0.0.1:4000", or "[::1]:4000".  Allocates the text.
  [[nodiscard]] std::string text() const;
  friend bool operator==(endpoint const&, endpoint const&) = default;
};

/// An operation on a network has failed.  code() says why: std::errc::timed_out, connection_reset,
/// connection_refused, too_many_files_open, and other codes of the system.
struct [[gnu::visibility("default")]] io_error : std::system_error {
  /// `what` is the operation that failed: "read from 127.0.0.1:4000".
  io_error(std::error_code why, std::string const& what);
};

/// Identifies a socket of a network.  `number` distinguishes it from closed sockets that had the
/// same place.
struct socket_id {
  std::uint32_t place = 0;   ///< The index of the socket in the table of its network.
  std::uint32_t number = 0;  ///< How many sockets have had that place, this one included.
  friend bool operator==(socket_id, socket_id) = default;
};

/// One direction of a stream, as seen from the side that has the socket.
enum class direction : std::uint8_t {
  reading,  ///< From the other side.
  writing   ///< To the other side.
};

/// The part of a network that its sockets use.  Costs what the network costs, and allocates what it
/// allocates.
class socket_home {
 public:
  socket_home(socket_home const&) = delete;
  socket_home& operator=(socket_home const&) = delete;

  /// Closes the socket, if it is open.  Thread safe if the network is.
  virtual void close(socket_id s) noexcept = 0;
  /// Takes back the event of a `watch`: after this no thread will open it, or is still opening it.
  /// Thread safe if the network is.
  virtual void unwatch(socket_id s, direction d, external_event& g) noexcept = 0;
  /// The address of the peer, or, for a listener, its own address; used in errors.  Allocates its
  /// text.
  [[nodiscard]] virtual endpoint peer(socket_id s) const = 0;
  /// The socket's own address.  Allocates its text.
  [[nodiscard]] virtual endpoint local(socket_id s) const = 0;

 protected:
  socket_home() = default;
  ~socket_home() = default;
};

/// Owns a socket: the destructor closes the socket.  The network must outlive this object.
class [[nodiscard]] owned_socket {
 public:
  /// To be called by networks only.
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
  /// The id of the socket.  Requires that this was not moved from.
  [[nodiscard]] socket_id id() const noexcept { return id_; }
  /// The network of the socket.  Requires that this was not moved from.
  [[nodiscard]] socket_home& home() const noexcept { return *home_; }

 private:
  socket_home* home_;
  socket_id id_;
};

}  // namespace weft
