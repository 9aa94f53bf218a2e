// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/multi_resumption.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/ready/detail/kept_range.hpp"
#include "weft/effects/resumption.hpp"

/// Choice: a program chooses one of several alternatives, and fails when its choices lead nowhere.
///
///     eff<std::pair<int, int>, choose> summands(int sum) {
///       int const a = co_await one_of(std::views::iota(1, sum));
///       int const b = co_await one_of(std::views::iota(a, sum));
///       co_await guard(a + b == sum);
///       co_return std::pair(a, b);
///     }
///
///     run(handle(all_solutions(), [] { return summands(5); }))  // {1, 4}, {2, 3}
///
/// The handlers below try the alternatives in order, depth first (Plotkin and Pretnar, DOI
/// 10.1007/978-3-642-00590-9_7).  Each alternative of a choice but the first runs the body again
/// from its beginning: n alternatives at a depth of d operations cost O(n d).  So fail early.  For
/// a search of millions of steps, use bitwise (bitwise/bitwise.hpp), or a loop and a stack.
///
/// An open choice costs a frame of its clause and a log entry, and no native stack.  An exception
/// of the body ends the search.  After an operation that seals, a choice throws unforkable.
namespace weft {

/// The effect of choosing among alternatives, and of failing; see the head of this file.
struct choose {
  /// Chooses one of `count` alternatives, by number, from 0.  Fails if there are none.
  struct [[nodiscard("weft: co_await it")]] among : op<std::size_t> {
    [[nodiscard("weft: co_await it")]] explicit among(std::size_t n) noexcept : count(n) {}
    /// weights[i] is the likelihood of i relative to the others; an alternative of weight 0 is not
    /// tried.  Throws std::invalid_argument if a weight is negative or not finite.
    [[nodiscard("weft: co_await it")]] explicit among(std::vector<double> w);

    std::size_t count;
    std::vector<double> weights;  // empty: all are equally likely
    using leaves_nothing_when_moved = void;

    [[nodiscard]] double weight(std::size_t i) const noexcept {
      return weights.empty() ? 1 : weights[i];
    }
    friend std::size_t hash_value(among const& a) noexcept {
      std::size_t h = a.count;
      for (double const x : a.weights) h = h * 1099511628211u ^ std::bit_cast<std::uint64_t>(x);
      return h;
    }
  };
  /// Ends this way of choosing, because the choices made so far lead nowhere.
  struct [[nodiscard("weft: co_await it")]] fail : op<never> {
    [[nodiscard("weft: co_await it")]] fail() noexcept {}
  };

  using operations = op_list<among, fail>;
};

// ---- operations

namespace detail {
template <class Kept>
eff<range_value_t<Kept>, choose> element_of(Kept elements) {
  std::size_t const i = co_await choose::among(std::ranges::size(elements));
  co_return std::ranges::begin(
      elements)[static_cast<std::iter_difference_t<range_iterator_t<Kept>>>(i)];
}
template <class Kept>
eff<typename range_value_t<Kept>::first_type, choose> weighted_element_of(Kept elements) {
  std::vector<double> weights;
  for (auto const& e : elements) weights.push_back(e.second);
  std::size_t const i = co_await choose::among(std::move(weights));
  co_return std::ranges::begin(
      elements)[static_cast<std::iter_difference_t<range_iterator_t<Kept>>>(i)]
      .first;
}
template <class Range>
concept list_of_choices =
    keepable_range<Range> && std::random_access_iterator<range_iterator_t<Range>> &&
    requires(Range& elements) { std::ranges::size(elements); };

/// Refers to a function that tells whether element `i` of a list is less than element `j`.
class element_less {
 public:
  template <class F>
  explicit element_less(F const& f) noexcept
      : data_(&f), call_([](void const* data, std::size_t i, std::size_t j) -> bool {
          return (*static_cast<F const*>(data))(i, j);
        }) {}
  bool operator()(std::size_t i, std::size_t j) const { return call_(data_, i, j); }

