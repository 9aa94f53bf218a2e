// SPDX-License-Identifier: MIT
// Faults of a network: the explorer decides which happen, and where.
#include <array>
#include <iostream>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/memory_network.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void, networking> serves(listener at) {
  connection c = co_await at.accept();
  co_await c.write("ab");
}
eff<void, spawning<networking>, networking> program() {
  listener l = co_await listen(endpoint(4000));
  co_await spawn(serves, std::move(l));
  connection c = co_await connect(endpoint(4000));
  std::array<std::byte, 2> both;
  std::size_t const n = co_await c.read(both);  // wrong: it may be one byte
  if (n != 2) throw std::string("got 1 byte");
}

int main() {
  memory_network_options faults{.splits = 1};
  auto const found = explore(
      [faults] { return memory_network(faults); }, [](memory_network&) { return program(); },
      [](memory_network const&) { return true; }, [](memory_network& net) -> auto& { return net; });
  std::cout << found.failed << " failed\n";

  faults = {.short_writes = 1, .delays = 1, .resets = 1, .refusals = 1, .silences = 1, .seed = 7};
  faults.capacity = 16;
  faults.backlog = 1;
  faults.max_sockets = 10;
  memory_network net(faults);  // without an explorer, the seed decides
  std::cout << net.sockets() << '\n';
}
