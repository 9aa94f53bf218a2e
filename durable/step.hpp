// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/durable/codec.hpp"
#include "weft/durable/detail/answers.hpp"
#include "weft/durable/detail/request.hpp"
#include "weft/durable/errors.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/detail/parameters.hpp"

/// Steps: the calls of a durable process that reach the outside world.
namespace weft::durable {

/// How a step is run.
struct step_options {
  std::string_view name;  ///< Stands in the log: keep it when the code changes.
  /// How often the function is called at most, if it throws.
  unsigned attempts = 1;
  /// The delay before the second attempt.
  std::chrono::nanoseconds first_delay = std::chrono::seconds(1);
  double factor = 2;  ///< The factor by which the delay grows from attempt to attempt.
  std::chrono::nanoseconds max_delay = std::chrono::minutes(5);  ///< The longest delay.
  double jitter = 0.1;  ///< Each delay is longer by up to this fraction of it.
  /// How long an attempt may take; 0: any time.  An attempt that takes longer finds `cancelled`
  /// where it waits, and has failed.
  std::chrono::nanoseconds timeout{0};
  /// Whether each attempt calls the function once at most: the beginning of the attempt is recorded
  /// before the call.  If a crash comes before its outcome is recorded, the step throws
  /// step_interrupted.
  bool at_most_once = false;
};

/// Identifies a step.  The key is the same in each attempt and after each crash, so a service can
/// ignore a request that it has seen.  A step's function may take the key as its first parameter.
struct idempotency_key {
  std::string text;  ///< The id of the process and the step's position: "order/42#7".
};

namespace detail {

using weft::detail::identity;
using weft::detail::row_set;

/// The request of a step.  It lies in the frame that awaits the step.
struct step_request : request {
  explicit step_request(step_options const& o) noexcept
      : request(request_kind::step, o.name), how(o) {}
  step_options how;
};
template <class... Es>
struct typed_step_request : step_request {
  using step_request::step_request;
  /// Calls the function, and yields its value, serialised.
  virtual eff<std::string, Es...> call(idempotency_key const& key) = 0;

 protected:
  ~typed_step_request() = default;
};
template <class... Es>
struct [[nodiscard("weft: co_await it")]] perform_step : op<recorded, seals> {
  [[nodiscard("weft: co_await it")]] explicit perform_step(typed_step_request<Es...>& r) noexcept
      : what(&r) {}
  typed_step_request<Es...>* what;
  friend std::size_t hash_value(perform_step const&) { return 0; }
};

}  // namespace detail

/// The effect of calling functions that reach the outside world and recording the answers; `step`
/// performs it.  The functions may perform `Effects...`, which the handlers around engine::run()
/// answer.
template <class... Effects>
struct steps {
  using operations = op_list<detail::perform_step<Effects...>>;
};

namespace detail {

template <class Row>
struct steps_in {
  static constexpr int count = 0;
};
template <class E, class... Es>
struct steps_in<row<E, Es...>> : steps_in<row<Es...>> {};
template <class... Fs, class... Es>
struct steps_in<row<steps<Fs...>, Es...>> {
  static constexpr int count = 1 + steps_in<row<Es...>>::count;
  using type = steps<Fs...>;
  using outside = row_set<Fs...>;
  using request = typed_step_request<Fs...>;
  using operation = perform_step<Fs...>;
};

/// Whether `F` takes an idempotency_key as its first parameter.
template <class F, class... Args>
constexpr bool takes_a_key = std::invocable<F&, idempotency_key const&, Args const&...>;
template <class F, class... Args>
struct step_result {
  using type = std::invoke_result_t<F&, Args const&...>;
};
template <class F, class... Args>
  requires takes_a_key<F, Args...>
struct step_result<F, Args...> {
  using type = std::invoke_result_t<F&, idempotency_key const&, Args const&...>;
};
/// The type of the value, and the row, of a step's function that returns `R`: an eff, or any other
/// type.
template <class R>
struct step_value : identity<R> {
  static constexpr bool is_computation = false;
  using effects = row<>;
};
template <class T, class... Es>
struct step_value<eff<T, Es...>> : identity<T> {
  static constexpr bool is_computation = true;
  using effects = typename eff<T, Es...>::effects;
};

/// The part of a step that does not depend on the caller's row.
template <class F, class... Args>
struct step_call {
  using R = typename step_result<F, Args...>::type;
  using T = typename step_value<R>::type;
  F f;
  std::tuple<Args...> args;

