// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "bench/harness.hpp"
#include "bench/rivals_threads.hpp"
#include "bench/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/completion.hpp"

/// The wake-up of a sleeping thread from outside: of a process that waits for a completion on it,
/// and of a thread that waits on a condition variable itself.
namespace weft::bench {

/// A sleeper waits for one number after another, and another thread sends them.
class wakeups {
 public:
  explicit wakeups(std::size_t n) : ns_(n), sent_(n) {}
  [[nodiscard]] std::size_t count() const { return ns_.size(); }

  /// For the sleeper: waits_for before it waits for number i, woke first thing after.
  void waits_for(std::size_t i) { waiting_for_.store(i + 1, std::memory_order_release); }  // [1]
  void woke(std::size_t i, std::uint64_t number) {
    auto const now = std::chrono::steady_clock::now();
    ns_[i] = ns_between(sent_[i], now);
    answer_ = answer_ * 31 + number;
  }
  /// For the sender: `send(i)` sends number i.
  template <class Send>
  void send_all(Send send) {
    for (std::size_t i = 0; i != count(); ++i) {
      do std::this_thread::sleep_for(std::chrono::microseconds(200));
      while (waiting_for_.load(std::memory_order_acquire) != i + 1 ||  // [1]
             !all_others_sleep());
      sent_[i] = std::chrono::steady_clock::now();  // published by the send
      send(i);
    }
  }
  [[nodiscard]] timed median() {
    auto const middle = ns_.begin() + static_cast<std::ptrdiff_t>(count() / 2);
    std::nth_element(ns_.begin(), middle, ns_.end());
    return {*middle, answer_};
  }

 private:
  std::vector<double> ns_;
  std::vector<std::chrono::steady_clock::time_point> sent_;
  std::atomic<std::size_t> waiting_for_ = 0;
  std::uint64_t answer_ = 0;
};

struct appointment {
  completer<std::uint64_t> source;
  completion<std::uint64_t> result = source.get_completion();
};
inline eff<void, completions> sleeper(wakeups* w, appointment* appointments) {
  for (std::size_t i = 0; i != w->count(); ++i) {
    w->waits_for(i);
    std::uint64_t const number = co_await appointments[i].result.wait();
    w->woke(i, number);
  }
}
template <class Backend, unsigned Threads>
timed process_woken(std::size_t n) {
  wakeups w(n);
  auto const appointments = std::make_unique<appointment[]>(n);
  std::thread outside(
      [&] { w.send_all([&](std::size_t i) { appointments[i].source.complete(i); }); });
  schedule<Backend>({.threads = Threads},
                    [at = &w, first = appointments.get()] { return sleeper(at, first); });
  outside.join();
  return w.median();
}
inline timed thread_woken(std::size_t n) {
  wakeups w(n);
  letter_box<std::uint64_t> box;
  std::thread outside([&] { w.send_all([&](std::size_t i) { box.put(i); }); });
  for (std::size_t i = 0; i != w.count(); ++i) {
    w.waits_for(i);
    std::uint64_t const number = box.wait();
    w.woke(i, number);
  }
  outside.join();
  return w.median();
}

}  // namespace weft::bench
