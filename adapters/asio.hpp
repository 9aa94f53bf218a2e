// SPDX-License-Identifier: MIT
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/execution/context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#include <type_traits>
#include <utility>

#include "weft/adapters/detail/asio_awaiting.hpp"
#include "weft/adapters/detail/asio_loop.hpp"
#include "weft/adapters/use_weft.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/runtime/scheduler.hpp"

namespace weft::detail {
/// The names of Asio without Boost, for the adapter.
struct standalone_asio {
  using error_code = ::asio::error_code;
  using system_error = ::asio::system_error;
  static error_code aborted() { return ::asio::error::operation_aborted; }
  static error_code timed_out() { return ::asio::error::timed_out; }

  static constexpr bool has_slots = true;
  using slot = ::asio::cancellation_slot;
  struct signal : ::asio::cancellation_signal {
    void emit() { ::asio::cancellation_signal::emit(::asio::cancellation_type::all); }
  };

  using io_context = ::asio::io_context;
  using timer = ::asio::steady_timer;
  using any_executor = ::asio::any_io_executor;
  template <class E>
  using strand = ::asio::strand<E>;
  using work = ::asio::executor_work_guard<io_context::executor_type>;
  template <class E, class F>
  static void dispatch(E const& e, F&& f) {
    ::asio::dispatch(e, std::forward<F>(f));
  }
  template <class E, class F>
  static void post(E const& e, F&& f) {
    ::asio::post(e, std::forward<F>(f));
  }
  template <class E, class F>
  static auto bind(E const& e, F&& f) {
    return ::asio::bind_executor(e, std::forward<F>(f));
  }
  static io_context& context_of(io_context::executor_type const& e) {
    return ::asio::query(e, ::asio::execution::context);
  }
};
}  // namespace weft::detail

/// Turns the call of an operation with a weft_token into a computation with the row `completions`.
template <class Executor, class Canceller, bool AsTuple, class... Ts>
class asio::async_result<weft::weft_token<Executor, Canceller, AsTuple>, void(Ts...)>
    : public weft::detail::asio_token_result<weft::detail::standalone_asio,
                                             weft::weft_token<Executor, Canceller, AsTuple>,
                                             std::decay_t<Ts>...> {};

namespace weft {

/// Runs the scheduler, which was started, on the thread that runs the context: in handlers, each of
/// which runs up to 256 steps.  context.run() returns when no process is left, if there is nothing
/// else to do, and throws what scheduler::run() would throw.
///
///     asio::io_context context;
///     scheduler<> s;
///     s.start(program);
///     auto const running = run_on(context, s);
///     context.run();
///
/// The scheduler runs on that thread until the result is destroyed; nothing else may run it until
/// then.  The destructor cancels and unwinds the processes that are left, and runs the context
/// meanwhile; what the processes throw is thrown where the context is run next.  Destroy the result
/// before the scheduler and the context, on the thread that runs the context, or when no thread
/// does.
///
/// Allocates the state of the result, and a handler for each 256 steps, each wake-up after all
/// processes have waited, and each deadline that is waited for.  Throws bad_alloc.  For backends
/// with on_wakeup(), such as one_thread.  Real time only.
template <backend Backend>
[[nodiscard]] auto run_on(::asio::io_context& context, scheduler<Backend>& s) {
  return detail::asio_loop<detail::standalone_asio, scheduler<Backend>>(context, s);
}

}  // namespace weft
