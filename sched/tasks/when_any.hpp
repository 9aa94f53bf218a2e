// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <ranges>
#include <source_location>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/tasking.hpp"
#include "weft/sched/tasks/when_all.hpp"

namespace weft {

namespace detail {

template <class T>
using value_or_nothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Keeps the value of the first task that ends.
template <class V, class Scope>
class first_of {
 public:
  explicit first_of(Scope& s) noexcept : scope_(s) { note_created(this); }
  first_of(first_of const&) = delete;
  first_of& operator=(first_of const&) = delete;
  ~first_of() { note_destroyed(this); }

  /// True for the first caller only.
  [[nodiscard]] bool claim_first() noexcept {
    note_access(this, true);
    // relaxed: the value is read when the scope is over.
    return !is_decided_.exchange(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_decided() const noexcept {
    return is_decided_.load(std::memory_order_relaxed);  // relaxed: read when the scope is over
  }
  /// If no other task was first, stores the value, and cancels the scope.
  template <class Place, class T>
  void give_if_first(Place place, T&& value) {
    auto gives = [this, place, value = std::forward<T>(value)]() mutable {
      if (claim_first()) give(place, std::move(value));
    };
    // Other processes may run between the last operation of the alternative and this call: so where
    // schedules are explored, the call causes an event (deferred_events.hpp).
    if constexpr (std::is_nothrow_move_constructible_v<std::decay_t<T>>)
      if (event_deferrer::of_thread) [[unlikely]]
        return cause_event("the value of an alternative", this, std::move(gives));
    gives();
  }
  [[nodiscard]] V take() { return *std::move(value_); }

 private:
  template <class Place, class T>
  void give(Place place, T&& value) {
    if constexpr (std::is_same_v<V, std::size_t>)
      value_.emplace(place);
    else
      value_.emplace(place, std::forward<T>(value));
    scope_.cancel();
  }

  Scope& scope_;
  std::atomic<bool> is_decided_ = false;
  std::optional<V> value_;
};

/// Runs one alternative.  `place` is its index, std::in_place_index or a number, with which the
/// result is constructed.
template <class C, class First, class Place>
eff<void, typename C::effects> run_for_the_first(C c, First& first, Place place) {
  bool has_value = false;
  try {
    if constexpr (std::is_void_v<typename C::value_type>) {
      co_await std::move(c);
      first.give_if_first(place, std::monostate());
    } else {
      decltype(auto) value = co_await std::move(c);
      has_value = true;
      first.give_if_first(place, std::move(value));
    }
  } catch (...) {
    // An exception that comes too late is dropped, whatever it is.
    if (!has_value && !first.claim_first()) co_return;
    throw;
  }
}

template <class Row, class Scope, class V, class Start>
eff<V, Row> first_in_a_scope(Start start, std::source_location where) {
  std::optional<first_of<V, Scope>> first;
  auto body = [&](Scope& s) -> eff<void, Row> {
    first.emplace(s);
    start(s, *first);
    co_return;
  };
  co_await in_a_scope<Row, Scope>(std::ref(body), where);
  if (!first->is_decided()) throw cancelled();
  co_return first->take();
}

/// Becomes an `eff<V, Row>` when the row is known.
template <class V, class Effects, class Start>
class first_awaitable {
 public:
  static constexpr bool row_aware_awaitable = true;
  using result = V;
  explicit first_awaitable(Start s) : start_(std::move(s)) {}
  template <class Row>
  auto awaiter_in(std::source_location where) {
    if constexpr (may_start<Row, Effects>()) {
      using here = typename scope_in<typename tasking_in<Row>::type>::type;
      using computation = eff<V, Row>;
      return calling<V, typename computation::promise_type, typename computation::effects, Row>(
          first_in_a_scope<Row, here, V>(std::move(start_), where).release(detail::internal()),
          where);
    } else {
      return refused<V>();
    }
  }

 private:
  Start start_;
};

/// The result for a range: the number of the computation that has ended first, and its value.
template <class T>
struct first_of_range : std::type_identity<std::pair<std::size_t, T>> {};
template <>
struct first_of_range<void> : std::type_identity<std::size_t> {};
template <class Range>
struct first_of_computations : std::type_identity<void> {};
template <gives_computations Range>
struct first_of_computations<Range>
    : first_of_range<
          typename std::remove_reference_t<std::ranges::range_reference_t<Range>>::value_type> {};

}  // namespace detail

/// Runs all the computations until the first has ended, and yields its result, at its index; the
/// others find `cancelled`, and are waited for.
///
///     auto const winner = co_await when_any(ask(near), ask(far));
///     if (winner.index() == 0) use(std::get<0>(winner));
///
/// `co_await` yields a std::variant, with std::monostate for a computation without a value.  If the
/// first one that ends throws, the exception is thrown here; later values and exceptions are
/// dropped.  Throws what the first one threw; `cancelled` if a cancellation comes before the first
/// has ended; eff_empty, at the call, if a computation was awaited before or moved from.  An
/// alternative that has not begun when the first ends is not begun.  An alternative should take
/// nothing that must not be lost, such as a message: for that there are select() and
/// receive_until(), which lose none.
///
/// O(n); allocates a scope, and for each alternative a block and two frames from a pool.  Row:
/// `tasking<...>` with the effects of the computations.
template <class... Cs>
  requires(sizeof...(Cs) > 0 && (detail::is_eff<Cs> && ...))
[[nodiscard("weft: co_await it")]] awaits_to<
    std::variant<detail::value_or_nothing<typename Cs::value_type>...>> auto
when_any(Cs... cs) {
  using V = std::variant<detail::value_or_nothing<typename Cs::value_type>...>;
  (cs.require_whole(detail::internal()), ...);
  auto start = [... cs = std::move(cs)](auto& s, auto& first) mutable {
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      (s.start(detail::run_for_the_first<Cs, std::remove_reference_t<decltype(first)>,
                                         std::in_place_index_t<Is>>,
               std::move(cs), std::ref(first), std::in_place_index<Is>),
       ...);
    }(std::index_sequence_for<Cs...>());
  };
  return detail::first_awaitable<V, detail::row_set<typename Cs::effects...>, decltype(start)>(
      std::move(start));
}

/// Runs the computations of a range as when_any(cs...) does; takes them as when_all does
/// (when_all.hpp):
///
///     auto const [which, page] = co_await when_any(mirrors | std::views::transform(fetch));
///
/// `co_await` yields the number of the first one, counted from 0, and its value: a
/// std::pair<std::size_t, T>; for computations without a value the number alone.  Throws
/// std::invalid_argument if there are none, since then none is the first.
///
/// O(n); allocates as when_any(cs...) does, and a vector of the computations.
template <class X, class... Xs>
  requires(!(detail::is_eff<std::remove_cvref_t<X>> &&
             (detail::is_eff<std::remove_cvref_t<Xs>> && ...)))
[[nodiscard("weft: co_await it")]] awaits_to<typename detail::first_of_computations<X>::type> auto
when_any(X&& range, Xs&&...) {
  constexpr bool takes_them = sizeof...(Xs) == 0 && detail::gives_computations<X>;
  static_assert(takes_them,
                "weft: when_all and when_any take computations, or one range of them from which "
                "they may be taken: a container that is moved, or a view that makes them");
  if constexpr (!takes_them) {
    return detail::refused();
  } else {
    using C = std::remove_reference_t<std::ranges::range_reference_t<X>>;
    using V = typename detail::first_of_range<typename C::value_type>::type;
    std::vector<C> all;
    if constexpr (std::ranges::sized_range<X>)
      all.reserve(static_cast<std::size_t>(std::ranges::size(range)));
    for (auto&& c : range) {
      c.require_whole(detail::internal());
      all.push_back(C(std::move(c)));
    }
    if (all.empty()) throw std::invalid_argument("weft: when_any of no computations");
    auto start = [all = std::move(all)](auto& s, auto& first) mutable {
      std::size_t i = 0;
      for (C& c : all)
        s.start(detail::run_for_the_first<C, std::remove_reference_t<decltype(first)>, std::size_t>,
                std::move(c), std::ref(first), i++);
    };
    return detail::first_awaitable<V, detail::row_set<typename C::effects>, decltype(start)>(
        std::move(start));
  }
}

}  // namespace weft
