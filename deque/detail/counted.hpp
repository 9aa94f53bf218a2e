// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace weft::detail {

/// A counted pointer, one of several owners of an X.  `X` has a member `owners` (deque/policy.hpp)
/// and a static `destroy(X*)`, which the last owner calls.
template <class X>
class counted {
 public:
  counted() = default;
  explicit counted(X* born) noexcept : x_(born) {}  ///< Takes the initial count of 1.
  counted(counted const& other) noexcept : x_(other.x_) {
    if (x_) x_->owners.add();
  }
  counted(counted&& other) noexcept : x_(std::exchange(other.x_, nullptr)) {}
  counted& operator=(counted other) noexcept {
    swap(other);
    return *this;
  }
  ~counted() {
    if (x_ && x_->owners.remove()) destroy(x_);
  }
  void swap(counted& other) noexcept { std::swap(x_, other.x_); }

  [[nodiscard]] X* get() const noexcept { return x_; }
  X* operator->() const noexcept { return x_; }
  X& operator*() const noexcept { return *x_; }
  explicit operator bool() const noexcept { return x_ != nullptr; }

 private:
  // noinline: a counted is seldom the last owner, so this stays out of the code of its destructor.
  [[gnu::noinline]] static void destroy(X* x) noexcept { X::destroy(x); }

  X* x_ = nullptr;
};

}  // namespace weft::detail
