// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

/// Elements that detect uses outside of their lifetime, and failures on demand.
namespace weft::tests {

/// The exception of a planned failure.
struct planned_failure : std::runtime_error {
  planned_failure() : std::runtime_error("a planned failure") {}
};

/// Makes the n-th fallible step from now on fail.  One thread.
class failures {
 public:
  static void after(long steps) { left_ = steps; }
  static void none() { left_ = -1; }
  static void step() {
    if (left_ >= 0 && left_-- == 0) throw planned_failure();
  }

 private:
  static inline long left_ = -1;
};

/// Memory whose allocation is a fallible step, and which counts its blocks.
struct fallible_memory {
  static inline std::atomic<long> blocks = 0;
  static inline std::atomic<long> allocations = 0;
  static void* allocate(std::size_t bytes, std::align_val_t alignment) {
    failures::step();
    void* const memory = ::operator new(bytes, alignment);
    ++blocks;
    ++allocations;
    return memory;
  }
  static void deallocate(void* memory, std::size_t, std::align_val_t alignment) noexcept {
    --blocks;
    ::operator delete(memory, alignment);
  }
};

enum class moves { safely, may_throw };

/// An int that counts constructions and destructions, and aborts if it is used at another address,
/// before its construction, or after its destruction.  Copies are fallible; moves, on request.
template <moves M, std::size_t Alignment = alignof(void*)>
class alignas(Alignment) tracked {
 public:
  static inline std::atomic<long> births = 0;
  static inline std::atomic<long> deaths = 0;
  static inline std::atomic<long> copies = 0;

  tracked(int value) : value_(value) { born(); }  // implicit: stands for the int
  tracked(tracked const& other) : value_(other.value()) {
    failures::step();
    ++copies;
    born();
  }
  tracked(tracked&& other) noexcept(M == moves::safely) : value_(other.value()) {
    if constexpr (M == moves::may_throw) failures::step();
    other.value_ = moved_from;
    born();
  }
  tracked& operator=(tracked const&) = delete;  // a persistent element is never assigned to
  ~tracked() {
    check();
    self_ = nullptr;
    ++deaths;
  }

  [[nodiscard]] int value() const {
    check();
    if (value_ == moved_from) std::abort();
    return value_;
  }
  friend bool operator==(tracked const& a, tracked const& b) { return a.value() == b.value(); }
  friend std::strong_ordering operator<=>(tracked const& a, tracked const& b) {
    return a.value() <=> b.value();
  }

 private:
  static constexpr int moved_from = -2'000'000'000;
  void born() {
    self_ = this;
    ++births;
  }
  void check() const {
    if (self_ != this || reinterpret_cast<std::size_t>(this) % Alignment != 0) std::abort();
  }

  int value_;
  tracked const* self_;
};

}  // namespace weft::tests
