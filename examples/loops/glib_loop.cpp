// SPDX-License-Identifier: MIT

/// Processes in the main loop of GLib, which is also that of GTK: the loop keeps its thread.
#include <glib.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/timing.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// Polls a scheduler from a GMainLoop, and ends the loop when no process is left.
class glib_driver {
 public:
  glib_driver(scheduler<>& s, GMainLoop* loop) : of_(s), loop_(loop) {
    of_.on_wakeup([this] { call_soon(); });  // g_idle_add may be called by any thread
    call_soon();
  }
  glib_driver(glib_driver const&) = delete;
  glib_driver& operator=(glib_driver const&) = delete;
  ~glib_driver() {
    of_.on_wakeup({});
    stop_timer();
    while (g_idle_remove_by_data(this) != FALSE) {
    }
  }
  /// Throws what the processes have thrown.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void call_soon() { g_idle_add(&glib_driver::on_idle, this); }
  static gboolean on_idle(gpointer self) {
    static_cast<glib_driver*>(self)->poll();
    return G_SOURCE_REMOVE;
  }
  static gboolean on_timer(gpointer self) {
    static_cast<glib_driver*>(self)->timer_ = 0;
    static_cast<glib_driver*>(self)->poll();
    return G_SOURCE_REMOVE;
  }
  void stop_timer() {
    if (timer_ != 0) g_source_remove(std::exchange(timer_, 0));
  }
  void poll() {
    stop_timer();
    try {
      switch (of_.poll()) {
        case poll_result::ready:
          return call_soon();
        case poll_result::waiting:
          if (auto const t = of_.next_deadline()) call_at(*t);
          return;
        case poll_result::ended:
          break;
      }
    } catch (...) {  // no exception may pass through GLib
      error_ = std::current_exception();
    }
    g_main_loop_quit(loop_);
  }
  void call_at(instant t) {
    using milliseconds = std::chrono::milliseconds;
    auto const left = std::chrono::ceil<milliseconds>(t - instant::clock::now()).count();
    auto const wait = std::clamp<milliseconds::rep>(left, 0, 3'600'000);
    timer_ = g_timeout_add(static_cast<guint>(wait), &glib_driver::on_timer, this);
  }

  scheduler<>& of_;
  GMainLoop* loop_;
  guint timer_ = 0;
  std::exception_ptr error_;
};

using outside = eff<void, completions, timing>;

outside counts_down() {
  for (int i = 3; i != 0; --i) {
    std::cout << i << '\n';
    co_await timing::sleep_for(5ms);
  }
}
outside shows(completion<int> result) {
  int const n = co_await result.wait();
  std::cout << "another thread says " << n << '\n';
}

}  // namespace

int main() {
  std::unique_ptr<GMainLoop, decltype(&g_main_loop_unref)> const loop(
      g_main_loop_new(nullptr, FALSE), &g_main_loop_unref);
  completer<int> result;
  auto shown = result.get_completion();
  scheduler<> s;
  s.start([&]() -> eff<void, spawning<completions, timing>, completions, timing> {
    co_await spawn(shows, std::move(shown));
    co_await counts_down();
    std::thread([r = std::move(result)]() mutable { r.complete(42); }).detach();
  });
  glib_driver const driver(s, loop.get());
  g_timeout_add(0, [](gpointer) { return std::cout << "an event of GLib\n", G_SOURCE_REMOVE; }, {});
  g_main_loop_run(loop.get());
  driver.rethrow();
  std::cout << "the loop has ended\n";
}
