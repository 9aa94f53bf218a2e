// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/detail/task_errors.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// when_all() of several computations: the object that it returns, and the awaiter of that object.
namespace weft::detail {

template <class T>
using tuple_of = std::conditional_t<std::is_void_v<T>, std::tuple<>, std::tuple<T>>;
/// The results of several computations: a tuple of those that are not void, or void if all are.
template <class... Ts>
using values_of = std::conditional_t<(std::is_void_v<Ts> && ...), void,
                                     decltype(std::tuple_cat(std::declval<tuple_of<Ts>>()...))>;

/// The frames of computations that have not started.
template <class... Cs>
using frames_of = std::array<std::coroutine_handle<>, sizeof...(Cs)>;

/// Several computations, and storage for their results.
template <class... Cs>
class tuple_join {
 public:
  static constexpr bool is_trivial_at_last =
      (std::is_trivially_destructible_v<kept<typename Cs::value_type>> && ...);

  /// Takes the frames of the computations.
  [[gnu::always_inline]] explicit tuple_join(frames_of<Cs...> const& fs)
      : tuple_join(std::index_sequence_for<Cs...>(), fs) {}
  tuple_join(tuple_join const&) = delete;
  tuple_join& operator=(tuple_join const&) = delete;

  [[nodiscard]] detail::join& join() noexcept { return join_; }
  /// Whether all tasks have a result.  If false, require_all() must be called.
  [[nodiscard]] bool all_have_given() noexcept {
    return join_.all_have_given() && !std::get<sizeof...(Cs) - 1>(answers_).has_failed();
  }
  /// Throws if a task has no result.  Called when all tasks have ended.
  [[gnu::noinline]] void require_all() {
    [this]<std::size_t... Is>(std::index_sequence<Is...>) {
      if ((std::get<Is>(answers_).value() && ...)) return;
      task_errors errors;
      (errors.add(tasks_[Is], std::get<Is>(answers_).error()), ...);
      errors.throw_them();
      std::terminate();
    }(std::index_sequence_for<Cs...>());
  }
  /// Takes the results out.  Called when all tasks have a result.
  values_of<typename Cs::value_type...> take() {
    if constexpr (!(std::is_void_v<typename Cs::value_type> && ...))
      return [this]<std::size_t... Is>(std::index_sequence<Is...>) {
        return std::tuple_cat(value_of(std::get<Is>(answers_))...);
      }(std::index_sequence_for<Cs...>());
  }

 private:
  template <class T>
  static auto value_of(result_slot<T>& from) {
    if constexpr (std::is_void_v<T>)
      return std::tuple<>();
    else
      return std::tuple<T>(from.take_value());
  }
  template <std::size_t... Is>
  [[gnu::always_inline]] tuple_join(std::index_sequence<Is...>, frames_of<Cs...> const& fs)
      : join_(tasks_, sizeof...(Cs), task_rows_of<typename Cs::effects...>::value),
        tasks_{task(join_, fs[Is], std::get<Is>(answers_))...} {}
  std::tuple<result_slot<typename Cs::value_type>...> answers_;
  detail::join join_;
  task tasks_[sizeof...(Cs)];  // destroyed first: a task refers to its answer
};

/// A member that is destroyed by hand.
template <class T>
union destroyed_by_hand {
  template <class... Args>
  [[gnu::always_inline]] explicit destroyed_by_hand(Args&&... args)
      : value(std::forward<Args>(args)...) {}
  ~destroyed_by_hand() {}
  T value;
};

/// The awaiter of several computations, in a coroutine of the row `Row`.  It stores as little as it
/// can: its cost counts in programs that divide their work down to small tasks.
template <class Row, class... Cs>
class awaiting_all {
  using wait = typename tasking_in<Row>::type::wait;
  using E = typename effect_of<wait, Row>::type;

