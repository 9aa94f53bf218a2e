// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "effects/detail/answer.hpp"
#include "effects/eff.hpp"
#include "sched/detail/task.hpp"
#include "sched/detail/task_errors.hpp"
#include "sched/errors.hpp"
#include "sched/tasking.hpp"

namespace weft {

namespace detail {

/// Several computations, and room for what they give.
template <class... Cs>
class all_of {
 public:
  static constexpr bool finds_its_effect = true;

  explicit all_of(Cs... cs) : join_(tasks_.data(), sizeof...(Cs)) {
    prepare(std::index_sequence_for<Cs...>(), cs...);
  }
  all_of(all_of const&) = delete;
  all_of& operator=(all_of const&) = delete;

  /// In a coroutine of that row.
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row, typename Cs::effects...>())
      return typename tasking_in<Row>::type::wait(join_);
    else
      return refused<void>();
  }
  /// When all have ended.
  auto finish() {
    return [this]<std::size_t... Is>(std::index_sequence<Is...>) {
      if ((!std::get<Is>(answers_).value() || ...)) [[unlikely]]
        throw_errors();
      if constexpr (!(std::is_void_v<typename Cs::value_type> && ...))
        return std::tuple_cat(value_of(std::get<Is>(answers_))...);
    }(std::index_sequence_for<Cs...>());
  }

 private:
  template <class T>
  static auto value_of(answer<T>& from) {
    if constexpr (std::is_void_v<T>)
      return std::tuple<>();
    else
      return std::tuple<T>(from.take());
  }
  template <std::size_t... Is>
  void prepare(std::index_sequence<Is...>, Cs&... cs) {
    (prepare_one<Is>(cs), ...);
  }
  template <std::size_t I, class C>
  void prepare_one(C& c) {
    auto const frame = c.release();
    frame.promise().to = &std::get<I>(answers_);
    tasks_[I].prepare(join_, {frame, &row_info_of<typename C::effects>::value});
  }
  [[noreturn, gnu::noinline]] void throw_errors() {
    task_errors errors;
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      (errors.add(tasks_[Is], std::get<Is>(answers_).error()), ...);
    }(std::index_sequence_for<Cs...>());
    errors.throw_them();
    std::terminate();
  }

  std::tuple<answer<typename Cs::value_type>...> answers_;
  std::array<task, sizeof...(Cs)> tasks_;  // gone first: what is left of them answers
  join join_;
};

}  // namespace detail

/// Does all of them, at the same time if there are threads for it, and gives what they gave:
///
///     auto const [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
///
template <class... Cs>
  requires(sizeof...(Cs) > 0 && (detail::is_eff<Cs> && ...))
auto when_all(Cs... cs) {
  return detail::all_of<Cs...>(std::move(cs)...);
}

}  // namespace weft
