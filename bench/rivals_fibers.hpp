// SPDX-License-Identifier: MIT
#pragma once

#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/mutex.hpp>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

/// Support for Boost fibers on several threads.
namespace weft::bench {

/// Small stacks, not at multiples of a page, as in bench/yield.cpp; usable by any thread.
struct small_stacks {
  static constexpr std::size_t bytes = 16 * 1024;
  static constexpr std::size_t cache_line = 64;
  boost::context::stack_context allocate() {
    void* const block = std::malloc(bytes + cache_line);
    if (!block) throw std::bad_alloc();
    boost::context::stack_context stack;
    stack.size = bytes;
    stack.sp = static_cast<char*>(block) + bytes;
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept {
    std::free(static_cast<char*>(stack.sp) - bytes);
  }
};

/// Keeps two threads until all fibers have ended; a thread that waits here runs other fibers.
class fibers_left {
 public:
  explicit fibers_left(int n) : left_(n) {}
  void leave() {
    std::lock_guard const lock(mutex_);
    if (--left_ == 0) none_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable none_;
  int left_;  // guarded by mutex_
};

}  // namespace weft::bench
