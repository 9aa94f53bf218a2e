// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

namespace weft {

namespace detail {
class never_performed {
  never_performed() = default;
};
}  // namespace detail

/// A handler made of lambdas, one for each clause:
///
///     int n = 0;
///     handle<counter>(clauses{[&n](counter::next) { return ++n; },
///                             [&n](counter::reset) { n = 0; },
///                             returns{[](std::string s) { return s + "!"; }}},
///                     body)
///
/// An object that a lambda borrows must outlive the handler and every resumption.
template <class... Clauses>
struct clauses : Clauses... {
  using Clauses::operator()...;
};
template <class... Clauses>
clauses(Clauses...) -> clauses<Clauses...>;

/// The return clause among lambdas: maps the body's result to the answer.
template <class F>
class returns {
 public:
  explicit returns(F f) : f_(std::move(f)) {}

  template <class... Result>
    requires std::is_invocable_v<F&, Result...>
  decltype(auto) on_return(Result&&... result) {
    return f_(std::forward<Result>(result)...);
  }
  void operator()(detail::never_performed) {}  // never called; `clauses` needs an operator()

 private:
  F f_;
};

}  // namespace weft
