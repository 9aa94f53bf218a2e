// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/sched/base/backend.hpp"

namespace weft {

namespace detail {
template <class N, class Token, class... Ts>
struct asio_token_result;
}

/// The completion token by which a process awaits an asynchronous operation of Asio (asio.hpp) or
/// of Boost.Asio (boost_asio.hpp).  Its value is `use_weft`.  Each member function returns a token
/// with one more property; they are combined in any order:
///
///     std::size_t const n = co_await socket.async_read_some(buffer, use_weft.until(t));
///     auto [error, m] = co_await asio::async_write(socket, text, use_weft.as_tuple());
///
/// The call with the token is a computation.  Row: `completions`.  `co_await` yields the values of
/// the operation: nothing, the value, or a std::tuple of several.  A first value that is an error
/// code or an exception_ptr is not yielded, but thrown if it is set: the code as the library's
/// system_error.
///
/// The operation begins when it is awaited, and not in the thread of the process, but in the
/// executor of its object, where it is also cancelled and ends: so objects of one io_context, which
/// one thread runs, may be used by processes of any backend.  If several threads run the context,
/// an object that several processes use at once needs a strand as its executor, as everywhere in
/// Asio.  Before an operation begins, the other ready processes run; a process that is cancelled by
/// then finds `cancelled`, and the operation does not begin.
///
/// Buffers, and objects to which the arguments refer, must live until the `co_await` is over.  They
/// may be locals of the process: its frame lives until the operation has ended, whatever happens.
/// If the process is cancelled, or the deadline has passed, the operation is cancelled by its
/// cancellation slot, and the process waits until the operation has ended.  If the operation ends
/// with `operation_aborted`, the process finds `cancelled`, or the error `timed_out`; if the
/// operation succeeds all the same, it yields its values, and a cancelled process finds `cancelled`
/// at its next operation.  If all processes are cancelled, or the scheduler ends, the thread that
/// unwinds the process blocks until the operation has ended.
///
/// So a context must run until its operations have ended, or be destroyed: if a context is stopped
/// while processes await its operations, the processes wait for ever.  An operation that is
/// destroyed with its context throws completion_dropped.
///
/// A token is a value, which refers only to the objects that its member functions were given.
///
/// Allocates the state of the operation and of its completion, four frames from a pool, and what
/// Asio allocates.  Costs two changes of threads, if the context has a thread of its own.  Besides
/// the exceptions named above, throws bad_alloc, and what the beginning of the operation throws.
template <class Executor = void, class Canceller = void, bool AsTuple = false>
class weft_token {
 public:
  constexpr weft_token() noexcept = default;

  /// The operation is cancelled at `t`; if it ends for that reason, its error is `timed_out`.
  [[nodiscard]] constexpr weft_token until(instant t) const {
    return weft_token(t, executor_, canceller_);
  }
  /// The `co_await` yields a std::tuple of the values of the operation, the error first, and does
  /// not throw the error.
  [[nodiscard]] constexpr weft_token<Executor, Canceller, true> as_tuple() const {
    return weft_token<Executor, Canceller, true>(deadline_, executor_, canceller_);
  }
  /// The operation is begun, cancelled and ended in the executor `e`; without on(), in the executor
  /// of its object.
  template <class E>
  [[nodiscard]] constexpr weft_token<E, Canceller, AsTuple> on(E e) const {
    return weft_token<E, Canceller, AsTuple>(deadline_, std::move(e), canceller_);
  }
  /// To cancel the operation, `object.cancel()` is called as well, in the executor: for operations
  /// without a cancellation slot, such as all those of Boost before 1.77.  The call cancels all
  /// operations of that object, which must outlive the operation.
  template <class Object>
  [[nodiscard]] constexpr weft_token<Executor, Object*, AsTuple> cancelling(Object& object) const {
    return weft_token<Executor, Object*, AsTuple>(deadline_, executor_, &object);
  }

 private:
  template <class, class, bool>
  friend class weft_token;
  template <class N, class Token, class... Ts>
  friend struct detail::asio_token_result;
  template <class T>
  using kept = std::conditional_t<std::is_void_v<T>, std::nullptr_t, T>;
  static constexpr bool has_executor = !std::is_void_v<Executor>;
  static constexpr bool is_as_tuple = AsTuple;

  constexpr weft_token(instant t, kept<Executor> e, kept<Canceller> c)
      : deadline_(t), executor_(std::move(e)), canceller_(std::move(c)) {}

  instant deadline_ = instant::max();
  kept<Executor> executor_{};
  kept<Canceller> canceller_{};
};

/// The token with nothing added.
inline constexpr weft_token<> use_weft{};

}  // namespace weft
