// SPDX-License-Identifier: MIT
#pragma once

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <string>

#include "weft/adapters/detail/asio_network.hpp"
#include "weft/adapters/detail/asio_system.hpp"

namespace weft {

namespace detail {
/// The names of Asio without Boost, for asio_network.
struct standalone_asio_sockets : asio_system {
  using error_code = ::asio::error_code;
  using io_context = ::asio::io_context;
  using tcp = ::asio::ip::tcp;
  using work = ::asio::executor_work_guard<io_context::executor_type>;
  static auto make_address(std::string const& text, error_code& error) {
    return ::asio::ip::make_address(text, error);
  }
  template <class Byte>
  static auto buffer(Byte* data, std::size_t n) {
    return ::asio::buffer(data, n);
  }
  static bool is_end(error_code const& e) { return e == ::asio::error::eof; }
  static bool would_block(error_code const& e) {
    return e == ::asio::error::would_block || e == ::asio::error::try_again;
  }
};
}  // namespace detail

/// The network of the system, by Asio: a handler of `io`, like reactor (io/reactor.hpp), for
/// systems that have no reactor, or for a program that has an io_context.
///
///     asio_network net;  // with a context and a thread of its own
///     schedule(server, net);
///
///     asio_network net(context);  // by a context that the program runs
///
/// Processes attempt operations on their own thread; the context waits for sockets that are not
/// ready, and wakes the processes.  Thread safe: for any backend, and several schedulers at once.
/// Must outlive its sockets: if some are open, the destructor prints a message and terminates the
/// program.  A context that the program passes must run, and must outlive the network.
///
/// Where not to use it: on Linux, in a program without an io_context.  With many connections,
/// reactor takes half the processor time, as it makes no system call for an attempt that can find
/// nothing, and none to wait again (docs/decisions/034-asio.md).
///
/// Real time only.  A socket sends at once, and may take a port that was in use a moment ago.
/// Child programs do not inherit descriptors, unless another thread starts the child in the moment
/// in which a socket is made.
///
/// Cost of a message that a peer waits for: a read that finds nothing, a wait in the context, a
/// wake-up by its thread, and a read.  Each attempt locks the table of sockets, and then the
/// socket.  Allocates each socket, and a handler for each wait.  Throws io_error if an operation
/// fails, std::invalid_argument if an address is not valid, std::logic_error if another process
/// waits for the same direction of a socket, std::system_error if the network's thread cannot be
/// started; bad_alloc.
using asio_network = detail::basic_asio_network<detail::standalone_asio_sockets>;

}  // namespace weft
