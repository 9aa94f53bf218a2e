// SPDX-License-Identifier: MIT

/// A supervisor: a child that fails is restarted, a few times, with longer pauses in between.
///
/// A process that throws ends the program: the other processes get `cancelled`.  To confine a
/// failure the child runs within `watched`, which sends the reason to its supervisor.  A child that
/// succeeds sends nothing: it ends, and the only address is destroyed with it, so the supervisor
/// notices that too.
///
/// Time is virtual here: the program takes none, and always prints the same times.

#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct child_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- the supervisor

using child_program = std::function<eff<void, timing, console>(int attempt)>;

/// Exceptions other than `child_failure` pass the supervisor by: `cancelled`, for one.
eff<void, mail, timing, console> watched(child_program work, int attempt,
                                         address<std::string> failed) {
  std::string why;
  try {
    co_await work(attempt);
    co_return;
  } catch (child_failure const& e) {
    why = e.what();
  }
  co_await failed.send(why);
}

struct policy {
  int restarts;
  milliseconds pause;  ///< Before the first restart; doubled before each next one.
};

using children = spawning<mail, timing, console>;

eff<void, children, mail, timing, console> supervisor(std::string name, child_program work,
                                                      policy p) {
  for (int attempt = 1;; ++attempt, p.pause *= 2) {
    auto [in, failed] = co_await open<std::string>();
    co_await spawn(watched, work, attempt, std::move(failed));
    auto const why = co_await in.next();
    if (!why) {
      co_await console::print_line(name + " is done");
      co_return;
    }
    co_await console::print_line(name + " failed: " + *why);
    if (attempt > p.restarts) {
      co_await console::print_line(name + " is given up");
      co_return;
    }
    co_await console::print_line(name + " begins again in " + std::to_string(p.pause.count()) +
                                 " ms");
    co_await timing::sleep_for{p.pause};
  }
}

// ---- and three children

eff<void, timing, console> backup(int) { co_await timing::sleep_for{5ms}; }

/// The server works again after a while.
eff<void, timing, console> download(int attempt) {
  co_await timing::sleep_for{20ms};
  if (attempt < 3) throw child_failure("no answer");
  co_await console::print_line("download: 42 bytes");
}

eff<void, timing, console> upload(int) {
  co_await timing::sleep_for{3ms};
  throw child_failure("no password");
}

eff<void, children> office() {
  co_await spawn(supervisor, "backup", child_program(backup), policy{2, 10ms});
  co_await spawn(supervisor, "download", child_program(download), policy{3, 10ms});
  co_await spawn(supervisor, "upload", child_program(upload), policy{2, 50ms});
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule_in_virtual_time(office, console_to_stream(std::cout));
}
