// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "weft/adapters/detail/asio_sockets.hpp"
#include "weft/io/network.hpp"
#include "weft/io/socket.hpp"

namespace weft::detail {

/// An io_context, and a thread that runs it with all signals blocked.
template <class N>
class asio_thread {
 public:
  asio_thread() : work_(context.get_executor()) {
    (void)typename N::tcp::socket(context);  // makes the services of sockets, or throws
    N::without_signals([this] { thread_ = std::thread([this] { context.run(); }); });
  }
  asio_thread(asio_thread const&) = delete;
  asio_thread& operator=(asio_thread const&) = delete;
  ~asio_thread() {
    work_.reset();
    context.stop();
    thread_.join();
  }
  typename N::io_context context{1};

 private:
  typename N::work work_;
  std::thread thread_;
};

/// The template of asio_network (asio_network.hpp) and boost_asio_network (boost_asio_network.hpp).
template <class N>
class basic_asio_network final : public network {
  using tcp = typename N::tcp;
  using error_code = typename N::error_code;
  using socket = asio_socket<N>;

 public:
  static constexpr bool thread_safe = true;

  /// Makes a network with an io_context and a thread of its own.  Throws the library's system_error
  /// if the system has no descriptor left, std::system_error if it has no thread left; bad_alloc.
  basic_asio_network() : own_(std::make_unique<asio_thread<N>>()), context_(own_->context) {}
  /// Makes a network on a context that the program runs, and that outlives the network.
  explicit basic_asio_network(typename N::io_context& context) : context_(context) {}
  ~basic_asio_network() override {
    if (std::size_t const n = table_.size(); n != 0) {
      std::fprintf(stderr,
                   "weft: an asio_network ends while %zu of its sockets are open: it must outlive "
                   "them\n",
                   n);
      std::terminate();
    }
  }

  // ---- socket_home

  void close(socket_id s) noexcept override {
    if (auto const found = table_.remove(s)) {
      auto const held = found->lock();
      found->close();
    }
  }
  void unwatch(socket_id s, direction d, external_event& g) noexcept override {
    if (auto const found = table_.find(s)) {
      auto const held = found->lock();
      found->unwatch(d, g);
    }
  }
  [[nodiscard]] endpoint peer(socket_id s) const override {
    return use(table_, s, "ask for the peer of").at->peer;
  }
  [[nodiscard]] endpoint local(socket_id s) const override {
    use const on(table_, s, "ask for the address of");
    error_code error;
    auto const here = on.at->is_door() ? on.at->door().local_endpoint(error)
                                       : on.at->socket().local_endpoint(error);
    if (error) on.fail(error, "ask for the address of the connection to ");
    return {here.address().to_string(), here.port()};
  }

 private:
  /// Holds an open socket and its lock.  Throws io_error if the socket is closed.
  struct use {
    use(asio_socket_table<N> const& t, socket_id s, char const* what) : at(t.find(s)) {
      if (at) held = at->lock();
      if (!at || !at->is_open())
        throw io_error(std::make_error_code(std::errc::bad_file_descriptor),
                       std::string(what) + " a socket that is closed");
    }
    [[noreturn, gnu::cold]] void fail(error_code const& why, std::string_view what) const {
      throw_error(why, std::string(what) + at->peer.text());
    }
    std::shared_ptr<socket> const at;
    std::unique_lock<std::mutex> held;
  };

  [[noreturn, gnu::cold]] static void throw_error(error_code const& why, std::string const& what) {
    throw io_error(std::error_code(why.value(), std::system_category()), what);
  }
  [[nodiscard]] static typename tcp::endpoint address_of(endpoint const& e) {
    error_code error;
    auto const address = N::make_address(e.address, error);
    if (error)
      throw std::invalid_argument("weft: " + e.address +
                                  " is no address of IPv4 or IPv6, in digits");
    return {address, e.port};
  }
  template <class Object>
  static void prepare(Object& s) {
    error_code ignored;
    s.set_option(typename tcp::no_delay(true), ignored);
    s.non_blocking(true, ignored);
    N::close_on_exec(s);
  }
  [[nodiscard]] owned_socket own(std::shared_ptr<socket> s) {
    return {*this, table_.add(std::move(s))};
  }

