// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "effects/operation.hpp"
#include "sched/commands/reply.hpp"

namespace weft {

namespace detail {

template <class F, class C>
concept dispatches = std::is_invocable_v<F&, C, reply<typename C::result>>;

/// Numbers that are all different, also between threads.
class tags {
 public:
  tags() = default;
  // Relaxed: neither object is shared yet.
  tags(tags&& other) noexcept : last_(other.last_.load(std::memory_order_relaxed)) {}
  tags& operator=(tags&&) = delete;
  /// Relaxed: the atomic addition makes each number unique, and orders nothing else; the data of a
  /// tag reaches other threads by other means.
  std::uint64_t next() noexcept { return last_.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  std::atomic<std::uint64_t> last_ = 0;
};

}  // namespace detail

/// A handler of commands (commands.hpp): functions, one for each type of command, called with the
/// command and its reply.
///
///     dispatchers d{[&](resolve c, reply<std::string> r) { ... },
///                   [&](load c, reply<blob> r) { ... }};
///     schedule(program, d);
///
/// A function is called where the command is issued, while no other process of that thread runs.
/// It hands the command on, and keeps the reply until there is an answer; or it answers at once.
/// Its exceptions are thrown by `issue`.  If several functions take a command, the first of them is
/// called; a command that none takes is refused at compile time.
///
/// On backends of several threads a handler must say that several threads may use it at once:
/// `thread_safe_dispatchers` if the functions can be called so, `synchronized(dispatchers{...})` to
/// make one call at a time.
///
/// A handler of another kind has `in_flight<R> on(issuing<C>::issue)`, and makes its reply by
/// reply::to.
template <class... Fs>
class dispatchers {
 public:
  explicit dispatchers(Fs... functions) : functions_(std::move(functions)...) {}

  template <operation O>
    requires(detail::dispatches<Fs, typename O::command_type> || ...)
  in_flight<typename O::command_type::result> on(O issued) {
    using C = typename O::command_type;
    auto answer = reply<typename C::result>::template to<C>(tags_.next());
    auto its = answer.get_in_flight();
    std::get<place_of<C>>(functions_)(std::move(issued.what), std::move(answer));
    return its;
  }

 private:
  template <class C>
  static constexpr std::size_t place_of = [] {
    bool const takes_it[] = {detail::dispatches<Fs, C>...};
    std::size_t i = 0;
    while (!takes_it[i]) ++i;
    return i;
  }();

  std::tuple<Fs...> functions_;
  detail::tags tags_;
};

/// Dispatchers whose functions may be called by several threads at once.
template <class... Fs>
class thread_safe_dispatchers : public dispatchers<Fs...> {
 public:
  static constexpr bool thread_safe = true;
  using dispatchers<Fs...>::dispatchers;
};
template <class... Fs>
thread_safe_dispatchers(Fs...) -> thread_safe_dispatchers<Fs...>;

}  // namespace weft
