// SPDX-License-Identifier: MIT

/// The systems of a game, and which of them each waits for: a graph that is run once a frame.
///
///     input ──▶ physics ──▶ animation ──▶ render
///       └─────▶ ai ────────────┘
///
/// Each is a task of the frame's scope, with a handle; it awaits the handles of its predecessors,
/// and then does its work, which may be parallel itself.  The systems write their data without
/// locks: the graph says which of them may run at the same time.  The scope is the frame: when it
/// ends, all of them have ended.
///
/// Each notes when it began and ended; after each frame it is checked that none began before its
/// predecessors had ended.  Physics and ai may run in either order: the result is the same.

#include <atomic>
#include <cstddef>
#include <functional>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/tasks/parallel.hpp>
#include <weft/sched/tasks/scope.hpp>

using namespace weft;

struct body {
  int at = 0;
  int speed = 1;
};
struct world {
  world() {
    for (std::size_t i = 0; i != bodies.size(); ++i) bodies[i].at = static_cast<int>(i % 5);
  }
  int wind = 0;                                          // written by input
  std::vector<body> bodies = std::vector<body>(10'000);  // by physics
  int mood = 0;                                          // by ai
  std::vector<int> poses = std::vector<int>(10'000);     // by animation
  long picture = 0;                                      // by render
};

// ---- the systems

using work = eff<void, tasking<console>, console>;

work input(world& w, int frame) {
  w.wind = frame % 3;
  co_return;
}
work physics(world& w, int) {
  co_await parallel_for(w.bodies, [&w](body& b) { b.at += b.speed + w.wind; });
}
work ai(world& w, int frame) {
  w.mood += w.wind * frame;
  co_return;
}
work animation(world& w, int) {
  co_await parallel_for(w.bodies, [&w](body& b) {
    auto const i = static_cast<std::size_t>(&b - w.bodies.data());
    w.poses[i] = (b.at + w.mood) % 8;
  });
}
work render(world& w, int) { w.picture = co_await parallel_reduce(w.poses, 0L, std::plus()); }

struct named_system {
  std::string_view name;
  std::vector<std::size_t> after;  // indices of the predecessors
  work (*run)(world&, int frame);
};
std::vector<named_system> const systems{{"input", {}, input},
                                        {"physics", {0}, physics},
                                        {"ai", {0}, ai},
                                        {"animation", {1, 2}, animation},
                                        {"render", {3}, render}};

// ---- a frame

struct noted {
  int began = 0;
  int ended = 0;
};

/// The task of a system.
work run_one(std::size_t i, world& w, int frame, std::span<task_handle<void>> tasks,
             std::atomic<int>& clock, noted& when) {
  for (std::size_t const before : systems[i].after) co_await tasks[before];
  when.began = ++clock;
  std::string const line = "frame " + std::to_string(frame) + ": " + std::string(systems[i].name);
  co_await console::print_line(line);
  co_await systems[i].run(w, frame);
  when.ended = ++clock;
}

void require_order(std::span<noted const> when) {
  for (std::size_t i = 0; i != systems.size(); ++i)
    for (std::size_t const before : systems[i].after)
      if (when[before].ended >= when[i].began)
        throw std::logic_error(std::string(systems[i].name) + " did not wait for " +
                               std::string(systems[before].name));
}

eff<void, tasking<console>, console> run_frame(world& w, int frame) {
  // Outside of the scope: its tasks borrow these.
  std::vector<task_handle<void>> tasks(systems.size());
  std::vector<noted> when(systems.size());
  std::atomic<int> clock = 0;
  co_await with_scope([&](auto& s) {
    for (std::size_t i = 0; i != systems.size(); ++i)  // predecessors first
      s.start(tasks[i], [&, i] { return run_one(i, w, frame, tasks, clock, when[i]); });
  });
  require_order(when);
  std::string const line =
      "frame " + std::to_string(frame) + " is drawn: " + std::to_string(w.picture);
  co_await console::print_line(line);
}

eff<void, tasking<console>, console> game() {
  world w;
  for (int frame = 1; frame <= 3; ++frame) co_await run_frame(w, frame);
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(game, console_to_stream(std::cout));
}
