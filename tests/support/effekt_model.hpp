// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The scheduler in Effekt of docs/14_the_queue_that_remembers.md, on programs that are data: the
/// model that `schedule` is compared to.  The meaning of a statement is a function of its
/// continuation, which is an immutable value; the variables of a process are passed along.  So
/// resuming twice is calling twice: nothing here is run again, and nothing of weft is used.
namespace weft::tests::effekt {

struct statement;
using block = std::vector<statement>;

/// A variable around the scheduler, and two that each process has for itself.  These behave alike;
/// in weft one is in a handler, and the other is a local of a coroutine.
enum class variable { outside, handled, local };

/// println("text")
struct prints {
  std::string text;
};
/// do yield()
struct yields {};
/// do exit()
struct exits {};
/// if (do fork()) { first } else { second }
struct forks {
  block first, second;
};
/// println(if (do fork()) "first" else "second")
struct prints_which {
  std::string first, second;
};
/// v = n
struct sets {
  variable v;
  int n;
};
/// v = v + n
struct adds {
  variable v;
  int n;
};
/// to = from
struct copies {
  variable to, from;
};
/// println(v)
struct shows {
  variable v;
};
/// each(0, times) { i => body }
struct repeats {
  int times;
  block body;
};
/// def f() = { body }; f()
struct calls {
  block body;
};
/// def f() = { var y = 0; var z = 0; body }; f(): in the body these are the process's variables.
struct declares {
  block body;
};
/// try { body } with Fail { def fail() = { otherwise } }
struct attempts {
  block body, otherwise;
};
/// do fail(), which is not resumed.  A try around the program does nothing then.
struct fails {};

struct statement : std::variant<prints, yields, exits, forks, prints_which, sets, adds, copies,
                                shows, repeats, calls, declares, attempts, fails> {
  using variant::variant;
};

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

  // ---- Proc

  void yield(locals v, rest const& k) {
    queue_.push_back([v, k] { k(v); });
  }
  /// `k` takes the answer and the variables.
  template <class K>
  void fork(locals v, K k) {
    queue_.push_back([v, k] { k(true, v); });
    queue_.push_back([v, k] { k(false, v); });
  }

  // ---- statements: with the variables `v`, with `failed` as the meaning of fail, and then `k`

  /// The statements of `b` from `at` on.
  void meaning(block const& b, std::size_t at, locals v, rest const& failed, rest const& k) {
    if (at == b.size()) return k(v);
    rest const next = [this, &b, at, failed, k](locals w) { meaning(b, at + 1, w, failed, k); };
    std::visit([&](auto const& s) { means(s, v, failed, next); }, b[at]);
  }

  void means(prints const& s, locals v, rest const&, rest const& k) {
    print(s.text);
    k(v);
  }
  void means(yields, locals v, rest const&, rest const& k) { yield(v, k); }
  void means(exits, locals, rest const&, rest const&) {}
  void means(forks const& s, locals v, rest const& failed, rest const& k) {
    fork(v, [this, &s, failed, k](bool first, locals w) {
      meaning(first ? s.first : s.second, 0, w, failed, k);
    });
  }
  void means(prints_which const& s, locals v, rest const&, rest const& k) {
    fork(v, [this, &s, k](bool first, locals w) {
      print(first ? s.first : s.second);
      k(w);
    });
  }
  void means(sets s, locals v, rest const&, rest const& k) {
    in(v, s.v) = s.n;
    k(v);
  }
  void means(adds s, locals v, rest const&, rest const& k) {
    in(v, s.v) += s.n;
    k(v);
  }
  void means(copies s, locals v, rest const&, rest const& k) {
    in(v, s.to) = in(v, s.from);
    k(v);
  }
  void means(shows s, locals v, rest const&, rest const& k) {
    print(std::to_string(in(v, s.v)));
    k(v);
  }
  void means(repeats const& s, locals v, rest const& failed, rest const& k) {
    repeat(s.body, s.times, v, failed, k);
  }
  void repeat(block const& b, int times, locals v, rest const& failed, rest const& k) {
    if (times == 0) return k(v);
    meaning(b, 0, v, failed,
            [this, &b, times, failed, k](locals w) { repeat(b, times - 1, w, failed, k); });
  }
  void means(calls const& s, locals v, rest const& failed, rest const& k) {
    meaning(s.body, 0, v, failed, k);
  }
  void means(declares const& s, locals v, rest const& failed, rest const& k) {
    // The body cannot name the variables around it.
    meaning(s.body, 0, locals(), [v, failed](locals) { failed(v); }, [v, k](locals) { k(v); });
  }
  void means(attempts const& s, locals v, rest const& failed, rest const& k) {
    meaning(
        s.body, 0, v, [this, &s, failed, k](locals w) { meaning(s.otherwise, 0, w, failed, k); },
        k);
  }
  void means(fails, locals v, rest const& failed, rest const&) { failed(v); }

  int& in(locals& v, variable which) {
    if (which == variable::outside) return shown_.outside;
    return which == variable::handled ? v.handled : v.local;
  }
  void print(std::string const& text) { shown_.printed += text + '\n'; }

  output shown_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace weft::tests::effekt
