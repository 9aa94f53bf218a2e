// SPDX-License-Identifier: MIT
// The system's network, and a report of waiting processes on a signal.
#include <array>
#include <csignal>
#include <iostream>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/dump_on_signal.hpp>
#include <weft/io/reactor.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, networking> serves(listener at) {
  connection c = co_await at.accept();
  co_await c.write("hello");
}
eff<void, spawning<networking>, networking> program() {
  listener l = co_await listen(endpoint());  // at a free port
  endpoint const at = l.local();
  co_await spawn(serves, std::move(l));
  connection c = co_await connect(at);
  std::array<std::byte, 5> word;
  co_await c.read_all(word);
  std::cout << static_cast<char>(word[0]) << " and " << word.size() - 1 << " more\n";
}

int main() {
  scheduler<> s;
  dump_on_signal const asked(s, SIGUSR1);  // kill -USR1: what waits
  reactor net;
  s.start(program, net).run();
}
