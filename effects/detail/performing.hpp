// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/transfer.hpp"

namespace weft::detail {

/// Whether an `O` that is a temporary in a co_await is destroyed once: g++ 12 destroys an aggregate
/// twice.
template <class O>
constexpr bool is_destroyed_once =
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    !std::is_aggregate_v<O> || std::is_trivially_destructible_v<O>;
#else
    true;
#endif

/// Reports an operation that cannot be performed at all.
template <class O>
consteval bool can_be_performed() {
  constexpr bool ends_quietly =
      std::is_nothrow_destructible_v<O> && std::is_nothrow_destructible_v<kept<typename O::result>>;
  static_assert(ends_quietly,
                "weft: neither an operation nor its answer may throw when it is destroyed");
  static_assert(is_destroyed_once<O>,
                "weft: g++ 12 destroys this operation twice: give it a constructor "
                "(docs/portability.md)");
  return ends_quietly && is_destroyed_once<O>;
}

/// The awaiter of `co_await operation`.  A value clause answers in await_ready(), by one indirect
/// call.  A handler that records, or a scheduler, may answer in await_ready(), too, by `attempt`:
/// from its log, or at once.  Otherwise await_suspend() suspends the frames up to the handler, and
/// runs the clause: that of a handler by control.hpp, that of a scheduler by clause_dispatch.hpp
/// (sched/runtime/detail/).
template <class E, class O>
class performing {
  using R = typename O::result;

 public:
  performing(O&& o, evidence<E>& handler, std::source_location where)
      : handler_(handler), operation_(std::move(o)), answer_(where) {}
  performing(performing const&) = delete;
  performing& operator=(performing const&) = delete;

  [[nodiscard]] bool await_ready() {
    if (clause().is_only_asked()) {
      answer_.set_from(clause().ask, handler_, operation(), answer_.where);
      return true;
    }
    return clause().attempt && try_attempt();
  }
  transfer await_suspend(std::coroutine_handle<> me) {
    return go_on(clause().control(handler_, operation_, me, answer_));
  }
  R await_resume()
    requires(!std::is_same_v<R, never>)
  {
    return answer_.take();
  }
  [[noreturn]] R await_resume()  // so that no compiler asks for a co_return after it
    requires std::is_same_v<R, never>
  {
    answer_.take();
    std::terminate();
  }

 private:
  [[nodiscard]] clause_entry<E, O> const& clause() const noexcept {
    return handler_.template clause<O>();
  }
  [[nodiscard]] passed<O> operation() noexcept { return static_cast<passed<O>>(operation_); }
  /// noinline: inlined here, the addresses of the operation and of the answer would be arguments of
  /// two calls, and each entry into the coroutine would save two registers for them.
  [[gnu::noinline]] bool try_attempt() { return clause().attempt(handler_, operation_, answer_); }

  evidence<E>& handler_;
  [[no_unique_address]] O operation_;
  result_slot<R> answer_;
};

/// The awaiter of an `X` that converts the answer of its operation, by x.finish(answer).  If
/// x.is_ready(), no answer is needed, and the operation, whose result is void, is not performed.
template <class X, class Performing>
class finishing {
 public:
  template <class Perform>
  finishing(X& x, Perform const& perform) : x_(x), performing_(perform()) {}
  finishing(finishing const&) = delete;
  finishing& operator=(finishing const&) = delete;

  [[nodiscard]] bool await_ready() {
    if constexpr (requires { x_.is_ready(); })
      if (x_.is_ready()) return true;
    return performing_.await_ready();
  }
  auto await_suspend(std::coroutine_handle<> me) { return performing_.await_suspend(me); }
  auto await_resume() {
    if constexpr (std::is_void_v<decltype(performing_.await_resume())>) {
      performing_.await_resume();
      return x_.finish();
    } else {
      return x_.finish(performing_.await_resume());
    }
  }

 private:
  X& x_;
  Performing performing_;
};

/// The outcome of an attempt to do something without its operation.
enum class attempted : unsigned char {
  done,         ///< The work is done.
  not_done,     ///< The operation does the work, and may be answered at once.
  needs_clause  ///< The operation does the work, and cannot be answered at once: its clause runs.
};
/// The awaiter of an `X` whose work may be done without its operation.  The constructor calls
/// `x.attempt(handler)`, which does the work, if that is possible; then `x.take()` is the result.
/// Otherwise an `X::performed` is constructed from `x`, and performs the operation.
template <class X, class Row, class E, class O>
class attempting {
 public:
  [[gnu::always_inline]] attempting(X& x, evidence<E>& handler, std::source_location where)
      : x_(x), how_(x.attempt(&handler)) {
    if (how_ != attempted::done) [[unlikely]]
      std::construct_at(&slow_, x, handler, where);
  }
  attempting(attempting const&) = delete;
  attempting& operator=(attempting const&) = delete;
  ~attempting() {
    if (how_ != attempted::done) [[unlikely]]
      std::destroy_at(&slow_);
  }

  [[nodiscard]] bool await_ready() {
    return how_ == attempted::done ||
           (how_ == attempted::not_done && slow_.performing_.await_ready());
  }
  transfer await_suspend(std::coroutine_handle<> me) { return slow_.performing_.await_suspend(me); }
  [[gnu::always_inline]] typename X::result await_resume() {
    if (how_ == attempted::done) [[likely]]
      return x_.take();
    return slow_.finish();
  }

 private:
  struct slow {
    [[gnu::noinline]] slow(X& x, evidence<E>& handler, std::source_location where)
        : x_(x), performing_(x_.template operation_in<Row>(), handler, where) {}
    [[gnu::noinline]] ~slow() = default;
    [[gnu::noinline]] typename X::result finish() { return x_.finish(performing_.await_resume()); }

    typename X::performed x_;
    performing<E, O> performing_;
  };

  X& x_;
  attempted const how_;
  union {
    slow slow_;
  };
};

}  // namespace weft::detail
