// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/durable/errors.hpp"
#include "weft/durable/process.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/errors.hpp"

/// Scopes of children: no child outlives the braces in which it was started.
namespace weft::durable {

/// The children of a with_children.  It lives in that frame; a process that runs again makes it again.
class child_scope {
 public:
  child_scope() = default;
  child_scope(child_scope const&) = delete;
  child_scope& operator=(child_scope const&) = delete;

  /// As durable::start: `co_await` yields a child<R>, which the scope awaits at its end, unless
  /// outcome() has.  Row: `durable::children`.
  template <class R, class... Es, class... Params, class... Args>
  eff<child<R>, children> start(std::string id, function<eff<R, Es...>(Params...)> f,
                                Args... args) {
    auto c = co_await durable::start(std::move(id), f, std::move(args)...);
    open_.push_back(c.id());
    co_return c;
  }
  /// Waits for the end of a child of this scope; `co_await` yields its result.  To be awaited once a
  /// child.  Throws child_failed; weft::cancelled.  Row: `durable::children`.
  template <class R>
  eff<R, children> outcome(child<R> c) {
    std::exception_ptr failure;
    if constexpr (std::is_void_v<R>) {
      try {
        co_await c.outcome();
      } catch (weft::cancelled const&) {
        throw;
      } catch (...) {
        failure = std::current_exception();
      }
      std::erase(open_, c.id());
      if (failure) std::rethrow_exception(failure);
    } else {
      std::optional<R> value;
      try {
        value.emplace(co_await c.outcome());
      } catch (weft::cancelled const&) {
        throw;
      } catch (...) {
        failure = std::current_exception();
      }
      std::erase(open_, c.id());
      if (failure) std::rethrow_exception(failure);
      co_return *std::move(value);
    }
  }

  /// For with_children.  Waits for all children.  When one has failed, the others are cancelled, and
  /// the first failure is thrown when all have ended.
  eff<void, children> end(std::exception_ptr failure);

 private:
  std::vector<std::string> open_;  // ids of children that were not awaited
};

/// Calls `body(scope)`, a computation that starts children by `scope.start`, and waits for them.
/// `co_await` yields the result of the body.  If the body throws, or a child fails, the other
/// children are cancelled, and the exception is thrown when all have ended: the same after each crash.
/// A process that is cancelled while it waits here cancels its children.  Allocates its frame, from a
/// pool, and the ids of the children.
///
///     co_await durable::with_children([&](durable::child_scope& s) -> eff<void, durable::children> {
///       for (auto const& city : cities) co_await s.start("trip/" + city, trip_process, city);
///     });
///
/// Row: that of the body, which has `durable::children`.
template <class Body>
std::invoke_result_t<Body&, child_scope&> with_children(Body body) {
  using T = typename std::invoke_result_t<Body&, child_scope&>::value_type;
  child_scope scope;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<T>) {
    try {
      co_await body(scope);
    } catch (not_readable const&) {  // the process is quarantined, and goes on when it is mended
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    co_await scope.end(failure);
  } else {
    std::optional<T> value;
    try {
      value.emplace(co_await body(scope));
    } catch (not_readable const&) {  // the process is quarantined, and goes on when it is mended
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    co_await scope.end(failure);
    co_return *std::move(value);
  }
}

}  // namespace weft::durable
