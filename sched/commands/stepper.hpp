// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/commands/unique_any.hpp"

/// A stepper: a type that can be a process without being a coroutine.
///
///     struct line_parser {
///       using commands = command_list<more, line>;   // the commands that it may issue
///       using input = std::string;                   // the input of init
///       void init(std::string_view method, std::string input);
///       void step(std::span<event> events, step_output<more, line>& out);
///       void close() noexcept;
///     };
///
/// init is called once, with the name of a method and its input; an unknown name throws
/// unknown_method.  Then step is called again and again: it is given the events since the last
/// step, and puts the commands that it issues, and its status, into its output.  Then close is
/// called, once, in any case: also if init or step has thrown.  A stepper needs no scheduler: a
/// test can call the three functions by hand.  run_stepper.hpp runs a stepper as a process;
/// coroutine_stepper.hpp makes a stepper of a coroutine.
namespace weft {

/// The kind of an event for a stepper.
enum class event_type : unsigned char {
  completed,  ///< The command with `tag` was answered, by `data` or `error`.
  message,    ///< `data` was sent to the stepper.
  cancelled,  ///< This is the last step; the commands that it issues are ignored.
};

/// An event for a stepper, which may move the data out.
struct event {
  event_type type = event_type::message;  ///< The kind of the event.
  std::uint64_t tag = 0;       ///< If `completed`: the tag that step_output::issue returned.
  unique_any data{};           ///< The command's result, if that is not void; or a message.
  std::exception_ptr error{};  ///< The exception that answered the command, or null.

  event() = default;
  explicit event(event_type t, std::uint64_t number = 0) noexcept : type(t), tag(number) {}

  /// The answer to a command: returns its result, or throws its exception.  Throws bad_unique_any
  /// if the result is no `R`.
  template <class R>
  R result() {
    if (error) std::rethrow_exception(error);
    if constexpr (!std::is_void_v<R>) return data.take<R>();
  }
};

/// The status after a step.
enum class step_status : unsigned char {
  waiting,  ///< step is called again when there is an event.
  again,    ///< step is called again after the other processes have had their turn.
  done,     ///< step is not called again: the stepper has ended.
};

/// The commands that a stepper may issue.
template <class... Cs>
struct command_list {};

/// The output of a step: the commands that it issues, and its status.
template <class... Cs>
class step_output {
 public:
  /// A command that was issued.
  struct issued {
    std::uint64_t tag;                         ///< The number of the command: 1, 2, and so on.
    std::variant<std::monostate, Cs...> what;  ///< The command.
  };

  step_status status = step_status::waiting;  ///< The step sets it.

  /// Issues a command.  Returns its tag, which the event with its answer will have: 1, 2, and so
  /// on, for each stepper.  A step may issue any number of commands.  O(1), amortised; allocates as
  /// the list grows; throws bad_alloc.
  template <class C>
  std::uint64_t issue(C c) {
    constexpr bool is_listed = detail::times_among<C, Cs...> == 1;
    static_assert(is_listed,
                  "weft: a step issues a command that the stepper does not list: name it in "
                  "command_list<...> and step_output<...>");
    if constexpr (is_listed) issued_.push_back(issued{last_tag_ + 1, std::move(c)});
    return ++last_tag_;
  }

  /// The commands that were issued, in order, for the caller of step.  That caller calls clear()
  /// before each step.  clear() is O(n).
  [[nodiscard]] std::vector<issued>& all() noexcept { return issued_; }
  void clear() noexcept {
    issued_.clear();
    status = step_status::waiting;
  }

 private:
  std::vector<issued> issued_;
  std::uint64_t last_tag_ = 0;
};

namespace detail {
template <class List>
struct of_commands;
template <class... Cs>
struct of_commands<command_list<Cs...>> {
  using output = step_output<Cs...>;
  using row = weft::commands<Cs...>;
};
}  // namespace detail

/// The output of a step of `S`.
template <class S>
using output_of = typename detail::of_commands<typename S::commands>::output;

/// A type with init, step and close.
template <class S>
concept stepper = requires(S& s, std::string_view method, typename S::input input,
                           std::span<event> events, output_of<S>& out) {
  s.init(method, std::move(input));
  s.step(events, out);
  { s.close() } noexcept;
};

/// Thrown by init if it does not know the name of the method.
struct [[gnu::visibility("default")]] unknown_method : std::logic_error {
  /// `type`: the name of the stepper's type; `known`: the names of its methods.
  unknown_method(std::string_view type, std::string_view method,
                 std::span<std::string const> known = {})
      : logic_error(text(type, method, known)) {}

 private:
  static std::string text(std::string_view type, std::string_view method,
                          std::span<std::string const> known) {
    std::string s = "weft: " + std::string(type) + " has no method \"" + std::string(method) + '"';
    for (std::size_t i = 0; i != known.size(); ++i)
      s += (i == 0 ? ": it has \"" : ", \"") + known[i] + '"';
    return s;
  }
};

/// A table for init, with a value for each name of a method: a pointer to a member function, say.
///
///     entry_points<void (parser::*)(std::string)> const methods{{"lines", &parser::lines}};
///     (this->*methods.at<parser>(method))(std::move(input));
template <class F>
class entry_points {
 public:
  entry_points(std::initializer_list<std::pair<std::string_view, F>> all)
      : all_(all.begin(), all.end()) {}
  /// The value for that name.  Throws unknown_method, which names the type `S`.  O(n); allocates
  /// the text of the exception only.
  template <class S>
  [[nodiscard]] F const& at(std::string_view method) const {
    for (auto const& [name, f] : all_)
      if (name == method) return f;
    std::vector<std::string> known;
    for (auto const& [name, f] : all_) known.push_back(name);
    throw unknown_method(detail::name_of<S>, method, known);
  }

 private:
  std::vector<std::pair<std::string, F>> all_;
};

}  // namespace weft
