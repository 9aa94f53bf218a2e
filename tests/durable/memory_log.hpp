// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weft/durable/command_log.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft::tests {

/// What the memory_logs of several programs share.  A location of the explorer.
class log_medium {
 public:
  /// How large an entry may be, and how often each stands in the log.
  explicit log_medium(std::size_t max_size = 1'000'000, int copies = 1)
      : max_size_(max_size), copies_(copies) {
    weft::detail::note_created(this);
  }
  log_medium(log_medium const&) = delete;
  log_medium& operator=(log_medium const&) = delete;
  ~log_medium() { weft::detail::note_destroyed(this); }
  [[nodiscard]] std::vector<std::string> const& entries() const noexcept { return entries_; }

 private:
  friend class memory_log;
  std::size_t max_size_;
  int copies_;
  std::mutex lock_;
  std::vector<std::string> entries_;
  std::mutex tell_lock_;  // while readers are told
  std::map<void const*, std::function<void()>> readers_;
};

/// A log in memory: the handle of one program.
class memory_log : public durable::command_log {
 public:
  explicit memory_log(log_medium& of) : of_(of) {}
  ~memory_log() override {
    std::scoped_lock const locked(of_.tell_lock_);
    of_.readers_.erase(this);
  }

  std::uint64_t append(std::string const& bytes) override {
    weft::detail::note_access(&of_, true);
    std::uint64_t number = 0;
    {
      std::scoped_lock const locked(of_.lock_);
      for (int i = 0; i != of_.copies_; ++i) of_.entries_.push_back(bytes);
      number = of_.entries_.size();
    }
    std::scoped_lock const locked(of_.tell_lock_);
    for (auto const& [who, f] : of_.readers_)
      if (who != this) f();
    return number;
  }
  [[nodiscard]] std::size_t max_size() const override { return of_.max_size_; }
  void wait_for(std::uint64_t) override {}
  [[nodiscard]] std::vector<entry> take(std::uint64_t after) override {
    weft::detail::note_access(&of_, true);  // what is made of it changes as well
    std::scoped_lock const locked(of_.lock_);
    std::vector<entry> some;
    for (auto n = after; n < of_.entries_.size(); ++n) some.push_back({n + 1, of_.entries_[n]});
    return some;
  }
  [[nodiscard]] std::uint64_t last() override {
    std::scoped_lock const locked(of_.lock_);
    return of_.entries_.size();
  }
  void on_arrival(std::function<void()> f) override {
    std::scoped_lock const locked(of_.tell_lock_);
    of_.readers_[this] = std::move(f);
  }

 private:
  log_medium& of_;
};

}  // namespace weft::tests