  R operator()(idempotency_key const& key) {
    return std::apply(
        [&](auto const&... a) -> R {
          if constexpr (takes_a_key<F, Args...>)
            return std::invoke(f, key, a...);
          else
            return std::invoke(f, a...);
        },
        args);
  }
};

/// The request of a step in a coroutine whose row has steps<Es...>.
template <class Call, class... Es>
struct step_in final : typed_step_request<Es...> {
  step_in(step_options const& o, Call& c) noexcept : typed_step_request<Es...>(o), call_(c) {}
  eff<std::string, Es...> call(idempotency_key const& key) override { return called(call_, key); }

 private:
  static eff<std::string, Es...> called(Call& c, idempotency_key const& key) {
    using T = typename Call::T;
    if constexpr (step_value<typename Call::R>::is_computation) {
      if constexpr (std::is_void_v<T>) {
        co_await c(key);
        co_return nothing_answer();
      } else {
        co_return encode<T>(co_await c(key));
      }
    } else if constexpr (std::is_void_v<T>) {
      c(key);
      co_return nothing_answer();
    } else {
      co_return encode<T>(c(key));
    }
  }
  Call& call_;
};
template <class Call, class Steps>
struct step_for;
template <class Call, class... Es>
struct step_for<Call, steps<Es...>> : identity<step_in<Call, Es...>> {};

template <class F, class... Args>
class step_awaitable {
  using call = step_call<F, Args...>;

 public:
  static constexpr bool row_aware_operation = true;
  using result = typename call::T;

  template <class... As>
  step_awaitable(step_options o, F f, As&&... args)
      : how_(o), call_{std::move(f), std::tuple<Args...>(std::forward<As>(args)...)} {}
  step_awaitable(step_awaitable&& other) noexcept
      : how_(other.how_), call_(std::move(other.call_)) {}
  ~step_awaitable() {
    if (destroy_) destroy_(room_);
  }

  template <class Row>
  auto operation_in() {
    using found = steps_in<Row>;
    static_assert(found::count > 0,
                  "weft: a step in a coroutine whose row has no durable::steps<...>: name it in "
                  "eff<...>, with the effects that the step's function may perform");
    static_assert(found::count < 2,
                  "weft: a step in a coroutine whose row has two durable::steps<...>: keep one");
    if constexpr (found::count != 1) {
      return weft::detail::refused<recorded>();
    } else {
      using missing = weft::detail::row_difference<typename step_value<typename call::R>::effects,
                                                   typename found::outside>;
      static_assert(weft::detail::is_empty_row<missing>,
                    "weft: the step's function may perform an effect that durable::steps<...> of "
                    "the coroutine that awaits it does not name");
      if constexpr (weft::detail::is_empty_row<missing>) {
        using made = typename step_for<call, typename found::type>::type;
        static_assert(sizeof(made) <= sizeof(room_));
        auto* const at = ::new (static_cast<void*>(room_)) made(how_, call_);
        destroy_ = [](void* p) { static_cast<made*>(p)->~made(); };
        return typename found::operation(*at);
      } else {
        return weft::detail::refused<recorded>();
      }
    }
  }
  result finish(recorded r) const {
    std::string_view const value = value_of_step(r.answer, how_.name);
    if constexpr (!std::is_void_v<result>) return decode<result>(value);
  }

