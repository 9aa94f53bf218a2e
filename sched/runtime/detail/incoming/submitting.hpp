// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/row.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"
#include "weft/sched/runtime/detail/process_clauses.hpp"

/// The class `submitter`, which scheduler.hpp needs.  Its member submit_task() is defined in
/// submitter.hpp, since it needs <future>, which is slow to compile.
namespace weft {

namespace detail {

/// The right to submit, shared by all copies of a submitter.
template <backend Backend>
struct submission_right {
  backend_scheduler<Backend>* home;       // valid while the gate is open
  std::shared_ptr<submission_gate> at{};  // null until the right is granted

  explicit submission_right(backend_scheduler<Backend>& s) noexcept : home(&s) {}
  submission_right(submission_right const&) = delete;
  submission_right& operator=(submission_right const&) = delete;
  ~submission_right() {
    if (at) at->leave();
  }
};

/// The first frame of a computation that has not begun; destroys the frame unless it is released.
struct unstarted_frame {
  first_frame frame;
  explicit unstarted_frame(first_frame f) noexcept : frame(f) {}
  unstarted_frame(unstarted_frame const&) = delete;
  unstarted_frame& operator=(unstarted_frame const&) = delete;
  ~unstarted_frame() {
    if (frame.handle) frame.handle.destroy();
  }
  [[nodiscard]] first_frame release() noexcept {
    return {std::exchange(frame.handle, {}), frame.row};
  }
};

}  // namespace detail

/// Starts processes from outside: from threads that do not belong to the scheduler, from callbacks.
///
///     auto const outside = s.submitter<console>();   // s: a scheduler that was started
///     std::jthread other([outside] { outside.submit(serve, request); });
///     s.run();
///
/// As long as a submitter or a copy of it exists, the run is not over: the scheduler's threads
/// sleep when there is nothing to do.  So the run ends only when the last submitter is destroyed,
/// or the scheduler is shut down.
///
/// A submitted process may perform `Effects...`.  The scheduler must know them: from the program's
/// row, or from the spawning<...> in it.  The process cannot fork.  The n-th submitted process has
/// the id "0.n".  Processes that one thread submits begin in the order of submission if the backend
/// keeps the order, as one_thread does.
///
/// Thread safe; it may outlive the scheduler.  A copy increments an atomic count.
template <backend Backend, class... Effects>
class submitter {
 public:
  submitter(detail::internal, std::shared_ptr<detail::submission_right<Backend> const> r) noexcept
      : right_(std::move(r)) {}

  /// Starts a process that runs `f(args...)`, as spawn(f, args...) does (spawning.hpp), and returns
  /// its id; the process may have ended by then.  The arguments are copied or moved on this thread.
  ///
  /// Throws scheduler_stopped if the run is over, a process has failed, or all processes are to
  /// end.  If the number of processes is limited and there is no room, `.when_full` decides: submit
  /// throws too_many_processes, or blocks the thread until there is room.  If a process of the same
  /// scheduler submits and there is no room, submit throws too_many_processes in either case: that
  /// thread must not block.  Also throws the exceptions of `f`, std::bad_alloc, and
  /// std::logic_error if this submitter was moved from.
  ///
  /// Two allocations, from a pool, and the cost of the backend's put.
  template <class F, class... Args>
  process_id submit(F f, Args&&... args) const {
    constexpr bool is_for_good = !std::is_same_v<F, forkable_t>;
    static_assert(is_for_good,
                  "weft: a submitted process cannot fork: submit(f, args...) one that does "
                  "spawn(forkable, g)");
    if constexpr (is_for_good)
      return submit_frame(spawn(f, std::forward<Args>(args)...));
    else
      return {};
  }

  /// Starts a process as submit() does, for a function that returns a value or an eff<T, ...>;
  /// returns a std::future<T> for the result.  The exceptions of the function are thrown by get(),
  /// and not by run().  If there was no memory for the process to go on, get() and run() both throw
  /// std::bad_alloc, or the exception of the backend.  If the process was unwound before it had
  /// ended, by a stop or a shutdown, get() throws std::future_error.  A process should wait by a
  /// completion<T> instead: get() would block its thread.
  ///
  /// Makes one allocation more than submit().  Throws as submit() does.
  template <class F, class... Args>
  [[nodiscard]] auto submit_task(F f, Args&&... args) const;  // in sched/runtime/submitter.hpp

 private:
  template <class Made>
  process_id submit_frame(Made made) const {
    if constexpr (requires { made.frame(); }) {
      using missing =
          detail::row_difference<typename decltype(made)::effects, detail::row_set<Effects...>>;
      static_assert(detail::is_empty_row<missing>,
                    "weft: the submitted process may perform an effect that the submitter<...> "
                    "does not name");
      if constexpr (detail::is_empty_row<missing>) {
        if (!right_) throw std::logic_error("weft: this submitter was moved from");
        detail::unstarted_frame first(made.frame());
        detail::submission_ticket ticket(*right_->at);
        return detail::submit(*right_->home, ticket, first.release());
      }
    }
    return {};
  }

  std::shared_ptr<detail::submission_right<Backend> const> right_;
};

}  // namespace weft
