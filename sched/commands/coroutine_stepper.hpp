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

#include "effects/eff.hpp"
#include "effects/handle.hpp"
#include "effects/region.hpp"
#include "effects/resumption.hpp"
#include "effects/run.hpp"
#include "sched/base/errors.hpp"
#include "sched/commands/commands.hpp"
#include "sched/commands/stepper.hpp"
#include "sched/sync/external_event.hpp"

/// A coroutine as something that steps (stepper.hpp).
namespace weft {

namespace detail {

/// Handles what a coroutine does that issues commands, by an output: a handler turns a coroutine
/// into a state machine.
///
///   DRIVE-1  `rest_` is where it waits: at `at_`, the gate of one of its commands.  While it runs, and
///       when it has ended, it is empty.
///   DRIVE-2  Who is to be answered by the event of a tag is kept under that tag.
template <class... Cs>
class command_machine : public region {
 public:
  using output = step_output<Cs...>;
  using body = eff<void, commands<Cs...>>;

  explicit command_machine(body b) : body_(std::move(b)) {}
  ~command_machine() { rest_ = {}; }  // unwound while all of this is there

  /// Runs it to where it waits for what has not come.  Throws what it throws.
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
    at_ = w.here.at;
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
    }  // a message is for nobody
  }
  /// It may clean up, but not wait any more.
  void cancel() {
    body_.reset();
    try {
      if (rest_) resume(std::move(rest_), raising{std::make_exception_ptr(cancelled())});
    } catch (cancelled const&) {
      has_ended_ = true;
    }
    rest_ = {};
  }

  std::optional<body> body_;  // until it is begun
  output* out_ = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<slot>> waiting_;  // DRIVE-2
  external_event* at_ = nullptr;                                      // DRIVE-1
  resumption<void> rest_;
  bool has_ended_ = false;
};

}  // namespace detail

/// Functions that return an eff<void, commands<...>>, as something that steps: each is a method.
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
/// What it issues goes to the output, any number at once; what it waits for comes by the events.
/// Like this a coroutine can be stepped by hand, by a test or by another program's loop, without a
/// scheduler.  It waits for answers only, without a deadline.  Cancelled, it finds `cancelled`
/// where it waits; if it waits again it is unwound there.
///
/// A handler's prompt and the frame; an allocation or two a command.
template <class Input, class... Cs>
class coroutine_stepper {
 public:
  using commands = command_list<Cs...>;
  using input = Input;
  using method = eff<void, weft::commands<Cs...>> (*)(Input);

  coroutine_stepper(std::initializer_list<std::pair<std::string_view, method>> methods)
      : methods_(methods) {}

  void init(std::string_view name, Input with) {
    method const begin = methods_.template at<coroutine_stepper>(name);
    machine_ = std::make_unique<detail::command_machine<Cs...>>(begin(std::move(with)));
  }
  void step(std::span<event> events, step_output<Cs...>& out) {
    if (!machine_) throw std::logic_error("weft: a coroutine_stepper was stepped before init");
    machine_->step(events, out);
  }
  void close() noexcept { machine_.reset(); }

 private:
  entry_points<method> methods_;
  std::unique_ptr<detail::command_machine<Cs...>> machine_;
};

}  // namespace weft
