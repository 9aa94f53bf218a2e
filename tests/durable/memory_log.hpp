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

namespace weft::tests {

/// The medium of all memory_logs that share it.
class log_medium {
 public:
  /// How large an entry may be.
  explicit log_medium(std::size_t max_size = 1'000'000) : max_size_(max_size) {}

 private:
  friend class memory_log;
  std::size_t max_size_;
  std::mutex lock_;
  std::vector<std::string> entries_;
  std::map<void const*, std::function<void()>> readers_;
};

/// A log in memory.  Each program has one of its own, of one medium.
class memory_log final : public durable::command_log {
 public:
  explicit memory_log(log_medium& of) : of_(of) {}
  ~memory_log() override {
    std::scoped_lock const locked(of_.lock_);
    of_.readers_.erase(this);
  }

  std::uint64_t append(std::string const& bytes) override {
    std::scoped_lock const locked(of_.lock_);
    of_.entries_.push_back(bytes);
    return of_.entries_.size();
  }
  [[nodiscard]] std::size_t max_size() const override { return of_.max_size_; }
  void wait_for(std::uint64_t) override {}
  [[nodiscard]] std::vector<entry> take(std::uint64_t after) override {
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
    std::scoped_lock const locked(of_.lock_);
    of_.readers_[this] = std::move(f);
  }
  /// Tells all readers that something has arrived: what a network does by itself.
  static void deliver(log_medium& of) {
    std::vector<std::function<void()>> all;
    {
      std::scoped_lock const locked(of.lock_);
      for (auto const& [who, f] : of.readers_) all.push_back(f);
    }
    for (auto const& f : all) f();
  }

 private:
  log_medium& of_;
};

}  // namespace weft::tests
