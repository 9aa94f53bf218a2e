// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

namespace weft {

namespace detail {

/// Who is asked.  Used by its thread.
class decider {
 public:
  decider() = default;
  decider(decider const&) = delete;
  decider& operator=(decider const&) = delete;

  /// One of `n`, which is not 0.  `names`: of all of them, or null.
  virtual std::size_t decide(std::size_t n, std::string_view const* names) = 0;

  /// Null but while schedules are tried on this thread.
  [[gnu::visibility("default")]] static inline constinit thread_local decider* of_thread = nullptr;

 protected:
  ~decider() = default;
};

inline std::size_t decide(std::size_t n, std::string_view const* names) {
  if (n == 0) throw std::invalid_argument("weft: decide has one way to choose from at least");
  decider* const d = decider::of_thread;
  return d ? d->decide(n, names) : 0;
}

}  // namespace detail

/// For handlers that are passed to explore, random_walk and the like: which of several ways it goes
/// now.  One way is taken in one schedule and another one in another, as with who runs: explore
/// tries all of them.
///
///     struct coin {
///       bool on(flip) { return decide(2) == 1; }
///     };
///
/// By number, from 0.  Outside of a step of such a run, as under `schedule`, it is 0.  So let 0 be
/// what is usual: that is tried first, and what is made smaller has as few others as it can.
///
/// Not for the program itself: a process that has forked would decide again what it has decided.
///
/// O(1).  Throws std::invalid_argument if there is none.
[[nodiscard]] inline std::size_t decide(std::size_t ways) { return detail::decide(ways, nullptr); }
/// The same.  What they are called is for reports.
[[nodiscard]] inline std::size_t decide(std::span<std::string_view const> ways) {
  return detail::decide(ways.size(), ways.data());
}

}  // namespace weft
