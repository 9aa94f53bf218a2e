// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/durable/codec.hpp"
#include "weft/durable/detail/coordinator.hpp"
#include "weft/durable/detail/driver.hpp"
#include "weft/durable/function.hpp"
#include "weft/durable/process.hpp"
#include "weft/durable/store.hpp"

/// The engine: runs the durable processes of a store.
namespace weft::durable {

namespace detail {

/// The effects that the steps of a function with the row `Row` may perform.
template <class Row>
struct outside_of : identity<row<>> {
  static_assert(steps_in<Row>::count < 2,
                "weft: the row of a durable function names durable::steps<...> twice: keep one");
};
template <class Row>
  requires(steps_in<Row>::count == 1)
struct outside_of<Row> : identity<typename steps_in<Row>::outside> {};

template <class E>
constexpr bool is_recorded = std::is_same_v<E, mail> || std::is_same_v<E, children> ||
                             std::is_same_v<E, history> || std::is_same_v<E, timing>;
template <class... Es>
constexpr bool is_recorded<steps<Es...>> = true;

/// Refuses a function whose row has an effect of which logs record no answers.
template <class Row>
struct recorded_row;
template <class... Es>
struct recorded_row<row<Es...>> {
  static constexpr bool value = (is_recorded<Es> && ...);
  static_assert(value,
                "weft: a durable process may perform durable::steps<...>, durable::mail, "
                "durable::children, durable::history and timing only: anything else would not be "
                "in its log, and would happen again when it runs again.  Call it in a step, or "
                "handle it inside of the function");
};

template <class Row>
struct engine_rows;
template <class... Es>
struct engine_rows<row<Es...>> {
  using tasks = tasking<Es..., weft::mail, timing, completions>;
  using of_task = weft::detail::row_set<Es..., weft::mail, timing, completions, tasks>;
  using of_engine = weft::detail::row_set<tasks, weft::mail, timing, yielding, completions>;
};

}  // namespace detail

/// The part of an engine that does not depend on its functions.  Each call allocates what it stores
/// or returns.  Each call that uses the store throws store_error.  Thread safe.
class engine_base {
 public:
  engine_base(store& s, engine_options const& o);
  engine_base(engine_base const&) = delete;
  engine_base& operator=(engine_base const&) = delete;
  ~engine_base() = default;

  /// Makes run() return, when each process has come to a place where it waits; steps that are
  /// running end before that.  Thread safe.
  void stop() { coordinator_.stop(); }

  /// Sends a message to the process of that id.  Two calls with the same `once_key`, if it is not
  /// empty, send one message.  Thread safe; blocks as the store does.
  template <class M>
  void send(std::string id, M const& message, std::string_view once_key = {}) {
    coordinator_.arrived(
        store_.send({std::move(id), std::string(stored_name<M>()), encode(message)}, once_key));
  }
  /// Asks the process to end: the operation at which it waits, or else its next one, throws
  /// weft::cancelled.  Thread safe.
  void cancel(std::string const& id, std::string const& why = "weft: cancelled from outside");
  /// Lets a quarantined process, which did not fit its log, go on after its code was mended.  False
  /// if the process is not quarantined.
  bool resume_quarantined(std::string_view id);

  /// The record that the store has of a process; null if there is none of that id.  Thread safe.
  [[nodiscard]] std::optional<process_record> find(std::string_view id) { return store_.find(id); }
  /// Up to `limit` processes in the order of their keys, after the key `after`: 0 for the first
  /// ones, then the key of the last one that was listed.  Thread safe; blocks as the store does.
  [[nodiscard]] std::vector<process_record> list(process_key after, std::size_t limit) {
    return store_.list(after, limit);
  }
  /// The log of a process, since it was last continued as new (continue_as_new()): its operations
  /// and their answers, which readable() turns into text.  Thread safe; blocks as the store does.
  /// Throws std::invalid_argument if there is no process of that id.
  [[nodiscard]] std::vector<log_entry> history(std::string_view id);
  /// The value that the process has published last; empty if there is none.  Throws not_readable if
  /// the value is no `T`.
  template <class T>
  [[nodiscard]] std::optional<T> query(std::string_view id) {
    auto const found = store_.find(id);
    if (!found || found->published.empty()) return std::nullopt;
    return decode<T>(found->published);
  }
  /// Blocks until the process has ended, or is quarantined, and returns its record; null if `time`
  /// has passed.  A process of the scheduler that runs the engine must not call it.  Throws
  /// std::invalid_argument if there is no process of that id.
  [[nodiscard]] std::optional<process_record> wait_for(std::string_view id,
                                                       std::chrono::nanoseconds time);
  /// Blocks until the process has ended, or is quarantined, and returns its result.  Throws what
  /// result_of() throws, and std::invalid_argument if there is no process of that id.
  template <class R>
  [[nodiscard]] R result(std::string_view id) {
    return result_of<R>(*wait_for(id, std::chrono::nanoseconds::max()));
  }
  /// The result of a process that has ended.  Throws child_failed if the process has no result, and
  /// not_readable if the result is no `R`.
  template <class R>
  [[nodiscard]] static R result_of(process_record const& p) {
    if (p.status != process_status::completed)
      throw child_failed(p.start.id, has_ended(p.status) ? decode<std::string>(p.result)
                                                         : std::string(name_of(p.status)));
    if constexpr (!std::is_void_v<R>) return decode<R>(p.result);
  }

