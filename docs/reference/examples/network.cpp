// SPDX-License-Identifier: MIT
// The operations of io, and a handler that passes them to another network: here it counts reads.
#include <array>
#include <cstddef>
#include <iostream>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/memory_network.hpp>
#include <weft/io/network.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

struct counts_reads {
  network& net;
  int reads = 0;
  template <operation O>
  auto on(O o) {
    if constexpr (std::same_as<O, io::read>) ++reads;
    return net.on(o);
  }
};

eff<void, io, completions> program() {
  owned_socket l = co_await io::listen{endpoint(4000)};
  owned_socket client = co_await io::connect{endpoint(4000)};
  bool const connected = co_await io::finish_connect{client.id()};
  auto server = co_await io::accept{l.id()};
  std::array<std::byte, 4> bytes{};
  auto const nothing = co_await io::read{server->id(), bytes};
  external_event readable;
  co_await io::watch{server->id(), direction::reading, readable};
  co_await io::write{client.id(), bytes};
  co_await completions::wait{readable};
  auto const some = co_await io::read{server->id(), bytes};
  std::cout << connected << nothing.has_value() << *some << '\n';

  socket_home& home = client.home();
  external_event writable;
  co_await io::watch{client.id(), direction::writing, writable};
  home.unwatch(client.id(), direction::writing, writable);
  std::cout << home.peer(client.id()).port << ' ' << (home.local(l.id()).port == 4000) << '\n';
  co_await io::finish{client.id()};
  co_await io::close{client.id()};
  socket_id const id = l.id();
  std::cout << (id == l.id()) << (id.place != server->id().place || id.number == 0) << '\n';
  home.close(id);
}

int main() {
  memory_network net;
  counts_reads counting{net};
  schedule(program, counting);
  std::cout << counting.reads << " reads\n";
}
