// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/reactor.hpp>
#include <weft/sched/schedule.hpp>

using networking = weft::spawning<weft::io, weft::completions>;

/// Two processes and a socket between them.
weft::eff<void, weft::io, weft::completions> say_hello(weft::endpoint to) {
  weft::connection c = co_await weft::connect(to);
  co_await c.write("hello");
}
weft::eff<void, networking, weft::io, weft::completions, weft::console> program() {
  weft::listener at = co_await weft::listen(weft::endpoint());
  co_await weft::spawn(say_hello, at.local());
  weft::connection c = co_await at.accept();
  std::array<char, 5> text{};
  co_await c.read_all(std::as_writable_bytes(std::span(text)));
  std::string heard(text.data(), text.size());
  co_await weft::console::print_line(std::move(heard));
}

int main() {
  weft::reactor net;
  weft::schedule(program, net, weft::console_to_stream(std::cout));
}