 protected:
  void begin(process_start const& s) { coordinator_.arrived(store_.start(s)); }

  store& store_;
  detail::coordinator coordinator_;

 private:
  std::mutex lock_;
  std::condition_variable ended_;
  std::uint64_t ends_ = 0;  // how often processes have ended
};

/// Runs the durable processes of a store by these functions.
///
///     durable::sqlite_store store("orders.db");
///     durable::engine e(store, order_process, refund_process);
///     e.start("order/42", order_process, 42, "a customer");
///     schedule<sharing>([&] { return e.run(); }, payment_service());
///
/// The row of run() has the effects of all steps; the handlers of `schedule` answer them.
template <class... Fs>
class engine : public engine_base {
  static_assert((detail::recorded_row<typename Fs::effects>::value && ...));
  using outside = weft::detail::row_set<typename detail::outside_of<typename Fs::effects>::type...>;
  using rows = detail::engine_rows<outside>;

 public:
  explicit engine(store& s, Fs... functions) : engine(engine_options(), s, functions...) {}
  engine(engine_options const& o, store& s, Fs... functions)
      : engine_base(s, o), functions_(functions...) {}

  /// Starts a process of that id; does nothing if one was started before.  When the call returns,
  /// the process is stored, and an engine that runs will bring it to its end.  Thread safe.  Blocks
  /// as the store does.  Throws store_error.
  template <class F, class... Args>
  void start(std::string id, F const& f, Args&&... args) {
    begin(f.start(std::move(id), std::forward<Args>(args)...));
  }

  /// Runs processes until engine_options::until says that it is over.  One run at a time.  Throws
  /// what the store throws.  Row: the effects of the steps of all functions, and those that
  /// `schedule` answers.
  eff<void, typename rows::of_engine> run() {
    using row = typename rows::of_engine;
    coordinator_.open_to_others();
    auto [in, to] = co_await open<detail::order>();
    co_await with_scope([&](auto& s) -> eff<void, row> {
      auto const begin = [&](detail::seat& at, inbox<detail::signal> signals) {
        s.start(drive, std::ref(*this), std::ref(at), std::move(signals), to);
      };
      if (coordinator_.options().listens) s.start(listen, std::ref(coordinator_), to);
      co_await coordinator_.run(std::move(in), begin);
    });
  }

 private:
  static eff<void, typename rows::of_task> listen(detail::coordinator& c,
                                                  address<detail::order> to) {
    co_await c.wait_for_outside(std::move(to));
  }
  static eff<void, typename rows::of_task> drive(engine& e, detail::seat& at,
                                                 inbox<detail::signal> in,
                                                 address<detail::order> to) {
    detail::driver d(e.coordinator_, at, std::move(in), std::move(to));
    detail::instance it(*std::exchange(at.loaded, std::nullopt));
    if (auto const f = e.choose(it.record().start))
      co_await (e.*runners[*f])(d, it);
    else
      co_await d.quarantine(
          it, "weft: this engine has no function \"" + it.record().start.function + "\"");
    co_await d.leave();
  }
  template <std::size_t I>
  eff<void, typename rows::of_task> run_one(detail::driver& d, detail::instance& it) {
    auto const& f = std::get<I>(functions_);
    it.set_version(f.version());
    // No code is made for a row that recorded_row refuses: its static_assert is the error message.
    if constexpr (detail::recorded_row<typename std::remove_cvref_t<decltype(f)>::effects>::value)
      co_await detail::run_process<typename rows::of_task>(d, f, it);
  }
  /// The index of the function of that name, in that version, else in the newest; null if there is
  /// none of that name.
  [[nodiscard]] std::optional<std::size_t> choose(process_start const& s) const {
    std::optional<std::size_t> found;
    std::uint32_t best = 0;
    auto const look = [&](std::size_t i, auto const& f) {
      if (f.name() != s.function) return;
      bool const fits = f.version() == s.version;
      bool const is_better = !found || fits || (best != s.version && f.version() > best);
      if (!is_better) return;
      found = i;
      best = f.version();
    };
    std::apply(
        [&](auto const&... f) {
          std::size_t i = 0;
          (look(i++, f), ...);
        },
        functions_);
    return found;
  }

  using runner = eff<void, typename rows::of_task> (engine::*)(detail::driver&, detail::instance&);
  template <class>
  struct runners_of;
  template <std::size_t... I>
  struct runners_of<std::index_sequence<I...>> {
    static constexpr std::array<runner, sizeof...(Fs)> all{&engine::template run_one<I>...};
  };
  static constexpr auto const& runners = runners_of<std::index_sequence_for<Fs...>>::all;

  std::tuple<Fs...> functions_;
};

}  // namespace weft::durable
