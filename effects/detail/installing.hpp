// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/handler_prompt.hpp"
#include "weft/effects/detail/handler_traits.hpp"
#include "weft/effects/detail/performing.hpp"
#include "weft/effects/detail/replay/recording_handler_prompt.hpp"

/// Installs handlers: for `co_await handle<E>(h, body)`, and for ordinary code.
namespace weft::detail {

template <class S, bool IsMultiShot = S::is_multi_shot>
struct prompt_for_handler : identity<handler_prompt<S>> {};
template <class S>
struct prompt_for_handler<S, true> : identity<typename S::resuming::template prompt_of<S>> {};

template <class Around, bool Inner, class Handling>
std::coroutine_handle<> install(Handling&& what, void* around, continuation waiter,
                                result_slot_base& to, region* borrow_scope) {
  using S = handler_traits<Handling, Around, Inner>;
  using N = typename prompt_for_handler<S>::type;
  region* home = borrow_scope;
  if constexpr (S::is_region) home = &region_of(what.handler);
  // The prompt takes the body if that is a function; else the body stays in `what` for start().
  auto& n = *new N(std::forward<typename S::held>(what.handler), what.body, around, home);
  n.aim(waiter, to);
  n.step_in();
  try {
    return n.start(std::move(what.body), borrow_scope);
  } catch (...) {
    n.abandon();
    throw;
  }
}

/// Whether a handler of the handle expression is lent to it (handler_traits::is_lent).
template <class Handling, class Around, bool Inner = false>
consteval bool lends() {
  using S = handler_traits<Handling, Around, Inner>;
  if constexpr (is_handling<typename S::body>)
    return S::is_lent || lends<typename S::body, typename S::body_effects, true>();
  else
    return S::is_lent;
}

/// The region of handlers that are lent to a handle expression.
class borrow_scope : public region {
 public:
  borrow_scope() noexcept { allow_dropping(); }  // no notice: require_returned() throws
  ~borrow_scope() {
    if (first()) [[unlikely]]
      require_no_tasks();
  }
  region* home() noexcept { return this; }
  /// Throws not_a_region if a resident is left: a suspended prompt, or a clause that is not done.
  void require_returned() const {
    if (auto const* kept = first()) [[unlikely]]
      throw_kept(*kept);
  }

 private:
  /// Ends the program if tasks are open in a resident: they may refer to the frame that lent the
  /// handler, and that frame continues.
  [[gnu::cold]] void require_no_tasks() const noexcept;
  [[noreturn, gnu::cold]] static void throw_kept(resident const& kept);
};
struct no_borrow_scope {
  static region* home() noexcept { return nullptr; }
  static void require_returned() {}
};

template <class Handling, class Around>
class installing {
  using A = typename handler_traits<Handling, Around>::answer;

 public:
  installing(Handling& what, std::source_location where) noexcept : what_(what), answer_(where) {}
  installing(installing const&) = delete;
  installing& operator=(installing const&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Frame>
  transfer await_suspend(std::coroutine_handle<Frame> me) {
    return go_on(install<Around, false>(std::move(what_), me.promise().evidence, continuation(me),
                                        answer_, borrow_scope_.home()));
  }
  A await_resume() {
    if (!answer_.error()) borrow_scope_.require_returned();
    return answer_.take();
  }

 private:
  Handling& what_;  // refers to the temporary: g++ 12 copies objects that must not be copied
  [[no_unique_address]] std::conditional_t<lends<Handling, Around>(), borrow_scope, no_borrow_scope>
      borrow_scope_;
  result_slot<A> answer_;
};

/// Installs a handler and runs its body from ordinary code; returns the answer.
template <class Handling>
typename handler_traits<Handling, row<>>::answer run_handling(Handling&& what,
                                                              std::source_location where) {
  using A = typename handler_traits<Handling, row<>>::answer;
  std::conditional_t<lends<Handling, row<>>(), borrow_scope, no_borrow_scope> borrow_scope;
  result_slot<A> answer(where);
  {
    prompt::driver const outside;
    drive(install<row<>, false>(std::move(what), nullptr, continuation::ordinary_code(), answer,
                                borrow_scope.home()));
  }
  if (!answer.error()) borrow_scope.require_returned();
  return answer.take_at_last();
}

}  // namespace weft::detail
