// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "weft/io/io.hpp"
#include "weft/io/socket.hpp"

namespace weft {

/// The interface of a handler of `io`.  io.hpp describes each function.  The derived network
/// determines the cost, the allocations and the thread safety.  Throws io_error.
class network : public socket_home {
 public:
  virtual ~network() = default;

  [[nodiscard]] owned_socket on(io::listen const& o) { return listen(o.at); }
  [[nodiscard]] std::optional<owned_socket> on(io::accept const& o) { return accept(o.on); }
  [[nodiscard]] owned_socket on(io::connect const& o) { return connect(o.to); }
  [[nodiscard]] bool on(io::finish_connect const& o) { return finish_connect(o.on); }
  [[nodiscard]] std::optional<std::size_t> on(io::read const& o) { return read(o.on, o.into); }
  [[nodiscard]] std::optional<std::size_t> on(io::write const& o) { return write(o.on, o.from); }
  void on(io::finish const& o) { finish(o.on); }
  void on(io::close const& o) { close(o.on); }
  void on(io::watch const& o) { watch(o.on, o.what, *o.gate); }

 protected:
  network() = default;

  [[nodiscard]] virtual owned_socket listen(endpoint const& at) = 0;
  [[nodiscard]] virtual std::optional<owned_socket> accept(socket_id on) = 0;
  [[nodiscard]] virtual owned_socket connect(endpoint const& to) = 0;
  [[nodiscard]] virtual bool finish_connect(socket_id s) = 0;
  [[nodiscard]] virtual std::optional<std::size_t> read(socket_id s, std::span<std::byte> into) = 0;
  [[nodiscard]] virtual std::optional<std::size_t> write(socket_id s,
                                                         std::span<std::byte const> from) = 0;
  virtual void finish(socket_id s) = 0;
  virtual void watch(socket_id s, direction d, external_event& g) = 0;
};

}  // namespace weft