  // ---- the operations (io.hpp)

  [[nodiscard]] owned_socket listen(endpoint const& at) override {
    auto const address = address_of(at);
    std::string const what = "listen at " + at.text();
    typename tcp::acceptor door(context_);
    error_code error;
    door.open(address.protocol(), error);
    if (!error) door.set_option(typename tcp::acceptor::reuse_address(true), error);
    if (!error) door.bind(address, error);
    if (!error) door.listen(tcp::acceptor::max_listen_connections, error);
    auto const here = error ? address : door.local_endpoint(error);
    if (error) throw_error(error, what);
    prepare(door);
    return own(std::make_shared<socket>(std::move(door),
                                        endpoint(here.address().to_string(), here.port())));
  }
  [[nodiscard]] std::optional<owned_socket> accept(socket_id s) override {
    use const on(table_, s, "accept at");
    for (;;) {
      typename tcp::socket accepted(context_);
      typename tcp::endpoint from;
      error_code error;
      on.at->door().accept(accepted, from, error);
      if (!error) {
        prepare(accepted);
        return own(std::make_shared<socket>(std::move(accepted),
                                            endpoint(from.address().to_string(), from.port())));
      }
      if (N::is_of_one_peer(error)) continue;
      // A lack of descriptors is reported even if no peer is there.
      if (!N::would_block(error) && !N::nobody_is_there(on.at->door()))
        on.fail(error, "accept at ");
      return std::nullopt;
    }
  }
  [[nodiscard]] owned_socket connect(endpoint const& to) override {
    auto const address = address_of(to);
    typename tcp::socket s(context_);
    error_code error;
    s.open(address.protocol(), error);
    if (error) throw_error(error, "connect to " + to.text());
    prepare(s);
    auto const made = std::make_shared<socket>(std::move(s), to);
    owned_socket result = own(made);
    auto const held = made->lock();
    made->connect(address);
    return result;
  }
  [[nodiscard]] bool finish_connect(socket_id s) override {
    use const on(table_, s, "connect by");
    if (on.at->is_connecting) return false;
    if (on.at->connect_error) on.fail(on.at->connect_error, "connect to ");
    return true;
  }
  [[nodiscard]] std::optional<std::size_t> read(socket_id s, std::span<std::byte> into) override {
    use const on(table_, s, "read from");
    error_code error;
    std::size_t const n = on.at->socket().read_some(N::buffer(into.data(), into.size()), error);
    if (N::is_end(error)) return 0;
    if (N::would_block(error)) return std::nullopt;
    if (error) on.fail(error, "read from ");
    return n;
  }
  [[nodiscard]] std::optional<std::size_t> write(socket_id s,
                                                 std::span<std::byte const> from) override {
    use const on(table_, s, "write to");
    error_code error;
    std::size_t const n = on.at->socket().write_some(N::buffer(from.data(), from.size()), error);
    if (N::would_block(error)) return std::nullopt;
    if (error) on.fail(error, "write to ");
    return n;
  }
  void finish(socket_id s) override {
    use const on(table_, s, "finish writing to");
    error_code error;
    on.at->socket().shutdown(tcp::socket::shutdown_send, error);
    if (error) on.fail(error, "finish writing to ");
  }
  void watch(socket_id s, direction d, external_event& g) override {
    use(table_, s, "wait for").at->watch(d, g);
  }

  std::unique_ptr<asio_thread<N>> const own_;  // null if the program runs the context
  typename N::io_context& context_;
  asio_socket_table<N> table_;
};

}  // namespace weft::detail
