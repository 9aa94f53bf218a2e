// SPDX-License-Identifier: MIT

/// Two processes that play a ball to and fro.
///
/// Each has an inbox and an address of the other, and shares nothing else.  A process that waits
/// for the ball continues at once when it is sent: sending is nearly a call.
///
/// There is no referee.  The player that misses ends, and the only address of the other player is
/// destroyed with it.  So the other player has no sender left: `next` yields nothing.

#include <iostream>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, mail, console> player(std::string name, inbox<int> in, address<int> other, int misses) {
  for (auto hit = co_await in.next(); hit; hit = co_await in.next()) {
    if (*hit == misses) {
      co_await console::print_line(name + " misses");
      co_return;
    }
    co_await console::print_line(name + " plays " + std::to_string(*hit));
    co_await other.send(*hit + 1);
  }
  co_await console::print_line(name + " wins");
}

eff<void, spawning<mail, console>, mail> match() {
  auto ann = co_await open<int>();
  auto ben = co_await open<int>();
  co_await ann.to.send(1);
  co_await spawn(player, "ann", std::move(ann.in), std::move(ben.to), 7);
  co_await spawn(player, "ben", std::move(ben.in), std::move(ann.to), 10);
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(match, console_to_stream(std::cout));
}
