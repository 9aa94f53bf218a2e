// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/io/wakeup_descriptor.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/completion.hpp>

/// Runs a scheduler in a loop around poll(2), together with the descriptors of other libraries.
/// Used on one thread.
namespace examples {

class descriptor_loop {
 public:
  using callback = std::function<void(short came)>;

  /// Has `f` called whenever one of the events of poll(2) comes, until the descriptor is forgotten.
  void watch(int fd, short events, callback f) { watched_[fd] = {events, std::move(f)}; }
  void forget(int fd) { watched_.erase(fd); }
  /// Is completed with the events that have come, once.
  [[nodiscard]] weft::completion<short> when(int fd, short events) {
    auto const source = std::make_shared<weft::completer<short>>();
    watch(fd, events, [this, fd, source](short came) {
      source->complete(came);
      forget(fd);
    });
    return source->get_completion();
  }
  /// Has `f` called at that time, in place of an earlier call of this function.
  void call_at(std::optional<weft::instant> t, std::function<void()> f) {
    alarm_ = t;
    on_alarm_ = std::move(f);
  }

  /// Runs the scheduler, which was started, until no process is left.
  void run(weft::scheduler<>& s) {
    weft::wakeup_descriptor const wakeup;
    s.on_wakeup([&wakeup] { wakeup.notify(); });
    watch(wakeup.get(), POLLIN, [&wakeup](short) { wakeup.clear(); });
    for (;;) {
      weft::poll_result const left = s.poll();
      if (left == weft::poll_result::ended) break;
      wait(left == weft::poll_result::ready ? 0 : until(s.next_deadline()));
      if (alarm_ && *alarm_ <= weft::instant::clock::now()) {
        alarm_.reset();
        on_alarm_();
      }
    }
    s.on_wakeup({});
    forget(wakeup.get());
  }

 private:
  struct watched {
    short events;
    callback on_event;
  };

  /// How long poll(2) may wait, in milliseconds: -1 stands for ever.
  [[nodiscard]] int until(std::optional<weft::instant> deadline) const {
    if (alarm_) deadline = std::min(*alarm_, deadline.value_or(*alarm_));
    if (!deadline) return -1;
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - weft::instant::clock::now());
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 60'000));
  }
  void wait(int milliseconds) {
    std::vector<pollfd> all;
    for (auto const& [fd, w] : watched_) all.push_back({fd, w.events, 0});
    if (::poll(all.data(), all.size(), milliseconds) < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "poll");
    for (auto const& p : all) {
      auto const w = watched_.find(p.fd);  // a callback may have forgotten it
      if (p.revents == 0 || w == watched_.end()) continue;
      auto const calls = w->second.on_event;  // it may forget itself
      calls(p.revents);
    }
  }

  std::map<int, watched> watched_;
  std::optional<weft::instant> alarm_;
  std::function<void()> on_alarm_;
};

}  // namespace examples
