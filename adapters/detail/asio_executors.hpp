// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

/// Executors of Asio: strands, and the io_context that the calling thread runs.
namespace weft::detail {

template <class N, class E>
constexpr bool is_asio_strand = false;
template <class N, class E>
  requires requires { typename E::inner_executor_type; }
constexpr bool is_asio_strand<N, E> =
    std::is_same_v<E, typename N::template strand<typename E::inner_executor_type>>;

/// The executor itself if it is a strand; else a strand on it (ASIO-3).
template <class N, class E>
auto asio_strand_of(E e) {
  if constexpr (is_asio_strand<N, E>)
    return e;
  else
    return typename N::template strand<E>(std::move(e));
}

/// The io_context that the calling thread runs, if `e` is an executor of that context, a strand on
/// one, or an any_executor that holds either; else null.
template <class N, class E>
typename N::io_context* asio_context_here(E const& e) {
  using plain = typename N::io_context::executor_type;
  using any = typename N::any_executor;
  if constexpr (std::is_same_v<E, plain>) {
    return e.running_in_this_thread() ? &N::context_of(e) : nullptr;
  } else if constexpr (is_asio_strand<N, E>) {
    return asio_context_here<N>(e.get_inner_executor());
  } else if constexpr (std::is_same_v<E, any>) {
    if (auto const* const p = e.template target<plain>()) return asio_context_here<N>(*p);
    using strand = typename N::template strand<plain>;
    if (auto const* const p = e.template target<strand>()) return asio_context_here<N>(*p);
    using strand_of_any = typename N::template strand<any>;
    if (auto const* const p = e.template target<strand_of_any>()) return asio_context_here<N>(*p);
    return nullptr;
  } else {
    return nullptr;
  }
}

/// Runs handlers of the context until `is_done()`.  A context that was stopped is restarted, and
/// stopped again at the end.  Exceptions of handlers are thrown where the context is run next.
template <class N, class IsDone>
void asio_run(typename N::io_context& context, IsDone const& is_done) {
  bool const was_stopped = context.stopped();
  std::vector<std::exception_ptr> errors;
  while (!is_done()) try {
      if (context.stopped()) context.restart();
      // poll_one() also takes handlers that were posted by a handler which called this function;
      // run_one() does not.
      if (context.poll_one() == 0 && !is_done()) context.run_one_for(std::chrono::milliseconds(1));
    } catch (...) {
      errors.push_back(std::current_exception());
    }
  for (auto const& e : errors) N::post(context.get_executor(), [e] { std::rethrow_exception(e); });
  if (was_stopped) context.stop();
}
}  // namespace weft::detail
