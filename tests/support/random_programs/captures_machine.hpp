// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/searches_model.hpp"

/// Programs that resume twice, inside one another, and a machine that runs them.  Its stack is an
/// immutable list, so to resume twice it continues from the list twice.
namespace weft::tests::captures {

using searches::mix;

/// Without replay, a question takes the place of each lease and each key.
inline act allowed(act what, bool replays) {
  if (replays) return what;
  if (what == act::under_lock) return act::calls;
  bool const is_for_replay = what == act::signs || what == act::trades || what == act::takes_key;
  return is_for_replay ? act::asks : what;
}
/// `asks` asks a handler outside, `masks` one past the nearest; `ticks` resumes a clause outside;
/// `picks` goes on with each of three, `flips` and `takes_key` with each of two; `signs` seals;
/// `trades` gives the last key of the part for itself; `fails` throws if the value is divisible by 3.
/// The others have a part, which is under a handler of pick, flip, lock, or one that asks outward.
inline dialect dialect_of_captures(bool replays) {
  using enum act;
  dialect d;
  theme& words = d.themes.emplace_back();
  for (act const a :
       {asks, asks, masks, ticks, picks, picks, flips, flips, signs, fails, attempts, calls,
        under_pick, under_flip, doubles, takes_key, takes_key, trades, under_lock})
    words.push_back(allowed(a, replays));
  d.acts = 5;
  d.part = 5;
  d.depth = 3;
  d.size = 100;
  return d;
}

/// Whether a clause also resumes with `next`, if the results so far mix to `total`.
inline bool goes_on(act what, int next, int total) {
  return next != (what == act::picks ? 3 : 2) && (next == 0 || total % 11 != 0);
}
/// The operation that the clause of pick or flip performs outward with this total; tick means none.
inline act after(act what, int total, bool replays) {
  if (what != act::flips || total % 8 > 3) return act::ticks;
  auto const own = std::array{act::picks, act::asks, act::masks, act::signs}.at(
      static_cast<std::size_t>(total % 8));
  return allowed(own, replays);
}

/// The outcome of a program.
struct result {
  std::string what;
  int near = 0;  // questions to the nearer handler
  int far = 0;
  int ticks = 0;
  int leases = 0;
  friend bool operator==(result const&, result const&) = default;
};
inline std::ostream& operator<<(std::ostream& to, result const& r) {
  return to << r.what << ", near " << r.near << ", far " << r.far << ", ticks " << r.ticks
            << ", leases " << r.leases;
}

struct frame;
using stack = std::shared_ptr<frame const>;  // the innermost frame
struct frame {
  enum class kind { steps, merge, attempt, doubles, handler, clause } is;
  stack out = {};
  block const* p = nullptr;  // steps: the program, and the position in it
  std::size_t at = 0;
  int saved = 0;                  // merge, attempt: the value before; clause: the total so far
  act of = act::picks;            // handler, clause: pick, flip or lock
  bool sealed = false;            // handler
  std::vector<frame> again = {};  // clause: the frames that it resumes, the innermost first
  int next = 0;                   // clause: the next answer
  bool performs = false;          // clause: waits for an operation of its own
};

class machine {
 public:
  /// By replay if `replays`, else bitwise.
  explicit machine(bool replays) : replays_(replays) {}

  /// None if the program takes too many steps.
  std::optional<result> run(block const& p) {
    if (replays_) enter(act::under_lock);
    enter(act::under_pick);
    enter(act::under_flip);
    push({frame::kind::steps, nullptr, &p});
    for (int n = 0; top_; ++n) {
      if (n == 4000) return std::nullopt;
      frame const f = *top_;
      top_ = f.out;
      thrown_.empty() ? go_on(f) : unwind(f);
    }
    heard_.what = thrown_.empty() ? std::to_string(value_) : thrown_;
    return heard_;
  }

