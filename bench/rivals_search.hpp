// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/rivals_fibers.hpp"

/// All schedules of two threads, or random ones, as Relacy Race Detector makes them (Dmitry Vyukov,
/// https://github.com/dvyukov/relacy: context.hpp, full_search_scheduler.hpp,
/// random_scheduler.hpp): a fiber for each thread, which is kept from schedule to schedule; before
/// each access and at the end of a thread a choice among the threads that have not ended; for the
/// full search a stack of choices, of which the last one that has an alternative is changed next.
///
/// Of Relacy's it has the search only: no model of memory orders, no history, no detection of leaks
/// or deadlocks.  So it is a lower bound, not a tool.
namespace weft::bench {

/// The choices of the next schedule are those of the last one, up to the last that has an
/// alternative.
class stack_of_choices {
 public:
  std::size_t choose(std::size_t of) {
    if (depth_ == all_.size()) all_.push_back({of, 0});
    return all_[depth_++].taken;
  }
  /// Prepares the next schedule.  False if there is none.
  bool next() {
    depth_ = 0;
    for (; !all_.empty(); all_.pop_back())
      if (++all_.back().taken != all_.back().of) return true;
    return false;
  }

 private:
  struct node {
    std::size_t of, taken;
  };
  std::vector<node> all_;
  std::size_t depth_ = 0;
};

/// Random choices.
class random_choices {
 public:
  explicit random_choices(std::size_t schedules) : left_(schedules) {}
  std::size_t choose(std::size_t of) {
    word_ ^= word_ << 13;  // xorshift64 (Marsaglia, 2003)
    word_ ^= word_ >> 7;
    word_ ^= word_ << 17;
    return static_cast<std::size_t>(word_ >> 33) % of;
  }
  bool next() { return --left_ != 0; }

 private:
  std::size_t left_;
  std::uint64_t word_ = 0x9E3779B97F4A7C15u;
};

/// Runs two threads under one schedule after another.  A `Program` has begin(), thread(i, *this),
/// which calls before_access(), and end().
template <class Choices, class Program>
class search_by_fibers {
 public:
  search_by_fibers(Choices c, Program& p) : choices_(std::move(c)), program_(p) {
    for (std::size_t i = 0; i != threads; ++i)
      contexts_[i] = boost::context::fiber(std::allocator_arg, small_stacks(),
                                           [this, i](boost::context::fiber&& from) {
                                             contexts_[before_] = std::move(from);
                                             return run_thread(i);
                                           });
  }
  search_by_fibers(search_by_fibers const&) = delete;
  search_by_fibers& operator=(search_by_fibers const&) = delete;
  ~search_by_fibers() = default;

  /// Returns the number of schedules.
  std::size_t run() {
    std::size_t schedules = 0;
    do {
      program_.begin();
      running_ = threads;
      ids_ = {0, 1};
      switch_to(ids_[choices_.choose(running_)]);
      program_.end();
      ++schedules;
    } while (choices_.next());
    return schedules;
  }
  void before_access() {
    if (running_ == 1) return;
    if (std::size_t const next = ids_[choices_.choose(running_)]; next != now_) switch_to(next);
  }

 private:
  static constexpr std::size_t threads = 2;
  static constexpr std::size_t caller = threads;

  boost::context::fiber run_thread(std::size_t i) {
    for (;;) {
      program_.thread(i, *this);
      if (ids_[0] == i) ids_[0] = ids_[1];
      switch_to(--running_ == 0 ? caller : ids_[0]);
    }
  }
  void switch_to(std::size_t next) {
    before_ = std::exchange(now_, next);
    boost::context::fiber from = std::move(contexts_[next]).resume();
    contexts_[before_] = std::move(from);
  }

  Choices choices_;
  Program& program_;
  std::array<boost::context::fiber, threads + 1> contexts_;  // of all but the running one
  std::size_t now_ = caller;
  std::size_t before_ = caller;             // which context has switched to the running one
  std::array<std::size_t, threads> ids_{};  // of the threads that have not ended
  std::size_t running_ = 0;                 // how many these are
};

}  // namespace weft::bench
