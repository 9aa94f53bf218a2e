// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <type_traits>
#include <utility>

#include "weft/adapters/detail/asio_awaiting.hpp"
#include "weft/adapters/detail/asio_loop.hpp"
#include "weft/adapters/use_weft.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/runtime/scheduler.hpp"

#if BOOST_ASIO_VERSION >= 101900
#include <boost/asio/cancellation_signal.hpp>
#endif

namespace weft::detail {
/// The names of Boost.Asio, for the adapter.
struct boost_asio {
  using error_code = ::boost::system::error_code;
  using system_error = ::boost::system::system_error;
  static error_code aborted() { return ::boost::asio::error::operation_aborted; }
  static error_code timed_out() { return ::boost::asio::error::timed_out; }

#if BOOST_ASIO_VERSION >= 101900
  static constexpr bool has_slots = true;
  using slot = ::boost::asio::cancellation_slot;
  struct signal : ::boost::asio::cancellation_signal {
    void emit() { ::boost::asio::cancellation_signal::emit(::boost::asio::cancellation_type::all); }
  };
#else  // Boost before 1.77
  static constexpr bool has_slots = false;
  struct signal {
    void emit() noexcept {}
  };
#endif

  using io_context = ::boost::asio::io_context;
  using timer = ::boost::asio::steady_timer;
  using any_executor = ::boost::asio::any_io_executor;
  template <class E>
  using strand = ::boost::asio::strand<E>;
  using work = ::boost::asio::executor_work_guard<io_context::executor_type>;
  template <class E, class F>
  static void dispatch(E const& e, F&& f) {
    ::boost::asio::dispatch(e, std::forward<F>(f));
  }
  template <class E, class F>
  static void post(E const& e, F&& f) {
    ::boost::asio::post(e, std::forward<F>(f));
  }
  template <class E, class F>
  static auto bind(E const& e, F&& f) {
    return ::boost::asio::bind_executor(e, std::forward<F>(f));
  }
  static io_context& context_of(io_context::executor_type const& e) {
    return ::boost::asio::query(e, ::boost::asio::execution::context);
  }
};
}  // namespace weft::detail

/// Turns the call of an operation with a weft_token into a computation with the row `completions`.
template <class Executor, class Canceller, bool AsTuple, class... Ts>
class boost::asio::async_result<weft::weft_token<Executor, Canceller, AsTuple>, void(Ts...)>
    : public weft::detail::asio_token_result<weft::detail::boost_asio,
                                             weft::weft_token<Executor, Canceller, AsTuple>,
                                             std::decay_t<Ts>...> {};

namespace weft {

/// Runs the scheduler, which was started, on the thread that runs the context: in handlers, each of
/// which runs up to 256 steps.  context.run() returns when no process is left, if there is nothing
/// else to do, and throws what scheduler::run() would throw.
///
///     boost::asio::io_context context;
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
[[nodiscard]] auto run_on(::boost::asio::io_context& context, scheduler<Backend>& s) {
  return detail::asio_loop<detail::boost_asio, scheduler<Backend>>(context, s);
}

}  // namespace weft
