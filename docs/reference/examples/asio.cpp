// SPDX-License-Identifier: MIT
// asio: operations of Asio in processes, a context that runs them, and sockets for `io`.
#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

#include <weft/adapters/asio.hpp>
#include <weft/adapters/asio_network.hpp>
#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

// Answers one client, by Asio.
eff<void, completions> serves(asio::ip::tcp::acceptor& door) {
  asio::ip::tcp::socket s = co_await door.async_accept(use_weft);
  std::string const text = "welcome";
  std::size_t const n = co_await asio::async_write(s, asio::buffer(text), use_weft);
  std::cout << "written: " << n << '\n';
}
// The client, by `io`.
eff<void, networking> asks(endpoint at) {
  connection c = co_await connect(at);
  std::array<std::byte, 7> text;
  co_await c.read_all(text);
  std::cout << "read: " << text.size() << '\n';
}
eff<void, spawning<networking>, networking> program(asio::io_context& context) {
  auto const local = asio::ip::address_v4::loopback();
  asio::ip::tcp::acceptor door(context, {local, 0});
  co_await spawn(asks, endpoint(door.local_endpoint().port()));
  co_await serves(door);

  asio::steady_timer long_time(context, std::chrono::hours(1));
  weft_token<> const in_time = use_weft.until(instant::min());
  auto const [error] = co_await long_time.async_wait(in_time.cancelling(long_time).as_tuple());
  std::cout << error.message() << '\n';
  co_await asio::post(use_weft.on(context.get_executor()));
}

int main() {
  asio::io_context context;
  asio_network net(context);
  scheduler<> s;
  s.start([&context] { return program(context); }, net);
  auto const running = run_on(context, s);
  context.run();
}
