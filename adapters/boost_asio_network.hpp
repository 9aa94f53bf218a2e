// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <string>

#include "weft/adapters/detail/asio_network.hpp"
#include "weft/adapters/detail/asio_system.hpp"

namespace weft {

namespace detail {
/// The names of Boost.Asio, for boost_asio_network.
struct boost_asio_sockets : asio_system {
  using error_code = ::boost::system::error_code;
  using io_context = ::boost::asio::io_context;
  using tcp = ::boost::asio::ip::tcp;
  using work = ::boost::asio::executor_work_guard<io_context::executor_type>;
  static auto make_address(std::string const& text, error_code& error) {
    return ::boost::asio::ip::make_address(text, error);
  }
  template <class Byte>
  static auto buffer(Byte* data, std::size_t n) {
    return ::boost::asio::buffer(data, n);
  }
  static bool is_end(error_code const& e) { return e == ::boost::asio::error::eof; }
  static bool would_block(error_code const& e) {
    return e == ::boost::asio::error::would_block || e == ::boost::asio::error::try_again;
  }
};
}  // namespace detail

/// The network of the system, by Boost.Asio.  It does what asio_network does by Asio:
/// asio_network.hpp describes both.
using boost_asio_network = detail::basic_asio_network<detail::boost_asio_sockets>;

}  // namespace weft