 private:
  // The type of the request depends on the row of the awaiting coroutine; its size is that of
  // `shape`.
  struct shape final : typed_step_request<> {
    eff<std::string> call(idempotency_key const&) override;
    void* pointer;
  };
  step_options how_;
  call call_;
  void (*destroy_)(void*) = nullptr;
  alignas(std::max_align_t) std::byte room_[sizeof(shape)];
};

/// The type in which a step keeps an argument: for texts a std::string.
template <class A>
struct kept_argument : identity<A> {};
template <>
struct kept_argument<char const*> : identity<std::string> {};
template <>
struct kept_argument<char*> : identity<std::string> {};
template <>
struct kept_argument<std::string_view> : identity<std::string> {};
template <class A>
using kept_argument_t = typename kept_argument<std::decay_t<A>>::type;

/// Refuses temporaries as arguments of a step's function that returns an eff, since the eff begins
/// after the call has returned.
template <class F, class... Args>
consteval bool require_step_without_temporaries() {
  if constexpr (takes_a_key<F, Args...>)
    return weft::detail::require_no_temporaries<F, idempotency_key, Args...>();
  else
    return weft::detail::require_no_temporaries<F, Args...>();
}

template <class F, class... Args>
consteval bool require_step() {
  constexpr bool is_called = std::invocable<F&, Args const&...> || takes_a_key<F, Args...>;
  static_assert(is_called,
                "weft: a step's function is called with the arguments that follow it, as const "
                "references; its first parameter may be a durable::idempotency_key const&");
  if constexpr (is_called) {
    using call = step_call<F, Args...>;
    using T = typename call::T;
    bool refers_well = true;
    if constexpr (step_value<typename call::R>::is_computation)
      refers_well = require_step_without_temporaries<F, Args...>();
    if constexpr (std::is_void_v<T>)
      return refers_well;
    else
      return require_storable<T>() && refers_well;
  } else {
    return false;
  }
}

/// Returns, in place of a step that is refused, an awaitable of its result type, if that is known.
template <class F, class... Args>
auto refused_step() {
  if constexpr (std::invocable<F&, Args const&...> || takes_a_key<F, Args...>)
    return weft::detail::refused<typename step_call<F, Args...>::T>();
  else
    return weft::detail::refused<void>();
}

}  // namespace detail

/// Calls `f(args...)`, which may reach the outside world, once, and records the answer: a process
/// that runs again gets the answer from its log.  `f` returns a value, or an eff whose effects the
/// row's steps<...> names; `co_await` yields the value, as it was read back from its bytes.  If `f`
/// takes an idempotency_key as its first parameter, it gets the key of this step.
///
///     auto const receipt = co_await durable::step("charge", charge_card, card, amount);
///     co_await durable::step({.name = "tell", .attempts = 5}, send_mail, address, text);
///
/// If a crash comes between the call and the commit of its answer, `f` is called again, unless the
/// options say at_most_once: then the step throws step_interrupted.  Throws step_failed if `f` has
/// thrown as often as the options allow, and weft::cancelled if the process is cancelled before an
/// attempt begins.  Row: `steps<...>`.
///
/// `f` and the arguments are copied into the awaiting frame, `char const*` and std::string_view as
/// strings.
template <class F, class... Args>
[[nodiscard]] auto step(step_options how, F f, Args&&... args) {
  if constexpr (detail::require_step<F, detail::kept_argument_t<Args>...>())
    return detail::step_awaitable<F, detail::kept_argument_t<Args>...>(how, std::move(f),
                                                                       std::forward<Args>(args)...);
  else
    return detail::refused_step<F, detail::kept_argument_t<Args>...>();
}
template <class F, class... Args>
[[nodiscard]] auto step(char const* name, F f, Args&&... args) {
  return step(step_options{.name = name}, std::move(f), std::forward<Args>(args)...);
}

}  // namespace weft::durable
