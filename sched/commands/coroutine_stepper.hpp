// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/effects/run.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/commands/stepper.hpp"
#include "weft/sched/sync/external_event.hpp"

/// Makes a stepper (stepper.hpp) of a coroutine.
namespace weft {

namespace detail {

/// A handler that turns a coroutine into a state machine: the commands that the coroutine issues go
/// to the output of a step.
///
///   DRIVE-1  `rest_` is the coroutine's resumption while it waits at `at_`, the external event of
///       one of its commands.  It is empty while the coroutine runs, and when it has ended.
///   DRIVE-2  The reply to each command is kept under the command's tag, until the event with that
///       tag answers it.
template <class... Cs>
class command_machine : public region {
 public:
  using output = step_output<Cs...>;
  using body = eff<void, commands<Cs...>>;

  explicit command_machine(body b) : body_(std::move(b)) { this->allow_dropping(); }
  ~command_machine() { rest_ = {}; }  // unwinds the coroutine while the other members exist

  /// Runs the coroutine until it waits for an answer that has not come.  Throws what the coroutine
  /// throws.
  void step(std::span<event> events, output& out) {
    out_ = &out;
    for (event& e : events) take(e);
    if (body_) run(handle<issuing<Cs>..., completions>(*this, take_body()));
    while (rest_ && at_->is_open()) resume(std::move(rest_));
    out.status = has_ended_ ? step_status::done : step_status::waiting;
  }

  // ---- the clauses

  template <operation O>
    requires(std::is_same_v<O, typename issuing<Cs>::issue> || ...)
  in_flight<typename O::command_type::result> on(O issued) {
    using C = typename O::command_type;
    std::uint64_t const tag = out_->issue(std::move(issued.what));
    auto answer = reply<typename C::result>::template to<C>(tag);
    auto its = answer.get_in_flight();
    waiting_.emplace(tag, std::make_unique<slot_of<typename C::result>>(std::move(answer)));
    return its;
  }
  void on(completions::wait w, resumption<void> k) {
    at_ = static_cast<external_event*>(w.here.at);
    rest_ = std::move(k);
  }
  bool on(completions::wait_until const&) {
    throw std::logic_error(
        "weft: a coroutine_stepper has no clock: for a deadline issue a command that ends then");
  }
  void on_return() { has_ended_ = true; }

 private:
  struct slot {
    virtual ~slot() = default;
    virtual void answer(event& e) = 0;
  };
  template <class R>
  struct slot_of final : slot {
    explicit slot_of(reply<R> r) : to(std::move(r)) {}
    void answer(event& e) override {
      if (e.error)
        to.fail(e.error);
      else if constexpr (std::is_void_v<R>)
        to.complete();
      else
        to.complete(e.data.template take<R>());
    }
    reply<R> to;
  };

  body take_body() {
    body b = std::move(*body_);
    body_.reset();
    return b;
  }
  void take(event& e) {
    if (e.type == event_type::cancelled) {
      cancel();
    } else if (e.type == event_type::completed) {
      auto const found = waiting_.extract(e.tag);
      if (found) found.mapped()->answer(e);
    }  // else the event is a message, which the coroutine cannot receive
  }
  /// Makes the coroutine find `cancelled` where it waits.  It may clean up; if it waits again, it
  /// is unwound.  A coroutine that has not begun never runs.
  void cancel() {
    body_.reset();
    try {
      if (rest_) resume(std::move(rest_), raising{std::make_exception_ptr(cancelled())});
    } catch (cancelled const&) {
      has_ended_ = true;
    }
    rest_ = {};
  }

  std::optional<body> body_;  // the coroutine, until it begins
  output* out_ = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<slot>> waiting_;  // replies by tag (DRIVE-2)
  external_event* at_ = nullptr;  // the event at which rest_ waits (DRIVE-1)
  resumption<void> rest_;
  bool has_ended_ = false;
};

}  // namespace detail

/// A stepper made of functions that return an eff<void, commands<...>>: each function is a method.
///
///     eff<void, commands<more, line>> lines(std::string name);
///     coroutine_stepper<std::string, more, line> parser{{"lines", lines}};
///
///     step_output<more, line> out;
///     parser.init("lines", "input");
///     parser.step({}, out);            // it has issued a `more`: out.all()
///     parser.step(answers, out);
///     parser.close();
///
/// The commands that a step issues go to the output, in any number; their answers come as events.
/// So a test, or the loop of another program, can step a coroutine by hand, without a scheduler.
/// The coroutine waits for answers only, without a deadline.  When it is cancelled, it finds
/// `cancelled` where it waits; if it waits again, it is unwound there.
///
/// Allocates a handler's prompt and the frame; one or two blocks for each command.
template <class Input, class... Cs>
class coroutine_stepper {
 public:
  using commands = command_list<Cs...>;
  using input = Input;
  using method = eff<void, weft::commands<Cs...>> (*)(Input);

  coroutine_stepper(std::initializer_list<std::pair<std::string_view, method>> methods)
      : methods_(methods) {}

  /// Calls the method with that name.  O(n) in the methods.  Throws unknown_method, and what the
  /// call throws.
  void init(std::string_view name, Input with) {
    method const begin = methods_.template at<coroutine_stepper>(name);
    machine_ = std::make_unique<detail::command_machine<Cs...>>(begin(std::move(with)));
  }
  /// Runs the coroutine until it waits for an answer that has not come.  Throws what the coroutine
  /// throws; std::logic_error before init().
  void step(std::span<event> events, step_output<Cs...>& out) {
    if (!machine_) throw std::logic_error("weft: a coroutine_stepper was stepped before init");
    machine_->step(events, out);
  }
  /// Unwinds the coroutine, if it has not ended.
  void close() noexcept { machine_.reset(); }

 private:
  entry_points<method> methods_;
  std::unique_ptr<detail::command_machine<Cs...>> machine_;
};

}  // namespace weft
