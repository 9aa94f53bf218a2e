// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/proc.hpp"
#include "weft/effects/row.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/commands/stepper.hpp"
#include "weft/sched/mail/mail.hpp"

/// Runs a stepper (stepper.hpp) as a process, beside coroutines.
///
///     eff<void, spawning<steppers<line_parser>>> program() {
///       co_await start_stepper(line_parser(), "lines", "input");
///     }
///     schedule(program, dispatchers{...});   // they take its commands, as those of any process
///
/// A coroutine calls step, issues the stepper's commands and receives its events.  So a stepper
/// waits, is woken, cancelled and explored like any other process, on every backend.
///
///   STEPPER-1  close() is called exactly once, by the last owner of the stepper: when it is done,
///       when a step has thrown, when it was cancelled, when it is unwound, or if it never ran.
///   STEPPER-2  There is no step after one whose status was `done`, or that has thrown.
///   STEPPER-3  Each command leads to one event: its answer, or the reason why there is none.
namespace weft {

namespace detail {

/// The effect of starting processes, each of which waits for the answer to one command, and sends
/// the event with that answer.
using event_bringers = spawning<completions, mail, yielding>;

/// A stepper after init.  Its destructor closes the stepper, unless close() was called (STEPPER-1).
template <class S>
class begun {
 public:
  /// Calls init.  If that throws, closes the stepper and throws the same.
  begun(S stepper, std::string_view method, typename S::input input)
      : stepper_(new S(std::move(stepper))) {
    stepper_->init(method, std::move(input));
  }

  step_status step(std::span<event> events) {
    out_.clear();
    is_over_ = true;  // stays true if the step throws
    stepper_->step(events, out_);
    is_over_ = out_.status == step_status::done;
    return out_.status;
  }
  [[nodiscard]] auto& issued() noexcept { return out_.all(); }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  void close() noexcept { stepper_.reset(); }

 private:
  struct closing {
    void operator()(S* s) const noexcept {
      s->close();
      delete s;
    }
  };
  std::unique_ptr<S, closing> stepper_;
  output_of<S> out_;
  bool is_over_ = false;  // whether no further step is allowed (STEPPER-2)
};

/// Waits for the answer, and stores it in `to`.  Yields whether the answer was `cancelled`, or the
/// process that waits for it was cancelled.
template <class R>
eff<bool, completions> take_answer(in_flight<R>& from, event& to) {
  bool is_cancelled = false;
  try {
    if constexpr (std::is_void_v<R>)
      co_await from.wait();
    else
      to.data = unique_any(co_await from.wait());
  } catch (cancelled const&) {
    to.error = std::current_exception();
    is_cancelled = true;
  } catch (...) {
    to.error = std::current_exception();
  }
  co_return is_cancelled;
}
template <class R>
eff<void, completions, mail, yielding> bring_answer(in_flight<R> from, std::uint64_t tag,
                                                    address<event> to) {
  event its(event_type::completed, tag);
  bool const may_be_our_end = co_await take_answer(from, its);
  // If all processes are cancelled, the yield throws `cancelled` once more, and this event is not
  // sent: the stepper gets the event `cancelled` instead.
  if (may_be_our_end) co_await yielding::yield{};
  co_await to.send(std::move(its));
}

/// Issues a command that a step has put into its output, of any of the listed types.
template <class List>
class issuing_any;
template <class... Cs>
class issuing_any<command_list<Cs...>> {
 public:
  using issued = typename step_output<Cs...>::issued;
  using eff = weft::eff<void, commands<Cs...>, event_bringers>;

  /// Issues `one`.  If it is answered at once, or cannot be issued, adds its event to `at_once`;
  /// else starts a process that will send its event to `in`.
  static eff issue(issued& one, inbox<event>& in, std::vector<event>& at_once) {
    using function = eff (*)(issued&, inbox<event>&, std::vector<event>&);
    static constexpr function by_type[] = {nullptr, issue_as<Cs>...};
    return by_type[one.what.index()](one, in, at_once);
  }

