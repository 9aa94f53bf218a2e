// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// As much of std::execution as programs of the book and tests need, written out: the concepts are
/// the standard's, the senders are the simplest that there can be.  Programs use a real library.
namespace senders {

struct sender_t {};
struct receiver_t {};
struct operation_state_t {};
template <class... Signatures>
struct completion_signatures {};

struct set_value_t {
  template <class R, class... Values>
  void operator()(R&& r, Values&&... values) const noexcept {
    std::move(r).set_value(std::forward<Values>(values)...);
  }
};
struct set_error_t {
  template <class R, class E>
  void operator()(R&& r, E&& error) const noexcept {
    std::move(r).set_error(std::forward<E>(error));
  }
};
struct set_stopped_t {
  template <class R>
  void operator()(R&& r) const noexcept {
    std::move(r).set_stopped();
  }
};
struct get_stop_token_t {
  template <class Environment>
  auto operator()(Environment const& e) const noexcept {
    if constexpr (requires { e.query(*this); })
      return e.query(*this);
    else
      return std::stop_token();
  }
};
struct empty_env {};

/// The value completions among signatures.
template <class Signatures, template <class...> class Tuple, template <class...> class Variant,
          class... Found>
struct values_of;
template <template <class...> class Tuple, template <class...> class Variant, class... Found>
struct values_of<completion_signatures<>, Tuple, Variant, Found...> {
  using type = Variant<Found...>;
};
template <class Other, class... Rest, template <class...> class Tuple,
          template <class...> class Variant, class... Found>
struct values_of<completion_signatures<Other, Rest...>, Tuple, Variant, Found...>
    : values_of<completion_signatures<Rest...>, Tuple, Variant, Found...> {};
template <class... Ts, class... Rest, template <class...> class Tuple,
          template <class...> class Variant, class... Found>
struct values_of<completion_signatures<set_value_t(Ts...), Rest...>, Tuple, Variant, Found...>
    : values_of<completion_signatures<Rest...>, Tuple, Variant, Found..., Tuple<Ts...>> {};

/// The names by which weft calls this library (weft/adapters/execution.hpp).
struct names {
  using sender_t = senders::sender_t;
  using receiver_t = senders::receiver_t;
  using operation_state_t = senders::operation_state_t;
  using set_value_t = senders::set_value_t;
  using set_error_t = senders::set_error_t;
  using set_stopped_t = senders::set_stopped_t;
  using get_stop_token_t = senders::get_stop_token_t;
  using stop_source = std::stop_source;
  template <class... Signatures>
  using completion_signatures = senders::completion_signatures<Signatures...>;
  template <class Sender, class Environment, template <class...> class Tuple,
            template <class...> class Variant>
  using value_types_of =
      typename values_of<typename Sender::completion_signatures, Tuple, Variant>::type;
  template <class Token, class F>
  using stop_callback = std::stop_callback<F>;
  static constexpr auto connect = [](auto&& s, auto r) {
    return std::forward<decltype(s)>(s).connect(std::move(r));
  };
  static constexpr auto start = [](auto& operation) { operation.start(); };
  static constexpr set_value_t set_value{};
  static constexpr set_error_t set_error{};
  static constexpr set_stopped_t set_stopped{};
  static constexpr auto get_env = [](auto const& r) {
    if constexpr (requires { r.get_env(); })
      return r.get_env();
    else
      return empty_env();
  };
  static constexpr get_stop_token_t get_stop_token{};
};

/// Sends values, where it is started.
template <class... Ts>
struct just {
  using sender_concept = sender_t;
  using completion_signatures = senders::completion_signatures<set_value_t(Ts...)>;
  template <class R>
  struct operation {
    using operation_state_concept = operation_state_t;
    std::tuple<Ts...> values;
    R receiver;
    void start() & noexcept {
      std::apply([&](Ts&... ts) { names::set_value(std::move(receiver), std::move(ts)...); },
                 values);
    }
  };