 private:
  void const* data_;
  bool (*call_)(void const*, std::size_t, std::size_t);
};
/// The indices 0 to n - 1, sorted by the elements at them.  The indices of equal elements ascend.
[[nodiscard]] std::vector<std::size_t> ascending(std::size_t n, element_less less);
[[noreturn, gnu::cold]] void throw_no_distribution();
}  // namespace detail

/// Chooses one of the elements; `co_await` yields the element.  A named range is borrowed, a
/// temporary is kept.  Row: `choose`.  Allocates a frame.
template <detail::list_of_choices Range>
[[nodiscard("weft: co_await it")]] awaits_to<detail::range_value_t<Range>> auto one_of(
    Range&& elements) {
  return detail::element_of<detail::kept_range<Range>>(std::forward<Range>(elements));
}
/// Chooses one of the values, as in `int const n = co_await one_of(1, 2, 3);`.  Allocates a frame.
template <class T, std::convertible_to<T>... More>
  requires(sizeof...(More) > 0)
[[nodiscard("weft: co_await it")]] awaits_to<T> auto one_of(T first, More... more) {
  return one_of(std::array<T, 1 + sizeof...(More)>{std::move(first), std::move(more)...});
}

/// Chooses one of the elements, which are pairs of a value and its weight; `co_await` yields the
/// value.  Throws as choose::among does.  Row: `choose`.  O(n); allocates a frame and a vector.
template <detail::list_of_choices Range>
[[nodiscard("weft: co_await it")]] awaits_to<typename detail::range_value_t<Range>::first_type> auto
one_of_weighted(Range&& elements) {
  return detail::weighted_element_of<detail::kept_range<Range>>(std::forward<Range>(elements));
}
/// Chooses by chance; `co_await` yields true with probability `p`.  Throws as choose::among does.
/// Allocates a frame and a vector.
inline eff<bool, choose> with_probability(double p) {
  std::vector<double> weights{p, 1 - p};
  std::size_t const i = co_await choose::among(std::move(weights));
  co_return i == 0;
}

/// Fails unless `holds`.  Allocates a frame.
inline eff<void, choose> guard(bool holds) {
  if (!holds) co_await choose::fail{};
}

// ---- handlers

/// Answers with a vector of the results of all ways to choose, in order.  If the body computes
/// void: with the number of ways that come to its end.  O(n d) for n alternatives at a depth of d.
/// Allocates the results; for each open choice a frame and a log entry.
class all_solutions : public handler<choose> {
 public:
  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) const {
    A all = A();
    for (std::size_t i = 0; i != c.count; ++i) {
      if (c.weight(i) == 0) continue;
      A some = co_await k(i);
      append(all, std::move(some));
    }
    co_return all;
  }
  template <class A>
  A on(choose::fail, resumption<never, A>) const {
    return A();
  }

  template <class T>
  std::vector<T> on_return(T result) const {
    std::vector<T> one;
    one.push_back(std::move(result));
    return one;
  }
  std::size_t on_return() const noexcept { return 1; }

 private:
  static void append(std::size_t& to, std::size_t n) noexcept { to += n; }
  template <class T>
  static void append(std::vector<T>& to, std::vector<T> from) {
    if (to.empty())
      to = std::move(from);
    else
      to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  }
};

/// Answers with an optional of the first result, and tries no further alternatives.  If the body
/// computes void: with a bool, whether one way comes to its end.  O(n d) for the n alternatives
/// that it tries, at a depth of d.  Allocates a frame and a log entry for each open choice.
class first_solution : public handler<choose> {
 public:
  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) const {
    for (std::size_t i = 0; i != c.count; ++i) {
      if (c.weight(i) == 0) continue;
      A found = co_await k(i);
      if (found) co_return found;
    }
    co_return A();
  }
  template <class A>
  A on(choose::fail, resumption<never, A>) const {
    return A();
  }

  template <class T>
  std::optional<T> on_return(T result) const {
    return std::optional<T>(std::move(result));
  }
  bool on_return() const noexcept { return true; }
};

/// Answers with a vector of pairs: all results in order, each with the probability of its choices.
/// If the body computes void: with the probability that it comes to its end.
///
/// The answer is exact: all ways are tried (Kiselyov and Shan, DOI 10.1007/978-3-642-03034-5_17).
/// The probabilities of the ways that failed are missing from the sum; `as_distribution`
/// normalises.  O(n d) for n alternatives at a depth of d.  Allocates the results; for each open
/// choice a frame and a log entry.
class weighted_solutions : public handler<choose> {
 public:
  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) const {
    double total = 0;
    for (std::size_t i = 0; i != c.count; ++i) total += c.weight(i);
    A all = A();
    for (std::size_t i = 0; i != c.count; ++i) {
      if (c.weight(i) == 0) continue;
      A some = co_await k(i);
      append(all, std::move(some), c.weight(i) / total);
    }
    co_return all;
  }
  template <class A>
  A on(choose::fail, resumption<never, A>) const {
    return A();
  }

  template <class T>
  std::vector<std::pair<T, double>> on_return(T result) const {
    std::vector<std::pair<T, double>> one;
    one.emplace_back(std::move(result), 1.0);
    return one;
  }
  double on_return() const noexcept { return 1; }

 private:
  static void append(double& to, double p, double share) noexcept { to += share * p; }
  template <class T>
  static void append(std::vector<std::pair<T, double>>& to, std::vector<std::pair<T, double>> from,
                     double share) {
    for (auto& [value, p] : from) to.emplace_back(std::move(value), share * p);
  }
};

/// Merges equal weighted results, in ascending order, and scales the probabilities so that they sum
/// to 1: they are conditional on success.  The operator < of `T` is a total order.  Throws
/// std::domain_error if the sum is 0.  O(n log n); allocates the vector and a vector of indices.
template <class T>
std::vector<std::pair<T, double>> as_distribution(std::vector<std::pair<T, double>> results) {
  double total = 0;
  for (auto const& r : results) total += r.second;
  if (!(total > 0)) detail::throw_no_distribution();
  auto const less = [&results](std::size_t i, std::size_t j) -> bool {
    return results[i].first < results[j].first;
  };
  std::vector<std::pair<T, double>> merged;
  for (std::size_t const i : detail::ascending(results.size(), detail::element_less(less))) {
    auto& [value, weight] = results[i];
    if (merged.empty() || merged.back().first < value) merged.emplace_back(std::move(value), 0.0);
    merged.back().second += weight / total;
  }
  return merged;
}

}  // namespace weft
