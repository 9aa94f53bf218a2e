// SPDX-License-Identifier: MIT
// A server and a client, in a network in memory; with the system's reactor the program is the same.
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/memory_network.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

std::string_view text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

eff<void, networking> serves(listener at) {
  connection c = co_await at.accept();
  std::array<std::byte, 5> word;
  co_await c.read_all(word);
  std::cout << "server: " << text_of(word) << '\n';
  co_await c.write("welcome");
  co_await c.finish();
  co_await at.close();
}

eff<void, spawning<networking>, networking> program() {
  listener l = co_await listen(endpoint(4000));
  endpoint const at = l.local();
  co_await spawn(serves, std::move(l));
  connection c = co_await connect(at);
  std::cout << c.peer().text() << ' ' << c.peer().address << ' ' << c.peer().port << '\n';
  std::string_view const hello = "hello";
  std::size_t const n = co_await c.write_some(std::as_bytes(std::span(hello)));
  std::array<std::byte, 100> answer;
  std::size_t const m = co_await c.read(answer);
  std::cout << n << " written, " << text_of(std::span(answer).first(m)) << '\n';
  co_await c.close();
  try {
    (void)co_await connect(endpoint("127.0.0.1", 9));
  } catch (io_error const& e) {
    std::cout << (e.code() == std::errc::connection_refused) << '\n';
  }
}

int main() {
  memory_network net;
  schedule(program, net);
  std::cout << net.sockets() << " sockets left\n";
}
