// SPDX-License-Identifier: MIT

/// Random programs that resume twice, inside one another, compared with a machine that can copy.
///
/// A program asks, chooses, throws, catches, seals, and installs handlers around parts of itself.
/// It is run by weft and by a machine of a hundred lines whose stack is an immutable list, so to
/// resume twice the machine continues from it twice.  Both must give the same result and must have
/// asked the handlers outside equally often, in the same order; so no handler has heard a replay.
///
/// This holds for every policy of resuming twice, since a program keeps only numbers and pointers
/// across a capture.  Three things depend on the policy.  An operation that seals ends the log of a
/// replay; without replay no program signs.  Bitwise, a handler that resumes twice cannot be
/// copied, nor can its clause, so a capture through one is refused.  By replay there are keys:
/// answers that hold their own resumption, even before it is resumed.  Programs keep keys and
/// clauses outside trade them, so they are in the logs that they refer to.
///
/// A seed that fails is printed; tests/support/seeds.hpp explains how to run it alone.

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/seeds.hpp"
#include "weft/effects/effects.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

// ---- programs

struct pick {
  struct one : op<int> {};
  using operations = op_list<one>;
};
struct flip {
  struct coin : op<int> {};
  using operations = op_list<coin>;
};
struct lease {
  struct sign : op<int, seals> {};
  using operations = op_list<sign>;
};
struct key;
struct locking {
  struct lock : op<key> {};
  using operations = op_list<lock>;
};
struct key {
  key() = default;
  key(multi_resumption<key, int> rest, int n) : k(std::move(rest)), number(n) {}
  multi_resumption<key, int> k;
  int number = 0;
};
struct trading {
  struct trade : op<key> {
    explicit trade(key what) : given(std::move(what)) {}
    key given;
    friend std::size_t hash_value(trade const& t) {
      return static_cast<std::size_t>(t.given.number);
    }
  };
  using operations = op_list<trade>;
};

enum class does {
  ask,      // a handler outside
  mask,     // past the nearest handler of ask
  tick,     // a clause outside that takes the resumption
  pick,     // each of three
  flip,     // each of two
  sign,     // seals
  trade,    // the last key of this part, for itself
  lock,     // each of two keys
  fail,     // throws, if the value is divisible by 3
  attempt,  // a part; catches
  call,     // a part
  picks,    // a part, under a handler of pick
  flips,    // a part, under a handler of flip
  locks,    // a part, under a handler of lock
  doubles,  // a part, under a handler of ask that asks outward
};
struct step;
using program = std::vector<step>;
struct step {
  does what;
  program part = {};
};

int mix(int a, int b) {
  auto const m = 31 * static_cast<unsigned>(a) + static_cast<unsigned>(b) + 7;
  return static_cast<int>(m % 1'000'003);
}

/// Without replay, a question takes the place of each lease and each key.
does allowed(does what, bool replays) {
  if (replays) return what;
  if (what == does::locks) return does::call;
  return what == does::sign || what == does::trade || what == does::lock ? does::ask : what;
}

program a_program(std::mt19937& dice, int depth, bool replays) {
  static constexpr does all[] = {does::ask,     does::ask,  does::mask,  does::tick,  does::pick,
                                 does::pick,    does::flip, does::flip,  does::sign,  does::fail,
                                 does::attempt, does::call, does::picks, does::flips, does::doubles,
                                 does::lock,    does::lock, does::trade, does::locks};
  program p;
  std::size_t const steps = 1 + dice() % 5;
  for (std::size_t i = 0; i != steps; ++i) {
    does const what = allowed(all[dice() % std::size(all)], replays);
    bool const has_part = what >= does::attempt;
    if (has_part && depth == 0) continue;
    p.push_back({what, has_part ? a_program(dice, depth - 1, replays) : program()});
  }
  return p;
}

