// SPDX-License-Identifier: MIT

/// A chain of stages with back-pressure: the slow stage at its end sets the pace.
///
/// A camera takes pictures, a stage develops them, and a printer prints them, ten milliseconds
/// each.  Without a bound the camera would have taken all pictures before the second was printed,
/// and they would queue up in between.  The mailboxes have room for one: so a sender waits until
/// there is room.
///
/// It ends from either side.  When the camera is out of film it ends, and its address is destroyed;
/// then `next` yields nothing in the next stage, which ends as well, and so on.  When the printer
/// is out of paper it ends, and its inbox is destroyed; then `send` yields `false` in the stage
/// before.
///
/// Time is virtual here: the program takes none, and always prints the same times.

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;
using namespace std::chrono_literals;

struct picture {
  int number;
  bool is_developed = false;
};

/// Prints a line with the time.
eff<void, timing, console> note(std::string what) {
  auto const now = co_await timing::now{};
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  co_await console::print_line(what + " at " + std::to_string(ms.count()) + " ms");
}

eff<void, mail, timing, console> camera(int film, address<picture> to) {
  for (int n = 1; n <= film; ++n) {
    bool const is_wanted = co_await to.send({.number = n});
    if (!is_wanted) {
      co_await note("the camera keeps picture " + std::to_string(n));
      co_return;
    }
    co_await note("the camera has sent picture " + std::to_string(n));
  }
}

eff<void, mail, timing> development(inbox<picture> in, address<picture> to) {
  for (auto p = co_await in.next(); p; p = co_await in.next()) {
    co_await timing::sleep_for{1ms};
    p->is_developed = true;
    bool const is_wanted = co_await to.send(*p);
    if (!is_wanted) co_return;
  }
}

eff<void, mail, timing, console> printer(int paper, inbox<picture> in) {
  for (; paper != 0; --paper) {
    auto const p = co_await in.next();
    if (!p) {
      co_await note("the printer has printed all");
      co_return;
    }
    co_await timing::sleep_for{10ms};
    co_await note("the printer has printed picture " + std::to_string(p->number));
  }
  co_await note("the printer is out of paper");
}

eff<void, spawning<mail, timing, console>, mail> studio(int film, int paper) {
  auto taken = co_await open<picture>({.capacity = 1});
  auto developed = co_await open<picture>({.capacity = 1});
  co_await spawn(camera, film, std::move(taken.to));
  co_await spawn(development, std::move(taken.in), std::move(developed.to));
  co_await spawn(printer, paper, std::move(developed.in));
}

int main(int argc, char** argv) {
  examples::backend const backend(argc, argv);
  auto const run = [&](int film, int paper) {
    backend.schedule_in_virtual_time([=] { return studio(film, paper); },
                                     console_to_stream(std::cout));
  };
  run(6, 10);
  std::cout << "-- with less paper\n";
  run(6, 2);
}
