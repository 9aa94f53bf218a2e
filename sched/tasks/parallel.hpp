// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/row.hpp"
#include "weft/sched/tasks/detail/range_job.hpp"

/// Loops over a range that are done in pieces, in parallel if there are threads.
///
/// The range is halved repeatedly, into pieces of a `grain`, which are done as plain loops.  Each
/// half is a task, which costs 25 to 50 ns if no other thread takes it.  A loop whose elements do
/// not wait is divided further only when another worker has taken a half (RANGE-1 of
/// detail/range_job.hpp): a thousand cheap elements cost six divisions, ten million about ten, and
/// a few more for each thread that helps.  A reduction, and a loop whose elements perform, is
/// divided beforehand, by its size and the grain alone: so a reduction of floating-point numbers
/// has the same result in each run, on any number of threads.
///
/// Without a grain, up to 127 elements are pieces of their own, and more elements form 64 pieces;
/// beyond 65536 elements a piece has 1024 elements or more, and there are at most 512 pieces.  So a
/// few elements that take long are spread as well as possible, and dividing everything at once
/// costs 4 to 30 us.  Specify a grain if you know better.
///
/// When not to use it: for work that takes less time than starting a task.  A loop over a hundred
/// numbers is better a plain loop.
namespace weft {

/// The least number of elements of a piece; a piece has fewer than twice as many.
struct grain {
  std::size_t elements = 0;  ///< 0: chosen as described above.
};

namespace detail {

/// Refuses a range that cannot be halved.
template <class Range>
consteval bool require_halves() {
  constexpr bool has_halves = std::ranges::viewable_range<Range> &&
                              std::ranges::random_access_range<Range> &&
                              std::ranges::sized_range<Range>;
  static_assert(
      has_halves,
      "weft: parallel_for and parallel_reduce take a range with random access and a size");
  return has_halves;
}
/// Refuses elements that two threads may not write to at once.
template <class Element>
consteval bool require_bytes() {
  constexpr bool is_a_bit = std::is_same_v<Element, std::vector<bool>::reference>;
  static_assert(!is_a_bit,
                "weft: the elements of a std::vector<bool> share words, which two threads may not "
                "write to at once: use a vector of something else");
  return !is_a_bit;
}

template <class X>
struct effects_of {
  using type = row<>;
};
template <is_eff C>
struct effects_of<C> {
  using type = typename C::effects;
};

/// The work of parallel_for: calls the function with each element.
template <class F, class Element>
struct with_each {
  using given = std::invoke_result_t<F&, Element>;
  using result = void;
  using effects = typename effects_of<given>::type;
  static constexpr bool awaits = is_eff<given>;

  explicit with_each(F f) : f_(std::move(f)) {}
  given do_one(Element x) { return std::invoke(f_, static_cast<Element&&>(x)); }
  template <class I>
  void do_all(I from, I const to) {
    for (; from != to; ++from) std::invoke(f_, *from);
  }

 private:
  F f_;
};

/// The work of parallel_reduce.
template <class T, class Op, class F>
struct reduction {
  using result = T;
  using effects = row<>;
  static constexpr bool awaits = false;

  reduction(T init, Op op, F f) : init_(std::move(init)), op_(std::move(op)), f_(std::move(f)) {}
  template <class I>
  T do_all(I from, I const to) {
    T all = std::invoke(f_, *from);
    while (++from != to) all = join(std::move(all), std::invoke(f_, *from));
    return all;
  }
  T join(T a, T b) { return std::invoke(op_, std::move(a), std::move(b)); }
  T finish() { return std::move(init_); }
  T finish(T all) { return join(std::move(init_), std::move(all)); }

