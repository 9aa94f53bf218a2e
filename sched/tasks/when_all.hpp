// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/detail/task_arrays.hpp"
#include "weft/sched/tasks/detail/task_errors.hpp"
#include "weft/sched/tasks/detail/tuple_join.hpp"
#include "weft/sched/tasks/tasking.hpp"

namespace weft {

namespace detail {

/// The computations of a range, which have one type, and storage for their results.
template <class C, class Room>
class range_join {
  using T = typename C::value_type;

 public:
  static constexpr bool is_trivial_at_last = std::is_trivially_destructible_v<kept<T>>;
  static constexpr bool may_be_none = Room::may_be_none;

  /// Takes `n` computations out of the range.
  template <class Range>
  range_join(std::size_t n, Range& range)
      : room_(n),
        join_(room_.tasks(), static_cast<std::uint32_t>(n),
              task_rows_of<typename C::effects>::value) {
    struct made {  // tells `room_` how many were made, even if the range throws
      Room& in;
      std::size_t n = 0;
      ~made() { in.has(n); }
    } so_far{room_};
    for (auto&& c : range) {
      room_.make(so_far.n, join_, C(std::move(c)).release(detail::internal()));
      ++so_far.n;
    }
  }
  range_join(range_join const&) = delete;
  range_join& operator=(range_join const&) = delete;

  [[nodiscard]] task const* tasks() noexcept { return room_.tasks(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return join_.count; }
  using effects_of_tasks = typename C::effects;
  [[nodiscard]] detail::join& join() noexcept { return join_; }
  [[nodiscard]] bool all_have_given() noexcept {
    return join_.all_have_given() &&
           (join_.count == 0 || !room_.answers()[join_.count - 1].has_failed());
  }
  [[gnu::noinline]] void require_all() {
    result_slot<T>* const first = room_.answers();
    if (std::all_of(first, first + join_.count, [](auto& a) { return a.value(); })) return;
    task_errors errors;
    for (std::uint32_t i = 0; i != join_.count; ++i)
      errors.add(room_.tasks()[i], room_.answers()[i].error());
    errors.throw_them();
    std::terminate();
  }
  auto take() {
    if constexpr (std::is_void_v<T>) {
      room_.let_go();
    } else {
      auto all = room_.take_all();
      room_.let_go();
      return all;
    }
  }

 private:
  Room room_;
  detail::join join_;
};

/// The awaitable for the join `All`, a range_join.  If all tasks have succeeded, and no answer has
/// a destructor, the join need not be destroyed; its destruction is noinline, so that the code of
/// the awaiting coroutine is small.
template <class All>
class join_awaitable {
 public:
  static constexpr bool row_aware_operation = true;
  using result = decltype(std::declval<All&>().take());

  template <class... Args>
  [[gnu::always_inline]] explicit join_awaitable(Args&&... args)
      : all_(std::forward<Args>(args)...) {}
  join_awaitable(join_awaitable const&) = delete;
  join_awaitable& operator=(join_awaitable const&) = delete;
  ~join_awaitable() {
    if (!is_over_) destroy();
  }

  [[nodiscard]] All& all() noexcept { return all_; }
  /// Whether there is nothing to wait for.
  [[nodiscard]] bool is_ready() const noexcept
    requires(All::may_be_none)
  {
    return all_.size() == 0;
  }
  /// The operation to perform in a coroutine of the row `Row`.
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row, typename All::effects_of_tasks>())
      return typename tasking_in<Row>::type::wait(all_.join());
    else
      return refused<void>();
  }
  /// Yields the results, or throws.  Called when all have ended.
  auto finish() {
    bool const is_well = all_.all_have_given();
    if (!is_well) [[unlikely]]
      all_.require_all();
    if constexpr (std::is_void_v<decltype(all_.take())>) {
      all_.take();
      is_over_ = is_well && All::is_trivial_at_last;
    } else {
      auto all = all_.take();
      is_over_ = is_well && All::is_trivial_at_last;
      return all;
    }
  }

 private:
  [[gnu::noinline]] void destroy() noexcept { std::destroy_at(&all_); }

