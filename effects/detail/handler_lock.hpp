// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace weft::detail {

/// A mutex on the heap, because the handlers that have one are moved.  The source of a move
/// construction has no mutex any more.
class handler_lock {
 public:
  handler_lock();
  handler_lock(handler_lock&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  handler_lock& operator=(handler_lock&& other) noexcept {
    std::swap(mutex_, other.mutex_);
    return *this;
  }
  ~handler_lock();

  class [[nodiscard]] scope {
   public:
    explicit scope(handler_lock& l) : lock_(l) { l.lock(); }
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;
    ~scope() { lock_.unlock(); }

   private:
    handler_lock& lock_;
  };

 private:
  class mutex;
  void lock();
  void unlock() noexcept;
  mutex* mutex_;
};

}  // namespace weft::detail
