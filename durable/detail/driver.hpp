// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "weft/durable/detail/coordinator.hpp"
#include "weft/durable/detail/instance.hpp"
#include "weft/durable/detail/process_handler.hpp"
#include "weft/durable/function.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/tasking.hpp"

namespace weft::durable::detail {

/// Runs one process: a task of the engine.  This is the part that does not depend on the process's
/// function.
class driver {
 public:
  driver(coordinator& c, seat& s, inbox<signal> in, address<order> to)
      : of_(c), seat_(&s), in_(std::move(in)), to_(std::move(to)) {}

  /// Commits the pending part.  False if it was fenced: then the driver drops the process.
  eff<bool, weft::mail> commit(instance& it);
  /// Waits until `h` has the answer to the request of the process, or an exception in its place;
  /// or, for a step, until its next attempt is due.  False if the driver is to drop the process:
  /// the process has waited long, or makes room; the engine stops; or a part was fenced.
  eff<bool, weft::mail, timing> wait(instance& it, process_handler& h);
  /// Notes that an attempt of a step has failed.  False if it was the last; true if another one is
  /// due later.
  bool note_failure(instance& it, step_options const& how, std::string why) const;
  /// Commits the end of the process, or quarantines it if it does not fit its log.
  eff<bool, weft::mail> finish(instance& it, process_handler const& h, std::exception_ptr thrown);
  eff<bool, weft::mail> quarantine(instance& it, std::string report);
  /// Tells the coordinator that this driver ends, if the coordinator does not know that.
  eff<void, weft::mail> leave();

  [[nodiscard]] process_key process() const noexcept { return seat_->key; }
  [[nodiscard]] bool is_stopping() const noexcept { return is_stopping_; }
  [[nodiscard]] timestamp time(instant now) const { return of_.time(now); }
  [[nodiscard]] coordinator& of() noexcept { return of_; }

 private:
  void heed(instance& it, signal& s);
  eff<bool, weft::mail> ask_to_leave(instance& it);

  coordinator& of_;
  seat* seat_;
  inbox<signal> in_;
  address<order> to_;
  std::uint64_t told_ = 0;
  bool is_stopping_ = false;
  bool makes_room_ = false;  // whether it leaves when it waits next
};

/// The key of the step that is to be run.
[[nodiscard]] idempotency_key key_of(instance const& it, std::uint64_t position);

/// Handles the effects of a function's row by `h`.
template <class... Es, class F>
auto handle_row(row<Es...>, process_handler& h, F f) {
  return handle<Es...>(h, std::move(f));
}

/// The type of the step requests in a row; a row without steps<...> never has a request.
template <class Row, bool HasSteps = (steps_in<Row>::count == 1)>
struct steps_of_row {
  using request = typed_step_request<>;
};
template <class Row>
struct steps_of_row<Row, true> {
  using request = typename steps_in<Row>::request;
};

/// Runs the step that the process waits for, in the row `Row` of the engine's tasks.  False if the
/// driver is to drop the process.
template <class Request, class Row>
eff<bool, Row> run_step(driver& d, instance& it, process_handler& h) {
  auto& r = static_cast<Request&>(it.waits_for());
  std::string const entry = entry_of("step", r.what);
  auto& state = it.step();
  idempotency_key const key = key_of(it, state.position);
  if (state.was_begun) {
    h.answer = it.append(entry, step_interruption());
    co_return co_await d.commit(it);
  }
  for (;;) {
    if (state.again != 0) {
      bool const is_kept = co_await d.wait(it, h);
      if (!is_kept || h.error) co_return is_kept;
    }
    if (r.how.at_most_once) it.append(entry_of("intent", r.what), nothing_answer());
    if (it.has_pending()) {
      bool const is_kept = co_await d.commit(it);
      if (!is_kept) co_return false;
    }
    std::optional<std::string> value;
    std::string why;
    try {
      if (r.how.timeout.count() != 0) {
        co_await with_scope({.timeout = r.how.timeout},
                            [&](auto&) -> eff<void, Row> { value = co_await r.call(key); });
      } else {
        value = co_await r.call(key);
      }
    } catch (std::exception const& e) {
      why = e.what();
    } catch (...) {
      why = "an exception that is no std::exception";
    }
    if (value) {
      h.answer = it.append(entry, step_answer(*value));
      co_return co_await d.commit(it);
    }
    // If the attempt has failed because the engine is cancelled, this sleep throws as well, and
    // nothing is recorded.
    co_await timing::sleep_for{instant::duration(0)};
    it.resumed_at = d.time(co_await timing::now{});
    if (!d.note_failure(it, r.how, why)) {
      h.answer = it.append(entry, step_failure(state.attempts, why));
      co_return co_await d.commit(it);
    }
  }
}

/// Runs the process `it` by the function `f`, until the process has ended or is dropped.
template <class Row, class F>
eff<void, Row> run_process(driver& d, F const& f, instance& it) {
  using effects = typename F::effects;
  for (;;) {
    process_handler h(it, d.of().options().clock);
    std::exception_ptr thrown;
    auto state = pause::waits;
    bool is_kept = true;
    it.resumed_at = d.time(co_await timing::now{});
    try {
      state = co_await handle_row(effects(), h, [&] { return f(it.arguments()); });
    } catch (...) {
      thrown = std::current_exception();
    }
    bool begins_again = false;
    while (!thrown && state == pause::waits) {
      request& r = it.waits_for();
      h.error = nullptr;
      if (r.kind == request_kind::step) {
        is_kept = co_await run_step<typename steps_of_row<effects>::request, Row>(d, it, h);
      } else if (r.kind == request_kind::continues) {
        it.pending.entries.clear();
        it.pending.continued = static_cast<data_request&>(r).data;
        std::string arguments = *it.pending.continued;
        is_kept = co_await d.commit(it);
        if (is_kept) it.begin_next_run(std::move(arguments));
        begins_again = is_kept;
      } else {
        is_kept = co_await d.wait(it, h);
      }
      if (!is_kept || begins_again || d.is_stopping()) break;
      it.resumed_at = d.time(co_await timing::now{});
      bool const sleeps = r.kind == request_kind::sleep;
      try {
        if (sleeps && h.error)
          state = co_await std::move(h.rest_of_sleep)(raising{h.error});
        else if (sleeps)
          state = co_await std::move(h.rest_of_sleep)();
        else if (h.error)
          state = co_await std::move(h.rest)(raising{h.error});
        else
          state = co_await std::move(h.rest)(h.answer);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    if (!is_kept || (d.is_stopping() && !thrown && state == pause::waits)) co_return;
    if (begins_again) continue;
    co_await d.finish(it, h, thrown);
    co_return;
  }
}

}  // namespace weft::durable::detail
