// SPDX-License-Identifier: MIT

/// A server of HTTP and its client, with Boost.Beast: each process awaits the operations of Beast.
/// The processes run on two threads, and the context on a third.

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "weft/adapters/boost_asio.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

using namespace weft;
namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = net::ip::tcp;

using waiting = eff<void, completions>;
using serving = eff<void, spawning<completions>, completions>;

/// Answers the requests of one client.
waiting answer(beast::tcp_stream stream) {
  beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> asked;
    auto const [error, read] =
        co_await http::async_read(stream, buffer, asked, use_weft.as_tuple());
    if (error) break;  // mostly http::error::end_of_stream
    http::response<http::string_body> answer(http::status::ok, asked.version());
    if (asked.target() == "/hello")
      answer.body() = "Hello, " + asked.body();
    else
      answer.result(http::status::not_found);
    answer.prepare_payload();
    (void)co_await http::async_write(stream, answer, use_weft);
  }
}
serving serve(tcp::acceptor& door, int clients) {
  for (int i = 0; i != clients; ++i) {
    tcp::socket s = co_await door.async_accept(use_weft);
    co_await spawn(answer, beast::tcp_stream(std::move(s)));
  }
}
eff<std::string, completions> ask(net::io_context& context, tcp::endpoint at, std::string target,
                                  std::string body) {
  beast::tcp_stream stream(context);
  co_await stream.async_connect(at, use_weft);
  http::request<http::string_body> asks(http::verb::post, target, 11);
  asks.body() = std::move(body);
  asks.prepare_payload();
  (void)co_await http::async_write(stream, asks, use_weft);
  beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  (void)co_await http::async_read(stream, buffer, answer, use_weft);
  co_return std::to_string(answer.result_int()) + " " + answer.body();
}

int main() {
  net::io_context context;
  tcp::acceptor door(context, tcp::endpoint(net::ip::address_v4::loopback(), 0));
  auto work = net::make_work_guard(context);
  std::thread runs([&] { context.run(); });
  std::array<std::string, 2> answers;
  schedule<sharing>({.threads = 2}, [&]() -> serving {
    co_await spawn(serve, std::ref(door), 2);
    answers[0] = co_await ask(context, door.local_endpoint(), "/hello", "weft");
    answers[1] = co_await ask(context, door.local_endpoint(), "/other", "");
  });
  work.reset();
  runs.join();
  for (auto const& a : answers) std::cout << a << '\n';
}
