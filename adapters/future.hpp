// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <future>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/effects/operation.hpp"
#include "weft/io/blocking.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/timing.hpp"

/// Processes that wait for a std::future.  A future has no callback, so some thread must block for
/// it, or poll it.  (A completion, sched/sync/completion.hpp, needs neither: prefer it where you
/// write the code that gives the value.  submitter::submit_task gives a future of the result of a
/// process.)
namespace weft {

/// Waits for the future on a thread of the handler of `blocking`, such as a thread_pool; that
/// thread is blocked until the future is ready, and other processes run meanwhile.  Yields the
/// value, or throws the exception of the future.  A caller that is cancelled does not wait, but the
/// thread still does.  `Future` is a std::future or a std::shared_future of a value or of void; a
/// future without a state throws std::future_error.  A deferred function runs on the handler's
/// thread.
///
/// Allocates what off_thread_detached does, and a frame.  Throws what the future does;
/// completion_dropped if the handler ends before the wait has begun; bad_alloc.
template <template <class> class Future, class T>
eff<T, blocking, completions> future_value(Future<T> f) {
  co_return co_await off_thread_detached([](Future<T> of) -> T { return of.get(); }, std::move(f));
}

/// Polls the future, without a thread of its own: checks whether it is ready, and if it is not,
/// sleeps for `every` and checks again.  Yields the value, or throws the exception of the future.
/// A caller that is cancelled checks no more.  A deferred function runs on the thread of the
/// caller.  With virtual time a sleep takes no real time: the thread is busy until the future is
/// ready.
///
/// Each sleep is O(log n) in the sleeping processes.  One allocation from the pool.  Throws what
/// the future does.
template <template <class> class Future, class T>
eff<T, timing> future_value(Future<T> f, instant::duration every) {
  while (f.wait_for(std::chrono::seconds(0)) == std::future_status::timeout)
    co_await timing::sleep_for(every);
  co_return f.get();
}

}  // namespace weft
