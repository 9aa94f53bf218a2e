// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <bit>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "weft/effects/memory/frame_pool.hpp"

/// Hand-written schedulers that can do nothing but yield: the rivals of weft's.
///
/// As in weft, a process that yields does not know its scheduler's class: yielding is a virtual
/// call.  The rest is as good as we could make it: a ring of trivial elements that never grows,
/// frames and blocks from the same pool as weft's, and a jump to the next process.
namespace weft::bench {

/// A ring with room for `most` elements, unchecked.
template <class T>
class ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit ring(std::size_t most)
      : mask_(std::bit_ceil(most) - 1), slots_(std::make_unique<T[]>(mask_ + 1)) {}
  void push(T v) noexcept { slots_[last_++ & mask_] = v; }
  T pop() noexcept { return slots_[first_++ & mask_]; }
  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }

 private:
  std::size_t mask_;
  std::size_t first_ = 0, last_ = 0;
  std::unique_ptr<T[]> slots_;
};

/// A coroutine that starts suspended, and destroys itself at its end.
struct pooled_coroutine {
  struct promise_type : weft::detail::pooled {
    pooled_coroutine get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<> frame;
};

// ---- ring+virtual: a ring of coroutine handles

/// Yielding jumps to the next process; run() gets control only when a process ends.
///
/// Where each process has a pointer to its runner, as here, the loop below can be quicker: to find
/// the next process the processor must first have read the pointer in the current frame, and cannot
/// begin on the next one before; run() of the loop has it in a register.
class ring_virtual {
 public:
  virtual ~ring_virtual() = default;
  virtual void start(pooled_coroutine process) = 0;
  virtual std::coroutine_handle<> yield(std::coroutine_handle<> running) = 0;
  virtual void run() = 0;
};
template <int>
class ring_of_handles final : public ring_virtual {
 public:
  explicit ring_of_handles(std::size_t most) : ready_(most) {}
  void start(pooled_coroutine process) override { ready_.push(process.frame); }
  std::coroutine_handle<> yield(std::coroutine_handle<> running) override {
    ready_.push(running);
    return ready_.pop();
  }
  void run() override {
    while (!ready_.empty()) ready_.pop().resume();
  }

 private:
  ring<std::coroutine_handle<>> ready_;
};

/// Yielding returns to run(), which resumes the next process.
class ring_virtual_loop {
 public:
  virtual ~ring_virtual_loop() = default;
  virtual void start(pooled_coroutine process) = 0;
  virtual void yield(std::coroutine_handle<> running) = 0;
  virtual void run() = 0;
};
template <int>
class loop_of_handles final : public ring_virtual_loop {
 public:
  explicit loop_of_handles(std::size_t most) : ready_(most) {}
  void start(pooled_coroutine process) override { ready_.push(process.frame); }
  void yield(std::coroutine_handle<> running) override { ready_.push(running); }
  void run() override {
    while (!ready_.empty()) ready_.pop().resume();
  }

 private:
  ring<std::coroutine_handle<>> ready_;
};

template <class Runner>
struct yield_in {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  auto await_suspend(std::coroutine_handle<> running) const { return runner.yield(running); }
  void await_resume() const noexcept {}
  Runner& runner;
};

// ---- ring+block: a ring of processes and answers

/// What weft has too: a process object that is addressable while it runs, and has several owners.
struct process_block : weft::detail::pooled {
  std::atomic<std::uint32_t> owners = 1;
  std::coroutine_handle<> leaf;
  std::uint64_t answer = 0;

  void drop() noexcept {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

class ring_block {
 public:
  virtual ~ring_block() = default;
  virtual void start(pooled_coroutine process) = 0;
  virtual std::coroutine_handle<> yield(process_block& running) = 0;
  virtual void run() = 0;
  [[nodiscard]] process_block& running() const noexcept { return *running_; }

 protected:
  process_block* running_ = nullptr;
};
template <int>
class ring_of_blocks final : public ring_block {
 public:
  explicit ring_of_blocks(std::size_t most) : ready_(most) {}
  void start(pooled_coroutine process) override {
    auto* const block = new process_block;
    block->leaf = process.frame;
    ready_.push({block, 0});
  }
  std::coroutine_handle<> yield(process_block& running) override {
    ready_.push({&running, 0});
    return next();
  }
  void run() override {
    while (!ready_.empty()) {
      next().resume();
      running_->drop();  // the process has ended; others may have run by jumps
    }
  }

 private:
  struct waiting {
    process_block* process;  // owned
    std::uint64_t answer;
  };
  std::coroutine_handle<> next() {
    waiting const w = ready_.pop();
    running_ = w.process;
    w.process->answer = w.answer;
    return w.process->leaf;
  }
  ring<waiting> ready_;
};

template <>
struct yield_in<ring_block> {
  explicit yield_in(ring_block& r) : runner(r) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> leaf) {
    process = &runner.running();
    process->leaf = leaf;
    return runner.yield(*process);
  }
  std::uint64_t await_resume() const noexcept { return process->answer; }
  ring_block& runner;
  process_block* process = nullptr;
};

}  // namespace weft::bench