 private:
  template <class C>
  static eff issue_as(issued& one, inbox<event>& in, std::vector<event>& at_once) {
    event its(event_type::completed, one.tag);
    std::optional<in_flight<typename C::result>> on_its_way;
    try {
      on_its_way.emplace(co_await weft::issue(std::move(std::get<C>(one.what))));
    } catch (...) {
      its.error = std::current_exception();
    }
    if (on_its_way && !on_its_way->is_ready()) {
      co_await spawn(bring_answer<typename C::result>, std::move(*on_its_way), one.tag,
                     in.get_address());
      co_return;
    }
    if (on_its_way) co_await take_answer(*on_its_way, its);
    at_once.push_back(std::move(its));
  }
};

/// The most events and messages for one step.  If more than that many commands of the step before
/// were answered at once, the step gets all events of these answers.
inline constexpr std::size_t events_a_step = 64;

template <class M>
void add_message(std::vector<event>& to, M message) {
  event e(event_type::message);
  e.data = unique_any(std::move(message));
  to.push_back(std::move(e));
}

/// Opens the inbox for events.  Only the processes that bring events have an address of it: when
/// all of them have ended, no event is due.
inline eff<inbox<event>, mail> open_inbox_of_events() {
  auto both = co_await open<event>();
  co_return std::move(both.in);
}
/// Adds the events that are in the inbox now.
inline eff<void, mail> add_events(std::vector<event>& to, inbox<event>& in) {
  while (to.size() < events_a_step) {
    auto e = co_await in.try_receive();
    if (!e) break;
    to.push_back(std::move(*e));
  }
}
template <class M>
eff<void, mail> add_events(std::vector<event>& to, inbox<event>& in, inbox<M>& messages) {
  co_await add_events(to, in);
  while (to.size() < events_a_step) {
    auto m = co_await messages.try_receive();
    if (!m) break;
    add_message(to, std::move(*m));
  }
}
/// Waits for one event, and adds it.  Throws no_senders if no event is due.
inline eff<void, mail> wait_for_event(std::vector<event>& to, inbox<event>& in) {
  to.push_back(co_await in.receive());
}
template <class M>
eff<void, mail> wait_for_event(std::vector<event>& to, inbox<event>& in, inbox<M>& messages) {
  auto either = co_await select(in, messages);
  if (either.index() == 0)
    to.push_back(std::get<0>(std::move(either)));
  else
    add_message(to, std::get<1>(std::move(either)));
}

}  // namespace detail

/// The effects of a process that runs these steppers: spawning<steppers<line_parser>>.
template <class... Ss>
using steppers = row<typename detail::of_commands<typename Ss::commands>::row..., yielding, mail,
                     completions, detail::event_bringers>;

namespace detail {

template <class S, class... Ms>
eff<void, steppers<S>> step_to_the_end(begun<S>& s, inbox<Ms>&... messages) {
  inbox<event> in = co_await open_inbox_of_events();
  std::vector<event> events;
  for (;;) {
    step_status const now = s.step(events);
    events.clear();
    for (auto& one : s.issued()) co_await issuing_any<typename S::commands>::issue(one, in, events);
    if (now == step_status::done) co_return;
    bool has_senders = true;
    if (now == step_status::again || !events.empty()) {
      co_await yielding::yield{};
    } else {
      try {
        co_await wait_for_event(events, in, messages...);
      } catch (no_senders const&) {
        has_senders = false;
      }
    }
    if (!has_senders) {
      co_await yielding::yield{};  // if all processes were cancelled, throws `cancelled`
      throw no_senders();
    }
    co_await add_events(events, in, messages...);
  }
}

template <class S, class... Ms>
eff<void, steppers<S>> run_stepper(begun<S> s, inbox<Ms>... messages) {
  try {
    co_await step_to_the_end(s, messages...);
  } catch (cancelled const&) {
    if (!s.is_over()) {  // else no further step is allowed (STEPPER-2)
      event last(event_type::cancelled);
      try {
        (void)s.step(std::span(&last, 1));
      } catch (...) {
        s.close();
        throw;
      }
    }
    s.close();
    throw;
  } catch (...) {
    s.close();
    throw;
  }
  s.close();
}

template <class S>
consteval bool require_steps() {
  constexpr bool it_steps = stepper<S>;
  static_assert(it_steps,
                "weft: start_stepper takes a stepper: init(method, input), step(events, output), "
                "close() noexcept, and the types commands and input (sched/commands/stepper.hpp)");
  return it_steps;
}

}  // namespace detail

/// Starts a process that runs `stepper`: write co_await start_stepper(...), in place of spawn(...).
///
/// init is called at once; its exceptions, such as unknown_method, are thrown here.  Steps take
/// place in the process's turn.  A command whose reply is dropped, or whose dispatcher throws,
/// gives an event with that error.  If a step throws, the process ends with that exception.  If a
/// stepper waits while no command is in flight, and no process is left that could send to it, its
/// process ends with no_senders.  If the process is cancelled, step is called once more, with the
/// event `cancelled`.  When a stepper is done, the processes that wait for its commands in flight
/// still run to their end, and the answers are discarded.
///
/// Row: `spawning<steppers<S>>`.  `co_await` yields the id of the process.  Allocates a process, a
/// mailbox and the box of the stepper; for each command that is not answered at once, a process
/// while it is in flight.  Throws as spawn() does, and what init throws.
template <class S>
[[nodiscard("weft: co_await it")]] awaits_to<process_id> auto start_stepper(
    S stepper, std::string_view method, typename S::input input) {
  if constexpr (detail::require_steps<S>())
    return spawn(detail::run_stepper<S>,
                 detail::begun<S>(std::move(stepper), method, std::move(input)));
  else
    return detail::refused<void>();
}
/// Starts a process that runs a stepper which receives messages of type `S::message`: other
/// processes send them to the addresses of the inbox `messages`.
///
///     auto [in, to] = co_await open<int>();
///     co_await start_stepper(counter(), "count", 0, std::move(in));
///     co_await to.send(1);
template <class S>
[[nodiscard("weft: co_await it")]] awaits_to<process_id> auto start_stepper(
    S stepper, std::string_view method, typename S::input input,
    inbox<typename S::message> messages) {
  if constexpr (detail::require_steps<S>())
    return spawn(detail::run_stepper<S, typename S::message>,
                 detail::begun<S>(std::move(stepper), method, std::move(input)),
                 std::move(messages));
  else
    return detail::refused<void>();
}

}  // namespace weft
