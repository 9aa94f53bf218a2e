// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "weft/sched/base/process.hpp"

namespace weft {

/// A boxed resumption: a process, and the answer to resume it with if that fits in a word.  A
/// larger answer has been written into the frame of the process already.  16 bytes.
///
/// A copy increments an atomic count.  The holder of the last thunk owns the process's frames; a
/// copy that is kept is enough to run a forkable process again.  Dropping the last thunk unwinds
/// the process.
///
/// An empty thunk says why it is empty.
class [[clang::trivial_abi]] thunk {
 public:
  /// Why a thunk is empty.
  enum class reason : std::uint64_t {
    quiescent,  ///< No process is ready, and none will be.
    deadline,   ///< The deadline has passed.
    stopped     ///< stop() was called.
  };

  thunk(reason why) noexcept : process_(nullptr), word_(static_cast<std::uint64_t>(why)) {}
  /// Takes over one owner's count of the process (PROCESS-1).
  explicit thunk(process* p, std::uint64_t answer = 0) noexcept : process_(p), word_(answer) {}
  thunk(thunk const& other) noexcept : process_(other.process_), word_(other.word_) {
    if (process_) process_->keep();
  }
  thunk(thunk&& other) noexcept
      : process_(std::exchange(other.process_, nullptr)), word_(other.word_) {}
  thunk& operator=(thunk other) noexcept {
    std::swap(process_, other.process_);
    std::swap(word_, other.word_);
    return *this;
  }
  [[gnu::always_inline]] ~thunk() {
    if (process_) [[unlikely]]
      drop();
  }

  explicit operator bool() const noexcept { return process_ != nullptr; }
  /// Why the thunk is empty.  Requires that it is empty.
  [[nodiscard]] reason why_empty() const noexcept { return static_cast<reason>(word_); }
  /// The process; null if the thunk is empty.
  [[nodiscard]] process* get() const noexcept { return process_; }
  /// The answer to resume the process with.
  [[nodiscard]] std::uint64_t answer() const noexcept { return word_; }
  /// Gives the count of the process to the caller, and leaves the thunk empty.
  [[nodiscard]] process* release() noexcept { return std::exchange(process_, nullptr); }

 private:
  [[gnu::noinline]] void drop() noexcept { process_->release(); }

  process* process_;
  std::uint64_t word_;
};
static_assert(sizeof(thunk) == 16);

}  // namespace weft
