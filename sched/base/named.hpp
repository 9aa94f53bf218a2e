// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"

namespace weft {

namespace detail {

/// Awaits a computation, from a frame with the same row.  While the computation runs, the slot for
/// its result holds the name, in place of a result.
///
///   NAME-1  If the source location in a result slot lies in a function `weft::named`, the slot is
///       `answer_` of an awaiter of this class.  It keeps a pointer to the name as long as it is
///       empty.
template <class T, class... Es>
class calling_by_name {
 public:
  static constexpr bool row_aware_awaitable = true;
  using result = T;

  calling_by_name(eff<T, Es...>&& body, char const* name) : body_(std::move(body)), name_(name) {}
  template <class>
  auto awaiter_in(std::source_location where) {
    return awaiter(body_.release(internal()), name_, where);
  }

 private:
  class awaiter {
   public:
    awaiter(std::coroutine_handle<> body, char const* name, std::source_location where) noexcept
        : body_(body), answer_(where) {
      answer_.keep(const_cast<char*>(name));
    }
    awaiter(awaiter const&) = delete;
    awaiter& operator=(awaiter const&) = delete;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Frame>
    transfer await_suspend(std::coroutine_handle<Frame> me) noexcept {
      auto& child = frame_of(body_);
      child.parent = continuation(me);
      child.evidence = me.promise().evidence;
      child.to = &answer_;
      return go_on(body_);
    }
    T await_resume() { return answer_.take(); }

   private:
    std::coroutine_handle<> body_;
    result_slot<T> answer_;
  };

  eff<T, Es...> body_;
  char const* name_;
};

}  // namespace detail

/// Gives a process a name, in reports, deadlocks, traces and pages; the process runs `body`.
///
///     eff<void, mail> logger(inbox<line> in) { return named("logger", writes(std::move(in))); }
///     co_await spawn(logger, std::move(in));
///
/// A process that is not named has the name of its function.  Processes with the same name are
/// numbered.  `named` must be the outermost call of the process, or of a task; the name of a call
/// further in is not used.  `name` must outlive the process, as a string literal does.
///
/// co_await yields the result of `body`.  Row: that of `body`.  O(1); allocates a frame, from a
/// pool; a process without a name costs nothing.  Throws the exceptions of `body`.
template <class T, class... Es>
eff<T, Es...> named(char const* name, eff<T, Es...> body) {
  co_return co_await detail::calling_by_name<T, Es...>(std::move(body), name);
}

}  // namespace weft
