// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft {

namespace detail {

/// The end of the frames of a shielded body: they do not learn of the cancellation of a scope or a
/// task outside.
class shield final : public frame_end {
 public:
  continuation ended() noexcept override {
    // From here on, in the same step, the process checks the groups outside: this call reports the
    // check to an explorer.
    if (location_listener::of_thread) [[unlikely]]
      (void)is_cancelled_at(continuation(leaf));
    return leaf;
  }
  continuation dropped() noexcept override { return leaf; }
  [[nodiscard]] std::string text() const override { return "a shield"; }
  [[nodiscard]] continuation outside() const noexcept override { return leaf; }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  [[nodiscard]] cancel_state query_cancellation(continuation&) const noexcept override {
    return cancel_state::shielded;
  }

  std::coroutine_handle<> leaf;
};

template <class F>
class shielded_body {
  using body = std::invoke_result_t<F&>;
  using T = typename body::value_type;
  using Callee = typename body::effects;

 public:
  static constexpr bool row_aware_awaitable = true;
  using result = T;
  explicit shielded_body(F f) : f_(std::move(f)) {}
  template <class Caller>
  auto awaiter_in(std::source_location where) {
    constexpr bool fits = is_empty_row<row_difference<Callee, Caller>>;
    static_assert(fits,
                  "weft: the shielded computation may perform an effect that is outside the row of "
                  "the coroutine that awaits it");
    if constexpr (fits)
      return awaiter<Caller>(f_(), where);
    else
      return refused<T>();
  }

 private:
  template <class Caller>
  class awaiter {
   public:
    awaiter(body b, std::source_location where)
        : frame_(b.release(detail::internal())), answer_(where) {}
    awaiter(awaiter const&) = delete;
    awaiter& operator=(awaiter const&) = delete;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Frame>
    transfer await_suspend(std::coroutine_handle<Frame> me) noexcept {
      auto& child = frame_of(frame_);
      end_.leaf = me;
      child.parent = continuation(static_cast<frame_end&>(end_));
      if constexpr (!std::is_same_v<Callee, row<>>)
        child.evidence = evidence_.view(me.promise().evidence);
      child.to = &answer_;
      return go_on(frame_);
    }
    T await_resume() { return answer_.take(); }

   private:
    std::coroutine_handle<> frame_;
    [[no_unique_address]] projection<Callee, Caller> evidence_;
    shield end_;
    result_slot<T> answer_;
  };

  F f_;
};

}  // namespace detail

/// Calls `f()`, a computation; `co_await` yields the result.  Row: the effects of `f()`.  While it
/// runs, the process does not find `cancelled` because a scope or a task further out was cancelled,
/// or failed: it finds that cancellation afterwards.  Use it for work that must not be left half
/// done.  But `f()` does find the cancellation of the whole run.  Allocates nothing but the
/// frame of `f()`.  Throws what `f()` throws.
///
///     co_await shielded([&]() -> eff<void, mail> { co_await log.send(line); });
template <class F>
[[nodiscard("weft: co_await it")]] awaits_to<detail::awaited_call_t<F&>> auto shielded(F f) {
  return detail::shielded_body<F>(std::move(f));
}

}  // namespace weft
