// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ostream>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/program.hpp"

/// Random searches, as data, and their expected results.
///
/// A search picks, fails, throws, catches, returns, uses a variable, and asks, in parts that call
/// one another.  Its state is numbers, and pointers to its program and to other locals: it keeps to
/// the contract of every policy.
///
/// The expected results are computed by functions that take the continuation as a function (no
/// coroutine, no effect): resuming twice is calling it twice, with copies of all state.
namespace weft::tests::searches {

/// `picks` is in the search itself; `picks_wide` in a callee, which meanwhile keeps much data in its
/// frame; `picks_into` in a callee, which writes to a local of the caller; `picks_deep` n calls down.
/// `fails`, `throws` and `ends_part` do so if the value is divisible by n.
inline dialect dialect_of_searches() {
  using enum act;
  dialect d;
  d.themes = {{picks, picks, picks_wide, picks_into, picks_deep, fails, fails, reads_own,
               writes_own, asks, throws, ends_part, calls, declares, attempts, attempts, repeats}};
  d.acts = 5;
  d.part = 5;
  d.depth = 3;
  d.size = 100;
  return d;
}

/// The number of a statement, which is not 0.
inline int number(statement const& s) { return std::max(s.n, 1); }
inline int mix(int a, int b) {
  auto const m = 31 * static_cast<unsigned>(a) + static_cast<unsigned>(b) + 7;
  return static_cast<int>(m % 1'000'003);
}

/// The result of one path through a search.
struct ending {
  enum class kind { result, failed, thrown } is;
  int value = 0;
  friend bool operator==(ending const&, ending const&) = default;
};
inline std::ostream& operator<<(std::ostream& to, ending const& o) {
  static constexpr char const* names[] = {"result", "failed", "thrown"};
  return to << names[static_cast<int>(o.is)] << ' ' << o.value;
}

// ---- strategies of a handler of pick

/// The answers to resume a pick with: each once, or in another order, or twice, or none.
class tactics {
 public:
  explicit tactics(unsigned seed) : style_(seed % 4) {}
  std::vector<int> answers(int n) {
    if (picks_++ > 60) n = 1;  // so that every search ends
    std::vector<int> all;
    for (int i = 0; i != n; ++i) all.push_back(style_ == 1 ? n - 1 - i : i);
    if (style_ == 2 && n > 1) all.insert(all.begin() + 1, 2, n - 1);
    if (style_ == 3 && picks_ % 9 == 0) all.clear();
    return all;
  }

 private:
  unsigned style_;
  int picks_ = 0;
};

/// Continuations to be resumed, in any order: each with several answers, with others in between.
template <class Rest>
class agenda {
 public:
  explicit agenda(unsigned seed) : random_(seed) {}
  void add(Rest k, std::vector<int> answers) {
    if (!answers.empty()) items_.push_back({std::move(k), std::move(answers)});
  }
  /// Calls go_on(rest, answer) so many times, or until nothing is left.  The last call for a
  /// continuation gets the original, the others a copy.
  template <class F>
  void work_off(int steps, F go_on) {
    for (; steps != 0 && !items_.empty(); --steps) {
      auto const at = items_.begin() + random_(static_cast<unsigned>(items_.size()));
      Rest k = at->rest;
      int const answer = at->answers.back();
      at->answers.pop_back();
      if (at->answers.empty() || random_(16) == 0) items_.erase(at);  // drops the other answers
      go_on(std::move(k), answer);
    }
  }

 private:
  struct item {
    Rest rest;
    std::vector<int> answers;
  };
  dice random_;
  std::vector<item> items_;
};

// ---- the expected results

class model {
 public:
  /// The continuation of an operation, which takes its answer.
  using rest = std::function<void(int)>;
  /// The strategy for a pick of n.
  using on_pick = std::function<void(int n, rest)>;

  explicit model(on_pick pick) : pick_(std::move(pick)) {}

  void run(block const& p) {
    auto const result = [this](int v, variables const& vs) {
      endings.push_back({ending::kind::result, mix(v, vs.back())});
    };
    auto const thrown = [this](int v, variables const&) {
      endings.push_back({ending::kind::thrown, v});
    };
    go_on(p, 0, 0, {0}, {result, thrown});
  }

  std::vector<ending> endings;
  int asked = 0;

 private:
  using variables = std::vector<int>;  // the nearest is the last
  using then = std::function<void(int, variables const&)>;
  struct part_ends {
    then returning;
    then throwing;
  };

  void go_on(block const& p, std::size_t at, int value, variables vs, part_ends const& ends) {
    if (at == p.size()) return ends.returning(value, vs);
    statement const& s = p[at];
    then const next = [this, &p, at, ends](int v, variables const& now) {
      go_on(p, at + 1, v, now, ends);
    };
    then const mixed = [next, value](int v, variables const& now) { next(mix(value, v), now); };
    bool const divides = value % number(s) == 0;
    switch (s.what) {
      case act::picks:
      case act::picks_wide:
      case act::picks_into:
        return pick_(number(s), [mixed, vs](int picked) { mixed(picked, vs); });
      case act::picks_deep:
        return pick_(number(s), [mixed, vs, n = number(s)](int picked) {
          for (int level = 1; level <= n; ++level) picked = mix(level, picked);
          mixed(picked, vs);
        });
      case act::fails:
        return divides ? endings.push_back({ending::kind::failed}) : next(value, vs);
      case act::throws:
        return divides ? ends.throwing(value, vs) : next(value, vs);
      case act::ends_part:
        return divides ? ends.returning(value, vs) : next(value, vs);
      case act::reads_own:
        return mixed(vs.back(), vs);
      case act::writes_own:
        vs.back() = value;
        return next(value, vs);
      case act::asks:
        return mixed(++asked, vs);
      case act::calls:
        return go_on(s.parts[0], 0, value, vs, {mixed, ends.throwing});
      case act::attempts: {
        auto const caught = [mixed](int v, variables const& now) { mixed(mix(v, 1), now); };
        return go_on(s.parts[0], 0, value, vs, {mixed, caught});
      }
      case act::declares: {
        vs.push_back(value);
        auto const forgets = [](then const& outward) {
          return [outward](int v, variables now) {
            now.pop_back();
            outward(v, now);
          };
        };
        return go_on(s.parts[0], 0, value, vs, {forgets(mixed), forgets(ends.throwing)});
      }
      default:  // repeats
        return repeat(s, number(s), value, vs, {next, ends.throwing});
    }
  }
  void repeat(statement const& s, int times, int value, variables const& vs,
              part_ends const& ends) {
    if (times == 0) return ends.returning(value, vs);
    auto const again = [this, &s, times, value, ends](int v, variables const& now) {
      repeat(s, times - 1, mix(value, v), now, ends);
    };
    go_on(s.parts[0], 0, value, vs, {again, ends.throwing});
  }

  on_pick pick_;
};

}  // namespace weft::tests::searches
