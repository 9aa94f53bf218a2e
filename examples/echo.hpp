// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/sched/schedule.hpp>

/// An echo server: one process for each connection.  It uses whatever network handles `io`.
namespace examples {

/// What the server counts about its connections.
struct attendance {
  std::size_t here = 0;
  std::size_t gone = 0;
  std::size_t cut_off = 0;     ///< Of those gone: ended by an error.
  std::size_t times_full = 0;  ///< How often no descriptor was free for a new connection.
};

/// Sends back all that arrives, until the end of the stream.
inline weft::eff<void, weft::networking> echo(weft::connection& c) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return;
    co_await c.write(std::span(buffer).first(n));
  }
}

/// Serves one connection.  An error on it does not affect the others.
inline weft::eff<void, weft::networking, weft::syncing> serve(weft::connection c,
                                                              weft::shared<attendance>& who) {
  bool is_cut_off = false;
  try {
    co_await echo(c);
  } catch (weft::io_error const&) {
    is_cut_off = true;
  }
  co_await c.close();  // first: the acceptor may wait for its descriptor
  co_await who.update([is_cut_off](attendance& a) {
    --a.here;
    ++a.gone;
    a.cut_off += is_cut_off;
  });
}

/// The next connection.  With too many open files it waits until one of ours has been closed.
inline weft::eff<weft::connection, weft::networking, weft::syncing> next_one(
    weft::listener& door, weft::shared<attendance>& who) {
  for (;;) {
    attendance const before = co_await who.get();
    try {
      weft::connection c = co_await door.accept();
      co_return c;
    } catch (weft::io_error const& e) {
      // Without connections of ours, none will be closed.
      if (e.code() != std::errc::too_many_files_open || before.here == 0) throw;
    }
    co_await who.update([](attendance& a) { ++a.times_full; });
    co_await who.wait_for([&](attendance const& now) { return now.gone != before.gone; });
  }
}

using serving = weft::spawning<weft::io, weft::completions, weft::syncing>;

/// Serves `how_many` connections, by default without end.
inline weft::eff<void, serving, weft::networking, weft::syncing> echo_server(
    weft::listener door, weft::shared<attendance>& who,
    std::size_t how_many = std::numeric_limits<std::size_t>::max()) {
  for (std::size_t i = 0; i != how_many; ++i) {
    weft::connection c = co_await next_one(door, who);
    co_await who.update([](attendance& a) { ++a.here; });
    co_await weft::spawn(serve, std::move(c), std::ref(who));
  }
}

}  // namespace examples
