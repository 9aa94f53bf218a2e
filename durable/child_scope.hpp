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

/// Scopes of children, the durable processes that a durable process starts: no child outlives the
/// braces in which it was started.
namespace weft::durable {

/// The children that the body of a with_children has started.  Lives in the frame of with_children;
/// a process that runs again from its log makes it again.
class child_scope {
 public:
  child_scope() = default;
  child_scope(child_scope const&) = delete;
  child_scope& operator=(child_scope const&) = delete;

  /// Starts a child, as durable::start does; `co_await` yields a child<R>.  At its end the scope
  /// awaits the child, unless outcome() has done so.  Row: `durable::children`.
  template <class R, class... Es, class... Params, class... Args>
  eff<child<R>, children> start(std::string id, function<eff<R, Es...>(Params...)> f,
                                Args... args) {
    auto c = co_await durable::start(std::move(id), f, std::move(args)...);
    open_.push_back(c.id());
    co_return c;
  }
  /// Waits for the end of a child of this scope; `co_await` yields the child's result.  Await it
  /// once for a child.  Throws child_failed if the child has failed, or was cancelled;
  /// weft::cancelled if this process was.  Row: `durable::children`.
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

  /// Waits for all children; called by with_children.  If `failure`, the exception of the body, is
  /// not null, or a child fails, cancels the other children, and throws the first failure when all
  /// have ended.
  eff<void, children> end(std::exception_ptr failure);

 private:
  std::vector<std::string> open_;  // ids of the children that were not awaited yet
};

/// Calls `body(scope)`, a computation that starts children by `scope.start`, and waits for the
/// children.  `co_await` yields the result of the body.  If the body throws, or a child fails, the
/// other children are cancelled, and the exception is thrown when all have ended; after a crash the
/// same exception is thrown.  If the process is cancelled while it waits for the children, they are
/// cancelled, too.  Allocates its frame, from a pool, and the ids of the children.
///
///     co_await durable::with_children(
///         [&](durable::child_scope& s) -> eff<void, durable::children> {
///           for (auto const& city : cities) co_await s.start("trip/" + city, trip_process, city);
///         });
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
    } catch (not_readable const&) {  // the process is quarantined, so its children are kept
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    co_await scope.end(failure);
  } else {
    std::optional<T> value;
    try {
      value.emplace(co_await body(scope));
    } catch (not_readable const&) {  // the process is quarantined, so its children are kept
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    co_await scope.end(failure);
    co_return *std::move(value);
  }
}

}  // namespace weft::durable