  union {
    All all_;
  };
  bool is_over_ = false;
};

template <class X>
constexpr std::size_t array_size = 0;
template <class C, std::size_t N>
constexpr std::size_t array_size<std::array<C, N>> = N;
template <class X>
constexpr bool is_array = false;
template <class C, std::size_t N>
constexpr bool is_array<std::array<C, N>> = true;

/// A range whose elements are computations that can be taken: a container that was moved, or a
/// range that yields them by value.
template <class Range>
concept gives_computations =
    std::ranges::input_range<Range> &&
    is_eff<std::remove_reference_t<std::ranges::range_reference_t<Range>>> &&
    (!std::is_lvalue_reference_v<std::ranges::range_reference_t<Range>> ||
     (!std::is_reference_v<Range> && !std::ranges::view<Range>));

/// The results of a range of computations.
template <class Range>
struct values_of_range : identity<void> {};
template <gives_computations Range>
struct values_of_range<Range> {
  using T = typename std::remove_reference_t<std::ranges::range_reference_t<Range>>::value_type;
  using list =
      std::conditional_t<is_array<Range>, std::array<T, array_size<Range>>, std::vector<T>>;
  using type = std::conditional_t<std::is_void_v<T>, void, list>;
};

}  // namespace detail

/// Runs all the computations, in parallel if there are threads; `co_await` yields the results:
///
///     auto const [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
///
/// If one of them throws, those that have not begun are not begun, the others find `cancelled`, and
/// when these have ended, the exception is thrown here.  O(n).  Throws what one of them threw;
/// `exceptions`, with all of them, if several did.  Allocates nothing but the frames.  Row:
/// `tasking<...>` with the effects of the computations.
template <class... Cs>
  requires(sizeof...(Cs) > 0 && (detail::is_eff<Cs> && ...))
// Always inline: a call would spill registers, only to destroy computations that have been moved
// from.
[[nodiscard("weft: co_await it"),
  gnu::always_inline]] inline awaits_to<detail::values_of<typename Cs::value_type...>> auto
when_all(Cs... cs) {
  return detail::all_of<Cs...>(std::move(cs)...);
}

/// Runs the computations of a range as when_all(cs...) does.  The range is a container that is
/// moved, or a view that makes them as this call traverses it.
///
///     std::vector<page> const pages = co_await when_all(urls | std::views::transform(fetch));
///     std::array halves{fib(n - 1), fib(n - 2)};
///     std::array<long, 2> const both = co_await when_all(std::move(halves));
///
/// `co_await` yields the results in the order of the range: a std::vector<T>, or nothing for void.
/// The waiting process fills the vector when all have ended, so a std::vector<bool> is safe.
/// Allocates one block for the tasks and their answers, and the vector; and first a vector of the
/// computations if the range does not know its size.  For a std::array it yields a std::array, and
/// allocates nothing.  If there are no computations, it does not wait.  O(n).  Throws as
/// when_all(cs...) does.  With g++ 12 an array needs a name, as in the example.
template <class X, class... Xs>
  requires(!(detail::is_eff<std::remove_cvref_t<X>> &&
             (detail::is_eff<std::remove_cvref_t<Xs>> && ...)))
[[nodiscard("weft: co_await it")]] awaits_to<typename detail::values_of_range<X>::type> auto
when_all(X&& range, Xs&&...) {
  constexpr bool takes_them = sizeof...(Xs) == 0 && detail::gives_computations<X>;
  static_assert(
      takes_them,
      "weft: when_all and when_any take computations, or one range of them from which they may "
      "be taken: a container that is moved, or a view that makes them");
  if constexpr (!takes_them) {
    return detail::refused();
  } else {
    using C = std::remove_reference_t<std::ranges::range_reference_t<X>>;
    using T = typename C::value_type;
    using in_a_block = detail::join_awaitable<detail::range_join<C, detail::heap_task_array<T>>>;
    if constexpr (detail::is_array<X>) {
      constexpr std::size_t n = detail::array_size<X>;
      return detail::join_awaitable<detail::range_join<C, detail::inline_task_array<T, n>>>(n,
                                                                                            range);
    } else if constexpr (std::ranges::sized_range<X>) {
      return in_a_block(static_cast<std::size_t>(std::ranges::size(range)), range);
    } else {
      std::vector<C> all;
      for (auto&& c : range) all.push_back(C(std::move(c)));
      return in_a_block(all.size(), all);
    }
  }
}

}  // namespace weft
