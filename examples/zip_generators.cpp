// SPDX-License-Identifier: MIT

/// Two generators, zipped: each runs only as far as the next pair needs.
///
/// A generator is a computation that performs `give`.  Its handler here answers with a step: the
/// value that was given, and the continuation of the generator, to be resumed for the next step.
/// So the caller pulls, and may pull from two generators in turn.  A generator that is not pulled
/// to its end is dropped: one of those below never ends, and is unwound.
///
/// Kinds of clause: `give` in `stepwise` is a control clause that returns the resumption as part of
/// its answer, and `on_return` answers for the end.  The handler keeps nothing itself, so it is
/// owned and need not be a region.  The pairs are given again, and the consumer's `give` is a value
/// clause: one effect, with one handler that is pulled and one that is pushed.

#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

template <class T>
struct supply {
  struct [[nodiscard]] give : op<void> {
    explicit give(T v) : value(std::move(v)) {}
    T value;
  };

  using operations = op_list<give>;
};

/// A value and the continuation of the generator; or its end.
template <class T>
struct step {
  std::optional<T> value;
  resumption<void, step> rest;

  step() = default;
  step(T v, resumption<void, step> k) : value(std::move(v)), rest(std::move(k)) {}
};

template <class T>
struct stepwise : handler<supply<T>> {
  step<T> on(typename supply<T>::give g, resumption<void, step<T>> k) {
    return {std::move(g.value), std::move(k)};
  }
  step<T> on_return() { return {}; }
};

/// The pairs of the values of two generators, as long as both give one.
template <class A, class B>
eff<void, supply<std::pair<A, B>>, console> zip(eff<void, supply<A>, console> as,
                                                eff<void, supply<B>, console> bs) {
  step<A> a = co_await handle(stepwise<A>(), std::move(as));
  step<B> b = co_await handle(stepwise<B>(), std::move(bs));
  while (a.value && b.value) {
    co_await typename supply<std::pair<A, B>>::give({*a.value, *b.value});
    a = co_await std::move(a.rest)();
    b = co_await std::move(b.rest)();
  }
}

// ---- two generators, which print when they work

eff<void, supply<int>, console> squares() {
  struct goodbye {
    ~goodbye() { std::cout << "  (squares are unwound)\n"; }
  } const at_the_end;
  for (int i = 1;; ++i) {
    co_await console::print_line("  squares at work: " + std::to_string(i));
    co_await supply<int>::give(i * i);
  }
}

eff<void, supply<std::string>, console> towns() {
  for (std::string name : {"Ghent", "Lille", "Breda"}) {
    co_await console::print_line("  towns at work: " + name);
    co_await supply<std::string>::give(name);
  }
  co_await console::print_line("  towns: no more");
}

using numbered = supply<std::pair<int, std::string>>;

eff<void, console> zipped() {
  int pairs = 0;
  co_await handle<numbered>(
      clauses{[&pairs](numbered::give g, outer<console> up) {
        ++pairs;
        up(console::print_line(std::to_string(g.value.first) + " " + g.value.second));
      }},
      zip(squares(), towns()));
  co_await console::print_line(std::to_string(pairs) + " pairs");
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(zipped, console_to_stream(std::cout));
}
