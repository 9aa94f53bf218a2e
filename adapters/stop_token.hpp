// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/io/blocking.hpp"
#include "weft/sched/sync/completion.hpp"

/// Stop tokens of the standard library, beyond those that weft takes: `schedule_options::stop`
/// cancels all processes, and `with_scope(token, f)` the tasks of a scope.
namespace weft {

/// Waits until a stop is requested, by any thread.  A token by which none can be requested any more
/// keeps its waiter until that is cancelled.  Three allocations: two from the pool, and by the
/// standard library none.  Throws bad_alloc.
inline eff<void, completions> stop_requested(std::stop_token token) {
  completer<void> source;
  auto requested = source.get_completion();
  // Its destructor waits for a call that another thread makes.
  auto const completes = [&source] { source.complete(); };
  std::stop_callback const on_stop(std::move(token), completes);
  co_await requested.wait();
}

/// As off_thread(f, token, args...), with a token that is requested to stop when the caller is
/// cancelled: so the function learns of it, as that of a std::jthread does.  The caller waits until
/// the function has ended; if it throws, the caller throws `cancelled`.
///
///     auto const rows = co_await off_thread_until_cancelled(query, std::string("select ..."));
///
/// Row: `blocking_work`.  Yields the result of `f`, or throws its exception.  Allocates what
/// off_thread does, and the state of the token.
template <class F, class... Args>
eff<std::invoke_result_t<F, std::stop_token, Args...>, blocking, completions>
off_thread_until_cancelled(F f, Args... args) {
  std::stop_source stop;
  auto token = stop.get_token();
  return detail::off_thread_with(std::move(stop), std::move(f), std::move(token),
                                 std::move(args)...);
}

}  // namespace weft
