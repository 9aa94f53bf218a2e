// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/operation.hpp"
#include "weft/sched/commands/reply.hpp"

namespace weft {

namespace detail {

template <class F, class C>
concept dispatches = std::is_invocable_v<F&, C, reply<typename C::result>>;

/// Makes numbers that are all different, also if several threads call next().
class tags {
 public:
  tags() = default;
  // Relaxed: no other thread uses either object yet.
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
/// A function is called on the thread of the process that issues the command, before that process
/// goes on; no other process runs on that thread meanwhile.  The function hands the command on, and
/// keeps the reply until there is an answer; or it answers at once.  `issue` throws what the
/// function throws.  If several functions take a command, the first of them is called; a command
/// that none takes is refused at compile time.
///
/// On backends of several threads a handler must say that several threads may use it at once.  Use
/// `thread_safe_dispatchers` if several threads may call the functions at once, and else
/// `synchronized(dispatchers{...})`, which makes one call at a time.
///
/// A command is O(1), and what its function costs; one allocation, from a pool.
///
/// You can also write a handler of your own: it has a clause `in_flight<R> on(issuing<C>::issue)`,
/// makes the reply by reply::to, and returns its get_in_flight().
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

/// Dispatchers whose functions may be called by several threads at once.  A command is O(1), and
/// what its function costs; one allocation, from a pool.
template <class... Fs>
class thread_safe_dispatchers : public dispatchers<Fs...> {
 public:
  static constexpr bool thread_safe = true;
  using dispatchers<Fs...>::dispatchers;
};
template <class... Fs>
thread_safe_dispatchers(Fs...) -> thread_safe_dispatchers<Fs...>;

}  // namespace weft