  explicit just(Ts... ts) : values(std::move(ts)...) {}
  template <class R>
  operation<R> connect(R r) const {
    return {values, std::move(r)};
  }
  std::tuple<Ts...> values;
};

/// Fails with an error, or stops, where it is started.
template <class E>
struct just_error {
  using sender_concept = sender_t;
  using completion_signatures = senders::completion_signatures<set_error_t(E)>;
  template <class R>
  struct operation {
    using operation_state_concept = operation_state_t;
    E error;
    R receiver;
    void start() & noexcept { names::set_error(std::move(receiver), std::move(error)); }
  };

  template <class R>
  operation<R> connect(R r) const {
    return {error, std::move(r)};
  }
  E error;
};
struct just_stopped {
  using sender_concept = sender_t;
  using completion_signatures = senders::completion_signatures<set_stopped_t()>;
  template <class R>
  struct operation {
    using operation_state_concept = operation_state_t;
    R receiver;
    void start() & noexcept { names::set_stopped(std::move(receiver)); }
  };

  template <class R>
  operation<R> connect(R r) const {
    return {std::move(r)};
  }
};

/// A thread for each piece of work; joins them when it is destroyed.
class threads {
 public:
  void add(std::function<void()> work) {
    std::lock_guard const locked(all_mutex_);
    all_.emplace_back(std::move(work));
  }

 private:
  std::mutex all_mutex_;
  std::vector<std::jthread> all_;
};

/// Sends the result of `f(stop_token)`, called on another thread; stops if a stop was requested.
template <class F>
struct on_thread {
  using value = std::invoke_result_t<F&, std::stop_token>;
  using sender_concept = sender_t;
  using completion_signatures = senders::completion_signatures<set_value_t(value), set_stopped_t()>;
  template <class R>
  struct operation {
    using operation_state_concept = operation_state_t;
    threads* where;
    F f;
    R receiver;
    void start() & noexcept {
      where->add([this] {
        auto const stop = names::get_stop_token(names::get_env(receiver));
        value v = f(stop);
        if (stop.stop_requested())
          names::set_stopped(std::move(receiver));
        else
          names::set_value(std::move(receiver), std::move(v));
      });
    }
  };

  on_thread(threads& t, F g) : where(&t), f(std::move(g)) {}
  template <class R>
  operation<R> connect(R r) const {
    return {where, f, std::move(r)};
  }
  threads* where;
  F f;
};

/// Starts the sender of a `T`, with a stop token, and waits.  Empty if it has stopped.
template <class T, class Sender>
std::optional<T> sync_wait(Sender s, std::stop_token stop = {}) {
  struct state {
    std::mutex mutex;
    std::condition_variable ready;
    bool is_done = false;
    std::optional<T> value;
    std::exception_ptr error;
    std::stop_token stop;

    void ends() {
      std::lock_guard const locked(mutex);
      is_done = true;
      ready.notify_one();
    }
  };
  struct environment {
    state* to;
    [[nodiscard]] std::stop_token query(get_stop_token_t) const noexcept { return to->stop; }
  };
  struct receiver {
    state* to;
    void set_value(T t) && noexcept {
      to->value.emplace(std::move(t));
      to->ends();
    }
    void set_error(std::exception_ptr e) && noexcept {
      to->error = std::move(e);
      to->ends();
    }
    void set_stopped() && noexcept { to->ends(); }
    [[nodiscard]] environment get_env() const noexcept { return {to}; }
  };
  state waits;
  waits.stop = std::move(stop);
  auto operation = names::connect(std::move(s), receiver{&waits});
  names::start(operation);
  std::unique_lock locked(waits.mutex);
  waits.ready.wait(locked, [&waits] { return waits.is_done; });
  if (waits.error) std::rethrow_exception(waits.error);
  return std::move(waits.value);
}

}  // namespace senders