 private:
  void push(frame f) {
    f.out = top_;
    top_ = std::make_shared<frame const>(std::move(f));
  }
  void enter(act what) {
    frame f{frame::kind::handler};
    f.of = what == act::under_pick   ? act::picks
           : what == act::under_flip ? act::flips
                                     : act::takes_key;
    push(std::move(f));
  }
  void go_on(frame const& f) {
    switch (f.is) {
      case frame::kind::steps:
        if (f.at == f.p->size()) return;
        push({frame::kind::steps, nullptr, f.p, f.at + 1});
        return execute((*f.p)[f.at]);
      case frame::kind::merge:
      case frame::kind::attempt:
        value_ = mix(f.saved, value_);
        return;
      case frame::kind::doubles:
        return;
      case frame::kind::handler:
        value_ = mix(value_, 1);
        return;
      case frame::kind::clause:
        return clause(f);
    }
  }
  void unwind(frame const& f) {
    if (f.is != frame::kind::attempt) return;
    thrown_.clear();
    value_ = mix(f.saved, -1);
  }
  void execute(statement const& s) {
    if (s.what >= act::spawns) {
      frame f{s.what == act::attempts ? frame::kind::attempt : frame::kind::merge};
      f.saved = value_;
      push(std::move(f));
      if ((s.what == act::under_pick || s.what == act::under_flip || s.what == act::under_lock))
        enter(s.what);
      if (s.what == act::doubles) push({frame::kind::doubles});
      return push({frame::kind::steps, nullptr, &s.parts[0]});
    }
    if (s.what == act::ticks) {
      ++heard_.ticks;
    } else if (s.what == act::fails) {
      if (value_ % 3 == 0) thrown_ = "boom";
    } else {
      frame merge{frame::kind::merge};
      merge.saved = value_;
      push(std::move(merge));
      perform(s.what);
    }
  }
  void perform(act what) {
    switch (what) {
      case act::asks:
        value_ = ask(false);
        return;
      case act::masks:
        value_ = ask(true);
        return;
      case act::signs:
        value_ = ++heard_.leases;
        return seal();
      case act::trades:
        value_ = 5;
        return;
      default:
        return capture(what);
    }
  }
  /// A resumption that the clause awaited, or an operation of its own, has given a value.
  void clause(frame f) {
    int const total = mix(f.saved, value_);
    act const own = f.performs ? act::ticks : after(f.of, total, replays_);
    f.performs = own != act::ticks;
    if (own == act::ticks) {
      if (total % 13 == 0) thrown_ = "boom";
      return thrown_.empty() ? resume(std::move(f), total) : void();
    }
    f.saved = total;
    push(std::move(f));
    perform(own);
  }
  int ask(bool past_the_nearest) {
    int doubled = 0;
    for (stack s = top_; s; s = s->out) doubled += s->is == frame::kind::doubles;
    if (!past_the_nearest) return ++heard_.near << doubled;
    return doubled ? ++heard_.near << (doubled - 1) : ++heard_.far;
  }
  void seal() {
    std::vector<frame> all;
    for (stack s = top_; s; s = s->out) all.push_back(*s);
    top_ = nullptr;
    for (; !all.empty(); all.pop_back()) {
      all.back().sealed = true;
      push(std::move(all.back()));
    }
  }
  void capture(act what) {
    frame c{frame::kind::clause};
    c.of = what;
    stack s = top_;
    for (; s->is != frame::kind::handler || s->of != what; s = s->out) {
      if (!replays_ && (s->is == frame::kind::handler || s->is == frame::kind::clause)) {
        thrown_ = "uncopyable";
        return;
      }
      c.again.push_back(*s);
    }
    if (s->sealed) {
      thrown_ = "unforkable";
      return;
    }
    c.again.push_back(*s);
    top_ = s->out;
    resume(std::move(c), 0);
  }
  void resume(frame c, int so_far) {
    int const answer = c.next++;
    if (!goes_on(c.of, answer, so_far)) {
      value_ = so_far;
      return;
    }
    c.saved = so_far;
    value_ = answer;
    push(c);
    for (std::size_t i = c.again.size(); i-- != 0;) push(c.again[i]);
  }

  bool replays_;
  stack top_;
  int value_ = 0;
  std::string thrown_;
  result heard_;
};

}  // namespace weft::tests::captures
