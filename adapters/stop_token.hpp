// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/io/blocking.hpp"
#include "weft/sched/sync/completion.hpp"

/// More uses of stop tokens of the standard library.  (Without this header, a token in
/// `schedule_options::stop` cancels all processes, and one in `with_scope(token, f)` the tasks of a
/// scope.)
namespace weft {

/// Waits until a stop is requested, by any thread.  If no stop can be requested of the token any
/// more, the process waits until it is cancelled.  Three allocations, from the pool; the standard
/// library makes none.  Throws bad_alloc.
inline eff<void, completions> stop_requested(std::stop_token token) {
  completer<void> source;
  auto requested = source.get_completion();
  // If another thread is calling `completes`, the destructor of `on_stop` waits for the end of the
  // call: so `source` outlives it.
  auto const completes = [&source] { source.complete(); };
  std::stop_callback const on_stop(std::move(token), completes);
  co_await requested.wait();
}

/// Calls off_thread(f, token, args...), and requests a stop of the token when the caller is
/// cancelled: so the function learns of the cancellation, like the function of a std::jthread.  If
/// the function has begun, a cancelled caller waits until it has ended, and yields its result, or
/// throws `cancelled` if it throws; else the caller throws `cancelled` at once.
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