 private:
  T init_;
  Op op_;
  F f_;
};

/// Whether a function that returns an `R` yields no value: the result is ignored, or is a
/// computation without a value, which is awaited.
template <class R>
constexpr bool gives_nothing = true;
template <is_eff C>
constexpr bool gives_nothing<C> = std::is_void_v<typename C::value_type>;

template <class F, class Element>
concept does_one = std::invocable<F&, Element> && gives_nothing<std::invoke_result_t<F&, Element>>;
template <class T, class Op, class F, class Element>
concept reduces = std::is_invocable_r_v<T, F&, Element> && std::is_invocable_r_v<T, Op&, T, T> &&
                  std::is_move_assignable_v<T>;

}  // namespace detail

/// Calls `f` with each element.  If `f` returns an eff<void, ...>, that is awaited; within a piece
/// one element comes after the other.
///
///     co_await parallel_for(points, [&](point& p) { p = moved(p, by); });
///     co_await parallel_for(names, [](auto& n) -> eff<void, console> { co_await say(n); });
///
/// Row: `tasking<...>` with the effects that `f` performs.  `f` is kept, and called by several
/// threads at once.  A named range is borrowed, a temporary is kept.  If `f` throws, no further
/// piece is begun, and the exception is thrown here when all pieces that had begun have ended.  If
/// several threw, `exceptions` holds all of them.
///
/// The call for one element must not block its thread until another element is done, which may come
/// later in the same piece.
///
/// O(n).  Allocates a frame for each half.  Throws what a call threw; `exceptions`.
template <class Range, class F>
[[nodiscard("weft: co_await it")]] awaits_to<void> auto parallel_for(Range&& range, F f,
                                                                     grain g = {}) {
  if constexpr (detail::require_halves<Range>()) {
    using element = std::ranges::range_reference_t<Range>;
    constexpr bool is_of_bytes = detail::require_bytes<element>();
    constexpr bool takes_elements = !is_of_bytes || detail::does_one<F, element>;
    static_assert(takes_elements,
                  "weft: parallel_for takes a function that can be called with each element, and "
                  "returns an eff<void, ...> if its result is to be awaited");
    if constexpr (is_of_bytes && takes_elements) {
      using work = detail::with_each<F, element>;
      return detail::range_job<std::views::all_t<Range>, work>(
          std::views::all(std::forward<Range>(range)), work(std::move(f)), g.elements);
    } else {
      return detail::refused<void>();
    }
  } else {
    return detail::refused<void>();
  }
}

/// `co_await` yields op(... op(op(init, f(first)), f(second)) ..., f(last)).  `op` must be
/// associative; the order stays, so `op` need not be commutative.  The result is a `T`; `f` must
/// return a `T` or a type that converts to it; `op` takes two of them, as rvalues.
///
///     long const sum = co_await parallel_reduce(numbers, 0L, std::plus());
///     auto const best = co_await parallel_reduce(cities, nowhere, nearer, distance_from(home));
///
/// All else is as for parallel_for.  `op` and `f` are plain functions.  Row: `tasking<>`.  O(n);
/// allocates a frame for each half.  Throws as parallel_for does.
template <class Range, class T, class Op, class F>
  requires(!std::same_as<F, grain>)
[[nodiscard("weft: co_await it")]] awaits_to<T> auto parallel_reduce(Range&& range, T init, Op op,
                                                                     F f, grain g = {}) {
  if constexpr (detail::require_halves<Range>()) {
    constexpr bool gives_that_type =
        detail::reduces<T, Op, F, std::ranges::range_reference_t<Range>>;
    static_assert(gives_that_type,
                  "weft: parallel_reduce takes plain functions: one that combines two values of "
                  "the type of the first, and one that maps each element to such a value");
    if constexpr (gives_that_type) {
      using work = detail::reduction<T, Op, F>;
      return detail::range_job<std::views::all_t<Range>, work>(
          std::views::all(std::forward<Range>(range)),
          work(std::move(init), std::move(op), std::move(f)), g.elements);
    } else {
      return detail::refused<T>();
    }
  } else {
    return detail::refused<T>();
  }
}
template <class Range, class T, class Op>
[[nodiscard("weft: co_await it")]] awaits_to<T> auto parallel_reduce(Range&& range, T init, Op op,
                                                                     grain g = {}) {
  return parallel_reduce(std::forward<Range>(range), std::move(init), std::move(op),
                         std::identity(), g);
}

}  // namespace weft
