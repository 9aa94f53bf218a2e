// SPDX-License-Identifier: MIT

/// What happens to a variable when a program fails?  The order of its handlers decides.
///
/// `transfer` takes money from one account, finds the other one closed, and fails with half of the
/// work done.  It performs `state` and `failure`, and does not say how they interact:
///
/// * state inside of failure: the variable is part of what is dropped, and is lost;
/// * state outside of failure: the variable outlives the failure, half changed;
/// * `transactional`, a handler of this example, inside of failure: it works on a copy, and its
///   return clause writes the copy back.  A body that has failed does not return.
///
/// Kinds of clause: `get` and `put` are value clauses; `fail` in failure_to_optional is a control
/// clause that drops the continuation; the return clauses make the difference.

#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

using accounts = std::map<std::string, int>;
using reason = std::string;

/// Half of the work is done before it can fail.
eff<int, state<accounts>, failure<reason>> transfer(std::string from, std::string to, int amount) {
  auto book = co_await state<accounts>::get{};
  book[from] -= amount;
  co_await state<accounts>::put(book);

  bool const is_open = book.contains(to);
  if (!is_open) co_await failure<reason>::fail(to + " is closed");

  book[to] += amount;
  co_await state<accounts>::put(book);
  co_return amount;
}

/// Works on a copy; the variable, which is borrowed, changes only if the body returns.
template <class T>
class transactional : public handler<state<T>> {
 public:
  explicit transactional(T& variable) : variable_(variable), copy_(variable) {}

  T on(typename state<T>::get) const { return copy_; }
  void on(typename state<T>::put p) { copy_ = std::move(p.value); }

  template <class Result>
  Result on_return(Result result) {
    variable_ = std::move(copy_);  // commit
    return result;
  }

 private:
  T& variable_;
  T copy_;
};

// ---- the three ways

std::string text(accounts const& book) {
  std::string all;
  for (auto const& [name, money] : book) all += " " + name + " " + std::to_string(money);
  return all;
}

std::string text(std::optional<int> const& moved) {
  return moved ? "moved " + std::to_string(*moved) : "gave up";
}

eff<void, console> say(std::string what) { co_await console::print_line(std::move(what)); }

eff<int, state<accounts>, failure<reason>> fails() { return transfer("ann", "zoe", 20); }
eff<int, state<accounts>, failure<reason>> goes_well() { return transfer("ann", "ben", 20); }

eff<void, console> attempt(accounts& ledger, decltype(&fails) body) {
  auto const done = co_await handle(transactional(ledger) | failure_to_optional<reason>(), body);
  co_await say("  " + text(done) + ":" + text(ledger));
}

eff<void, console> three_ways() {
  accounts const at_first{{"ann", 50}, {"ben", 10}};

  co_await say("state inside of failure: the answer is the pair, or nothing");
  auto const pair =
      co_await handle(state_returned(at_first) | failure_to_optional<reason>(), fails);
  std::string const what =
      pair ? " " + text(pair->second) : "  gave up, and the accounts are gone with it";
  co_await say(what);

  co_await say("state outside of failure: the pair is there, whatever happened");
  auto const [moved, book] =
      co_await handle(failure_to_optional<reason>() | state_returned(at_first), fails);
  co_await say("  " + text(moved) + ":" + text(book));

  co_await say("transactional: all or nothing");
  accounts ledger = at_first;
  co_await attempt(ledger, fails);
  co_await attempt(ledger, goes_well);
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(three_ways, console_to_stream(std::cout));
}