 public:
  /// Takes the frames of the computations.
  [[gnu::always_inline]] awaiting_all(frames_of<Cs...> const& fs, std::source_location where)
      : all_(fs), operation_(all().join()), answer_(where) {}
  awaiting_all(awaiting_all const&) = delete;
  awaiting_all& operator=(awaiting_all const&) = delete;
  ~awaiting_all() {
    if (operation_.what) destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Frame>
  transfer await_suspend(std::coroutine_handle<Frame> me) {
    evidence<E>& handler = *find<E, Row>(me.promise().evidence);
    auto const& clause = handler.template clause<wait>();
    if (clause.attempt || clause.is_only_asked()) [[unlikely]]
      return go_on(attempt(handler, me));
    return go_on(clause.control(handler, operation_, me, answer()));
  }
  values_of<typename Cs::value_type...> await_resume() {
    if (!answer().value() || !all().all_have_given()) [[unlikely]] {
      answer().take();
      all().require_all();
    } else if constexpr (tuple_join<Cs...>::is_trivial_at_last) {
      operation_.what = nullptr;
    }
    return all().take();
  }

 private:
  /// Performs the wait by a clause that may answer without suspending.  Returns the frame to run
  /// next.
  [[gnu::noinline]] std::coroutine_handle<> attempt(evidence<E>& handler,
                                                    std::coroutine_handle<> me) {
    if (answered_at_once(handler, operation_, answer())) return me;
    return handler.template clause<wait>().control(handler, operation_, me, answer());
  }
  /// noinline, so that the code of the awaiting coroutine is small.
  [[gnu::noinline]] void destroy() noexcept {
    std::destroy_at(&answer());
    std::destroy_at(&all());
  }

  [[nodiscard]] tuple_join<Cs...>& all() noexcept { return all_.value; }
  [[nodiscard]] result_slot<void>& answer() noexcept { return answer_.value; }

  // destroy() destroys `all_` and `answer_`, unless all tasks have given results that have no
  // destructor.
  destroyed_by_hand<tuple_join<Cs...>> all_;
  wait operation_;  // `what` is null once nothing is left to be destroyed
  destroyed_by_hand<result_slot<void>> answer_;
};

#if !defined(__clang__)  // again, as in compiler.hpp: precompiled headers lose the pragma
#pragma GCC diagnostic ignored_attributes "clang::trivial_abi"
#endif
/// Several computations that have not been awaited yet.
template <class... Cs>
class [[clang::trivial_abi]] all_of {
 public:
  static constexpr bool is_awaited_by_value = true;
  using result = values_of<typename Cs::value_type...>;

  [[gnu::always_inline]] explicit all_of(Cs... cs) : all_of() {
    std::size_t i = 0;
    ((frames_[i++] = cs.release(detail::internal())), ...);
  }
  all_of(all_of&& from) noexcept : frames_(std::exchange(from.frames_, {})) {}
  all_of& operator=(all_of const&) = delete;
  ~all_of() {
    if (frames_[0]) [[unlikely]]
      destroy(std::index_sequence_for<Cs...>());
  }

  /// Returns the awaiter.  Throws eff_empty if this object has been moved from.
  template <class Row>
  [[gnu::always_inline]] auto awaiter_in(std::source_location where) {
    if constexpr (may_start<Row, typename Cs::effects...>()) {
      if (!frames_[0]) [[unlikely]]
        throw eff_empty();
      return awaiting_all<Row, Cs...>(std::exchange(frames_, {}), where);
    } else {
      return refused<result>();
    }
  }

 private:
  all_of() noexcept : frames_() {}
  template <std::size_t... Is>
  void destroy(std::index_sequence<Is...>) noexcept {
    destroy_all(frames_[Is]...);  // by value: so this object need not be in memory
  }
  template <class... Frames>
  [[gnu::noinline]] static void destroy_all(Frames... all) noexcept {
    ((all ? all.destroy() : void()), ...);
  }

  frames_of<Cs...> frames_;  // the elements behind a null are null, too
};

}  // namespace weft::detail
