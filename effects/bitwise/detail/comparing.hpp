// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/handler_traits.hpp"
#include "weft/effects/detail/installing.hpp"
#include "weft/effects/detail/names.hpp"
#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/multi_shot.hpp"

/// handle(h, body, compared()): computes the answer by replay, then bitwise; the two outcomes must
/// be the same.
namespace weft {

struct bitwise;
struct compared;

namespace detail {

/// A copy of a handling, and of the handlings inside it, with another policy.
template <class Policy, class Body>
Body const& with_policy(Body const& body) {
  return body;
}
template <class Policy, class H, class Es, class Body>
auto with_policy(handling<H, Es, Body, compared> const& h) {
  auto body = with_policy<Policy>(h.body);
  return handling<H, Es, decltype(body), Policy>(H(h.handler), std::move(body));
}
template <class Policy, class Handling>
using with_policy_t = decltype(with_policy<Policy>(std::declval<Handling const&>()));

template <class Handling>
constexpr bool is_owned_and_copyable = std::copy_constructible<Handling>;
template <class H, class Es, class Body, class Policy>
constexpr bool is_owned_and_copyable<handling<H, Es, Body, Policy>> =
    !std::is_reference_v<H> && !refers_to_handler<H> && std::copy_constructible<H> &&
    is_owned_and_copyable<Body>;

/// The text of an exception, for messages.
[[nodiscard]] std::string text_of_exception(std::exception_ptr const& error);

/// The outcome of one run: a value, or an exception.
template <class A>
struct outcome_of_run {
  std::optional<kept<A>> value;
  std::exception_ptr error;

  template <class Run>
  explicit outcome_of_run(Run run) {
    try {
      if constexpr (std::is_void_v<A>) {
        run();
        value.emplace();
      } else {
        value.emplace(run());
      }
    } catch (...) {
      error = std::current_exception();
    }
  }
  [[nodiscard]] std::string text() const { return value ? "an answer" : text_of_exception(error); }
  friend bool operator==(outcome_of_run const& a, outcome_of_run const& b) {
    if (!a.value || !b.value) return !a.value && !b.value && a.text() == b.text();
    if constexpr (std::is_void_v<A>)
      return true;
    else
      return *a.value == *b.value;
  }
};

[[noreturn, gnu::cold]] void throw_differ(std::source_location where, std::string const& replayed,
                                          std::string const& copied);

/// Runs the body by replay and bitwise, and returns the answer, or throws the exception, of both.
/// Throws outcomes_differ if the outcomes differ.  Takes native stack: both runs go to their ends
/// inside this call.
template <class Handling>
auto compare(Handling const& what, std::source_location where) {
  using A = typename handler_traits<with_policy_t<replay, Handling>, row<>>::answer;
  outcome_of_run<A> replayed([&] { return run_handling(with_policy<replay>(what), where); });
  outcome_of_run<A> const copied([&] { return run_handling(with_policy<bitwise>(what), where); });
  if (!(replayed == copied)) throw_differ(where, replayed.text(), copied.text());
  if (replayed.error) std::rethrow_exception(replayed.error);
  if constexpr (!std::is_void_v<A>) return A(std::move(*replayed.value));
}

/// The awaiter of a compared handling.  It is ready at once: await_resume() computes the answer.
template <class Handling>
class comparing {
 public:
  comparing(Handling const& what, std::source_location where) noexcept
      : what_(what), where_(where) {}
  comparing(comparing const&) = delete;
  comparing& operator=(comparing const&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  auto await_resume() const { return compare(what_, where_); }

 private:
  Handling const& what_;
  std::source_location where_;
};

/// The effects that a handling, together with the handlings inside it, leaves unhandled.
template <class Body, class Handled = row<>>
struct left_by {
  using type = row_difference<typename body_traits<Body, Handled>::effects, Handled>;
};
template <class H, class Es, class Body, class Policy, class Handled>
struct left_by<handling<H, Es, Body, Policy>, Handled> : left_by<Body, row_set<Es, Handled>> {};

/// Reports a handling that cannot be compared.
template <class Handling>
consteval bool can_be_compared() {
  constexpr bool can_be_copied = is_owned_and_copyable<Handling>;
  static_assert(
      can_be_copied,
      "weft: a composition that is compared is run twice: its handlers are owned, and they and the "
      "body can be copied");
  if constexpr (can_be_copied) {
    using replayed = with_policy_t<replay, Handling>;
    using left = typename left_by<Handling>::type;
    static_assert(is_empty_row<left>,
                  "weft: a composition that is compared performs no effect outside: handle all of "
                  "them in it");
    if constexpr (!is_empty_row<left>)
      return false;
    else if constexpr (!handling_mistake<replayed, row<>>::report())
      return false;
    else if constexpr (!handling_mistake<with_policy_t<bitwise, Handling>, row<>>::report())
      return false;
    else {
      using A = typename handler_traits<replayed, row<>>::answer;
      constexpr bool has_equality = std::is_void_v<A> || std::equality_comparable<kept<A>>;
      static_assert(has_equality,
                    "weft: the answer of a composition that is compared must have an operator==");
      return has_equality;
    }
  } else {
    return false;
  }
}

/// Computes the answer by replay, and by copying frames.
struct by_both {
  static constexpr bool computes_at_once = true;
  static constexpr bool restarts = false;
  template <class Handling>
  static auto awaiter(Handling const& what, std::source_location where) {
    if constexpr (can_be_compared<Handling>())
      return comparing<Handling>(what, where);
    else
      return well_formed<Handling, row<>>::instead();
  }
};

}  // namespace detail
}  // namespace weft
