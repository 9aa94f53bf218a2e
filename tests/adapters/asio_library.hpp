// SPDX-License-Identifier: MIT
#pragma once

/// The Asio that a test is about: the one without Boost, or Boost.Asio, if the test is compiled for
/// that (tests/table.bzl).

#if defined(WEFT_TEST_OF_BOOST_ASIO)
#include <boost/asio.hpp>

#include "weft/adapters/boost_asio.hpp"
#else
#include <asio.hpp>

#include "weft/adapters/asio.hpp"
#endif

#include <span>
#include <utility>

namespace weft::tests {

#if defined(WEFT_TEST_OF_BOOST_ASIO)
namespace net = ::boost::asio;
using library_traits = detail::boost_asio;
#else
namespace net = ::asio;
using library_traits = detail::standalone_asio;
#endif

struct library {
  using traits = library_traits;
  using io_context = net::io_context;
  using timer = net::steady_timer;
  using tcp = net::ip::tcp;
  using error_code = library_traits::error_code;
  using system_error = library_traits::system_error;
  using executor = net::any_io_executor;
  static auto here() { return net::ip::address_v4::loopback(); }
  static auto buffer(std::span<char> s) { return net::buffer(s.data(), s.size()); }
  static error_code aborted() { return traits::aborted(); }
  static error_code timed_out() { return traits::timed_out(); }
  static error_code refused() { return net::error::connection_refused; }
  static auto work(io_context& c) { return net::make_work_guard(c); }
  template <class Signature, class Begin, class Token, class... Args>
  static auto initiate(Begin b, Token t, Args... args) {
    return net::async_initiate<Token, Signature>(std::move(b), t, std::move(args)...);
  }
  template <class Socket, class Token>
  static auto write(Socket& s, std::span<char> bytes, Token t) {
    return net::async_write(s, buffer(bytes), t);
  }
  template <class Socket, class Token>
  static auto read(Socket& s, std::span<char> bytes, Token t) {
    return net::async_read(s, buffer(bytes), t);
  }
  template <class E, class Token>
  static auto post(E const& e, Token t) {
    return net::post(e, std::move(t));
  }
  template <class Token>
  static auto post(Token t) {
    return net::post(std::move(t));
  }
};

}  // namespace weft::tests
