// SPDX-License-Identifier: MIT
#pragma once

#include <cctype>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"

/// The scheduler in Effekt of docs/14_the_queue_that_remembers.md, on programs that are data: the
/// model that `schedule` is compared to.  The meaning of a statement is a function of its
/// continuation, which is an immutable value; the variables of a process are passed along.  So
/// resuming twice is calling twice: nothing here is run again, and nothing of weft is used.
namespace weft::tests::effekt {

/// A variable around the scheduler, and two that each process has for itself.  These behave alike;
/// in weft one is in a handler, and the other is a local of a coroutine.
enum variable : int { outside, handled, local };

// The number of a statement names a variable, and has an operand.
[[nodiscard]] constexpr int with(variable v, int n) { return static_cast<int>(v) + 3 * n; }
[[nodiscard]] constexpr variable variable_of(int n) { return static_cast<variable>(n % 3); }
[[nodiscard]] constexpr int operand_of(int n) { return n / 3; }

/// The text that a statement prints: a letter or digit, or p1, p2, ...
[[nodiscard]] inline std::string label(int n) {
  return std::isalnum(n) != 0 ? std::string(1, static_cast<char>(n)) : "p" + std::to_string(n);
}
/// The text that the second process of a fork prints.
[[nodiscard]] inline std::string other_label(int n) { return label(n) + "'"; }

/// The output of a run.
struct output {
  std::string printed;
  int outside = 0;  ///< The variable, when no process is left.
  friend bool operator==(output const&, output const&) = default;
};

class model {
 public:
  /// scheduler { program }
  static output run(block const& program) {
    model m;
    rest const end = [](locals) {};
    m.meaning(program, 0, locals(), end, end);
    while (!m.queue_.empty()) {
      auto const longest_waiting = std::move(m.queue_.front());
      m.queue_.pop_front();
      longest_waiting();
    }
    return m.shown_;
  }

 private:
  struct locals {
    int handled = 0;
    int local = 0;
  };
  /// A continuation, given the variables at its start.  Copies are the same continuation.
  class rest {
   public:
    template <class F>
    rest(F f) : f_(std::make_shared<function const>(std::move(f))) {}  // NOLINT: implicit
    void operator()(locals v) const { (*f_)(v); }

   private:
    using function = std::function<void(locals)>;
    std::shared_ptr<function const> f_;
  };

  /// `k` takes the answer and the variables.
  template <class K>
  void fork(locals v, K k) {
    queue_.push_back([v, k] { k(true, v); });
    queue_.push_back([v, k] { k(false, v); });
  }
  /// The statements of `b` from `at` on: with the variables `v`, with `failed` as the meaning of
  /// fail, and then `k`.
  void meaning(block const& b, std::size_t at, locals v, rest const& failed, rest const& k) {
    if (at == b.size()) return k(v);
    meaning(b[at], v, failed,
            [this, &b, at, failed, k](locals w) { meaning(b, at + 1, w, failed, k); });
  }
  void meaning(statement const& s, locals v, rest const& failed, rest const& k) {
    int const n = s.n;
    switch (s.what) {
      case act::prints:
        print(label(n));
        return k(v);
      case act::yields:
        queue_.push_back([v, k] { k(v); });
        return;
      case act::exits:
        return;
      case act::forks_into:
        return fork(v, [this, &s, failed, k](bool first, locals w) {
          meaning(s.parts[first ? 0 : 1], 0, w, failed, k);
        });
      case act::prints_which:
        return fork(v, [this, n, k](bool first, locals w) {
          print(first ? label(n) : other_label(n));
          k(w);
        });
      case act::sets_variable:
        in(v, variable_of(n)) = operand_of(n);
        return k(v);
      case act::adds:
        in(v, variable_of(n)) += operand_of(n);
        return k(v);
      case act::copies_variable:
        in(v, variable_of(n)) = in(v, variable_of(operand_of(n)));
        return k(v);
      case act::shows_variable:
        print(std::to_string(in(v, variable_of(n))));
        return k(v);
      case act::repeats:
        return repeat(s.parts[0], n, v, failed, k);
      case act::calls:
        return meaning(s.parts[0], 0, v, failed, k);
      case act::declares:
        // The body cannot name the variables around it.
        return meaning(
            s.parts[0], 0, locals(), [v, failed](locals) { failed(v); }, [v, k](locals) { k(v); });
      case act::attempts_else:
        return meaning(
            s.parts[0], 0, v,
            [this, &s, failed, k](locals w) { meaning(s.parts[1], 0, w, failed, k); }, k);
      default:  // fails
        return failed(v);
    }
  }
  void repeat(block const& b, int times, locals v, rest const& failed, rest const& k) {
    if (times == 0) return k(v);
    meaning(b, 0, v, failed,
            [this, &b, times, failed, k](locals w) { repeat(b, times - 1, w, failed, k); });
  }

  int& in(locals& v, variable which) {
    if (which == variable::outside) return shown_.outside;
    return which == variable::handled ? v.handled : v.local;
  }
  void print(std::string const& text) { shown_.printed += text + '\n'; }

  output shown_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace weft::tests::effekt
