// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "effects/effects.hpp"
#include "io/connection.hpp"
#include "sched/schedule.hpp"

/// A server that says what it is told: a process a connection.  It opens nothing itself: it talks
/// through whatever network handles `io`.
namespace examples {

/// What a server knows of those it serves.
struct attendance {
  std::size_t here = 0;
  std::size_t gone = 0;
  std::size_t cut_off = 0;     ///< Of those who have gone: by an error.
  std::size_t times_full = 0;  ///< How often there was no descriptor for one who had come.
};

/// What comes goes back, until the end.
inline weft::eff<void, weft::networking> echo(weft::connection& c) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return;
    co_await c.write(std::span(buffer).first(n));
  }
}

/// One of those who came.  What goes wrong with him is nobody else's business.
inline weft::eff<void, weft::networking, weft::syncing> serve(weft::connection c,
                                                              weft::shared<attendance>& who) {
  bool is_cut_off = false;
  try {
    co_await echo(c);
  } catch (weft::io_error const&) {
    is_cut_off = true;
  }
  co_await c.close();  // first, for who waits for its descriptor
  co_await who.update([is_cut_off](attendance& a) {
    --a.here;
    ++a.gone;
    a.cut_off += is_cut_off;
  });
}

/// The next one who comes.  If there are too many open files he waits until one of ours has gone.
inline weft::eff<weft::connection, weft::networking, weft::syncing> next_one(
    weft::listener& door, weft::shared<attendance>& who) {
  for (;;) {
    attendance const before = co_await who.get();
    try {
      weft::connection c = co_await door.accept();
      co_return c;
    } catch (weft::io_error const& e) {
      // If none is ours, none of ours will go.
      if (e.code() != std::errc::too_many_files_open || before.here == 0) throw;
    }
    co_await who.update([](attendance& a) { ++a.times_full; });
    co_await who.wait_for([&](attendance const& now) { return now.gone != before.gone; });
  }
}

using serving = weft::spawning<weft::io, weft::completions, weft::syncing>;

/// Serves so many, and all others there are.
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