/// Whether a clause also resumes with `next`, if the results so far mix to `total`.
bool goes_on(does what, int next, int total) {
  return next != (what == does::pick ? 3 : 2) && (next == 0 || total % 11 != 0);
}
/// The operation that the clause of pick or flip performs outward with this total; tick means none.
does after(does what, int total, bool replays) {
  if (what != does::flip || total % 8 > 3) return does::tick;
  auto const own = std::array{does::pick, does::ask, does::mask, does::sign}.at(
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
std::ostream& operator<<(std::ostream& to, result const& r) {
  return to << r.what << ", near " << r.near << ", far " << r.far << ", ticks " << r.ticks
            << ", leases " << r.leases;
}

// ---- the machine

struct frame;
using stack = std::shared_ptr<frame const>;  // the innermost frame
struct frame {
  enum class kind { steps, merge, attempt, doubles, handler, clause } is;
  stack out = {};
  program const* p = nullptr;  // steps: the program, and the position in it
  std::size_t at = 0;
  int saved = 0;                  // merge, attempt: the value before; clause: the total so far
  does of = does::pick;           // handler, clause: pick, flip or lock
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
  std::optional<result> run(program const& p) {
    if (replays_) enter(does::locks);
    enter(does::picks);
    enter(does::flips);
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
  void enter(does what) {
    frame f{frame::kind::handler};
    f.of = what == does::picks ? does::pick : what == does::flips ? does::flip : does::lock;
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
  void execute(step const& s) {
    if (s.what >= does::attempt) {
      frame f{s.what == does::attempt ? frame::kind::attempt : frame::kind::merge};
      f.saved = value_;
      push(std::move(f));
      if (s.what >= does::picks && s.what <= does::locks) enter(s.what);
      if (s.what == does::doubles) push({frame::kind::doubles});
      return push({frame::kind::steps, nullptr, &s.part});
    }
    if (s.what == does::tick) {
      ++heard_.ticks;
    } else if (s.what == does::fail) {
      if (value_ % 3 == 0) thrown_ = "boom";
    } else {
      frame merge{frame::kind::merge};
      merge.saved = value_;
      push(std::move(merge));
      perform(s.what);
    }
  }
  void perform(does what) {
    switch (what) {
      case does::ask:
        value_ = ask(false);
        return;
      case does::mask:
        value_ = ask(true);
        return;
      case does::sign:
        value_ = ++heard_.leases;
        return seal();
      case does::trade:
        value_ = 5;
        return;
      default:
        return capture(what);
    }
  }
  /// A resumption that the clause awaited, or an operation of its own, has given a value.
  void clause(frame f) {
    int const total = mix(f.saved, value_);
    does const own = f.performs ? does::tick : after(f.of, total, replays_);
    f.performs = own != does::tick;
    if (own == does::tick) {
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
  void capture(does what) {
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

// ---- the same, by weft

struct boom {};

template <class Policy>
constexpr bool replays = std::is_same_v<Policy, replay>;

template <class Policy>
using keys = std::conditional_t<replays<Policy>, row<locking, trading>, row<>>;
template <class Policy>
using all = row<pick, flip, ask, tick, lease, keys<Policy>>;

template <class... Es>
eff<int, Es...> perform(does what) {
  constexpr bool flips = detail::is_among<flip, detail::row_set<Es...>>;
  if (what == does::ask) co_return co_await ask::get{};
  if (what == does::mask) co_return co_await outer_of<ask>(ask::get{});
  if (what == does::pick) co_return co_await pick::one{};
  if constexpr (flips)
    if (what == does::flip) co_return co_await flip::coin{};
  co_return co_await lease::sign{};
}

struct each_pick {
  eff<int> on(pick::one, multi_resumption<int, int> k) const {
    int total = 0;
    for (int i = 0; goes_on(does::pick, i, total); ++i) {
      int const one = co_await k(i);
      total = mix(total, one);
      if (total % 13 == 0) throw boom();
    }
    co_return total;
  }
  int on_return(int value) const { return mix(value, 1); }
};
template <class Policy>
struct each_flip {
  eff<int, pick, ask, lease> on(flip::coin, multi_resumption<int, int> k) const {
    int total = 0;
    for (int i = 0; goes_on(does::flip, i, total); ++i) {
      int const one = co_await k(i);
      total = mix(total, one);
      does const own = after(does::flip, total, replays<Policy>);
      if (own != does::tick) {
        int const answer = co_await perform<pick, ask, lease>(own);
        total = mix(total, answer);
      }
      if (total % 13 == 0) throw boom();
    }
    co_return total;
  }
  int on_return(int value) const { return mix(value, 1); }
};
struct each_key {
  eff<int, trading> on(locking::lock, multi_resumption<key, int> k) const {
    key const mine = co_await trading::trade(key(k, 0));
    int total = 0;
    for (int i = 0; goes_on(does::lock, i, total); ++i) {
      int const one = co_await k(key(mine.k, i));
      total = mix(total, one);
      if (total % 13 == 0) throw boom();
    }
    co_return total;
  }
  int on_return(int value) const { return mix(value, 1); }
};
struct doubling {
  int on(ask::get, outer<ask> up) const { return 2 * up(ask::get{}); }
};

template <class Policy>
eff<int, all<Policy>> interpret(program const* p, int value);

/// A part with its initial value: the body of the handlers that are installed around it.
template <class Policy>
struct part {
  program const* p;
  int value;
  eff<int, all<Policy>> operator()() const { return interpret<Policy>(p, value); }
};

template <class Policy>
eff<int, all<Policy>> run_part(step const* s, int value) {
  part<Policy> const body{&s->part, value};
  if (s->what == does::picks) co_return co_await handle<pick>(each_pick(), body, Policy());
  if (s->what == does::flips) co_return co_await handle<flip>(each_flip<Policy>(), body, Policy());
  if constexpr (replays<Policy>)
    if (s->what == does::locks) co_return co_await handle<locking>(each_key(), body);
  if (s->what == does::doubles) co_return co_await handle<ask>(doubling(), body);
  if (s->what == does::call) co_return co_await body();
  int caught = -1;
  try {
    caught = co_await body();
  } catch (boom const&) {
  } catch (unforkable const&) {
  } catch (uncopyable const&) {
  }
  co_return caught;
}
/// The last key of a part, for policies that have keys.
template <class Policy>
struct ring {
  eff<int, keys<Policy>> take() { co_return 0; }
  eff<int, keys<Policy>> trade() { co_return 0; }
};
template <>
struct ring<replay> {
  key last;
  eff<int, keys<replay>> take() {
    last = co_await locking::lock{};
    co_return last.number;
  }
  eff<int, keys<replay>> trade() {
    last = co_await trading::trade(last);
    co_return 5;
  }
};

template <class Policy>
eff<int, all<Policy>> interpret(program const* p, int value) {
  ring<Policy> mine;
  for (step const& s : *p) {
    if (s.what == does::tick) {
      co_await tick::now{};
    } else if (s.what == does::fail) {
      if (value % 3 == 0) throw boom();
    } else if (s.what >= does::attempt) {
      int const came_of_it = co_await run_part<Policy>(&s, value);
      value = mix(value, came_of_it);
    } else if (s.what == does::lock) {
      int const answer = co_await mine.take();
      value = mix(value, answer);
    } else if (s.what == does::trade) {
      int const answer = co_await mine.trade();
      value = mix(value, answer);
    } else {
      int const answer = co_await perform<all<Policy>>(s.what);
      value = mix(value, answer);
    }
  }
  co_return value;
}

struct counts {
  int& times;
  key on(trading::trade t) const { return std::move(t.given); }
  int on(ask::get) const { return ++times; }
  int on(lease::sign) const { return ++times; }
};

/// The clauses that may answer a tick.
struct tick_by_value {
  int& times;
  void on(tick::now) const { ++times; }
};
struct tick_by_jump {
  int& times;
  outcome<int> on(tick::now, resumption<void, int> k) const {
    ++times;
    return std::move(k).last();
  }
};
struct tick_by_coroutine {
  int& times;
  eff<int> on(tick::now, resumption<void, int> k) const {
    ++times;
    co_return co_await std::move(k)();
  }
};
struct tick_parks : region {
  explicit tick_parks(int& n) : times(n) {}
  int& times;
  std::optional<resumption<void, int>> parked;
  int on(tick::now, resumption<void, int> k) {
    ++times;
    parked = std::move(k);
    return -1;
  }
};

template <class Policy>
eff<int, pick, ask, tick, lease, keys<Policy>> under_flips(program const* p) {
  co_return co_await handle<flip>(each_flip<Policy>(), part<Policy>{p, 0}, Policy());
}
template <class Policy, class Tick>
int run_by_weft(program const& p, result& heard, Tick& ticking) {
  auto const flips = [p = &p] { return under_flips<Policy>(p); };
  auto const under_all = [&](auto body) {
    return run(handle<lease, trading>(
        counts{heard.leases},
        handle<tick>(ticking, handle<ask>(counts{heard.far},
                                          handle<ask>(counts{heard.near}, std::move(body))))));
  };
  if constexpr (replays<Policy>) {
    auto const picks = [flips]() -> eff<int, ask, tick, lease, keys<Policy>> {
      co_return co_await handle<pick>(each_pick(), flips);
    };
    return under_all(handle<locking>(each_key(), picks));
  } else {
    return under_all(handle<pick>(each_pick(), flips, Policy()));
  }
}

template <class Policy>
result run_by_weft(program const& p, unsigned kind_of_tick) {
  result heard;
  try {
    int value = 0;
    if (kind_of_tick == 0) {
      tick_by_value h{heard.ticks};
      value = run_by_weft<Policy>(p, heard, h);
    } else if (kind_of_tick == 1) {
      tick_by_jump h{heard.ticks};
      value = run_by_weft<Policy>(p, heard, h);
    } else if (kind_of_tick == 2) {
      tick_by_coroutine h{heard.ticks};
      value = run_by_weft<Policy>(p, heard, h);
    } else {
      tick_parks h(heard.ticks);
      value = run_by_weft<Policy>(p, heard, h);
      while (h.parked) {
        auto k = std::move(*h.parked);
        h.parked.reset();
        value = resume(std::move(k));
      }
    }
    heard.what = std::to_string(value);
  } catch (boom const&) {
    heard.what = "boom";
  } catch (unforkable const&) {
    heard.what = "unforkable";
  } catch (uncopyable const&) {
    heard.what = "uncopyable";
  }
  return heard;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "programs that resume twice inside one another have the results of a machine that copies", "",
    replay, bitwise) {
  constexpr unsigned usual = 2000;
  seeds const tried(usual);
  unsigned ended = 0;
  unsigned failed = 0;
  unsigned refused = 0;
  tried.for_each([&](unsigned seed) {
    CAPTURE(seed);
    std::mt19937 dice(seed);
    program const p = a_program(dice, 3, replays<TestType>);
    auto const expected = machine(std::is_same_v<TestType, replay>).run(p);
    if (!expected) return;
    every_frame_dies const check;
    CHECK(run_by_weft<TestType>(p, seed % 4) == *expected);
    bool const is_refused = expected->what.starts_with("un");
    ++(expected->what == "boom" ? failed : is_refused ? refused : ended);
  });
  if (tried.only_some()) return;
  CHECK(ended > usual / 8);
  CHECK(failed > 0);
  CHECK(refused > 0);
}
