// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

namespace weft {

namespace detail {

/// Answers decide().  Used by its own thread.
class decider {
 public:
  decider() = default;
  decider(decider const&) = delete;
  decider& operator=(decider const&) = delete;

  /// Returns a number below `n`, which is not 0.  `names` has the `n` names, or is null.
  virtual std::size_t decide(std::size_t n, std::string_view const* names) = 0;

  /// Null unless schedules are explored on this thread.
  [[gnu::visibility("default")]] static inline constinit thread_local decider* of_thread = nullptr;

 protected:
  ~decider() = default;
};

inline std::size_t decide(std::size_t n, std::string_view const* names) {
  if (n == 0) throw std::invalid_argument("weft: decide chooses from at least one alternative");
  decider* const d = decider::of_thread;
  return d ? d->decide(n, names) : 0;
}

}  // namespace detail

/// Lets an explorer (explore, random_walk and the like) choose which of several ways a handler
/// goes.  Each way is taken in some schedule, as with the choice which process runs: explore tries
/// all of them.
///
///     struct coin {
///       bool on(flip) { return decide(2) == 1; }
///     };
///
/// Returns a number from 0 to `ways` - 1.  Outside of a step of such a run, as under `schedule`, it
/// returns 0.  So let 0 be the usual way: it is tried first, and shrinking leaves as few other
/// decisions as possible.
///
/// Do not use it in the program itself: after a fork one of the two processes is run from its
/// beginning, and would decide again.
///
/// O(1).  Throws std::invalid_argument if `ways` is 0.
[[nodiscard]] inline std::size_t decide(std::size_t ways) { return detail::decide(ways, nullptr); }
/// The same; the names of the ways appear in reports.
[[nodiscard]] inline std::size_t decide(std::span<std::string_view const> ways) {
  return detail::decide(ways.size(), ways.data());
}

}  // namespace weft
