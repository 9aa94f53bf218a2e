// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/support/effects.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/captures_machine.hpp"
#include "tests/support/random_programs/program.hpp"
#include "weft/effects/effects.hpp"

/// Programs that resume twice, inside one another, by weft.
namespace weft::tests::captures {

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

struct boom {};

template <class Policy>
inline constexpr bool replays = std::is_same_v<Policy, replay>;

template <class Policy>
using keys = std::conditional_t<replays<Policy>, row<locking, trading>, row<>>;
template <class Policy>
using all = row<pick, flip, ask, tick, lease, keys<Policy>>;

template <class... Es>
eff<int, Es...> perform(act what) {
  constexpr bool flips = detail::is_among<flip, detail::row_set<Es...>>;
  if (what == act::asks) co_return co_await ask::get{};
  if (what == act::masks) co_return co_await outer_of<ask>(ask::get{});
  if (what == act::picks) co_return co_await pick::one{};
  if constexpr (flips)
    if (what == act::flips) co_return co_await flip::coin{};
  co_return co_await lease::sign{};
}

struct each_pick {
  eff<int> on(pick::one, multi_resumption<int, int> k) const {
    int total = 0;
    for (int i = 0; goes_on(act::picks, i, total); ++i) {
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
    for (int i = 0; goes_on(act::flips, i, total); ++i) {
      int const one = co_await k(i);
      total = mix(total, one);
      act const own = after(act::flips, total, replays<Policy>);
      if (own != act::ticks) {
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
    for (int i = 0; goes_on(act::takes_key, i, total); ++i) {
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
eff<int, all<Policy>> interpret(block const* p, int value);

/// A part with its initial value: the body of the handlers that are installed around it.
template <class Policy>
struct part {
  block const* p;
  int value;
  eff<int, all<Policy>> operator()() const { return interpret<Policy>(p, value); }
};

template <class Policy>
eff<int, all<Policy>> run_part(statement const* s, int value) {
  part<Policy> const body{&s->parts[0], value};
  if (s->what == act::under_pick) co_return co_await handle<pick>(each_pick(), body, Policy());
  if (s->what == act::under_flip)
    co_return co_await handle<flip>(each_flip<Policy>(), body, Policy());
  if constexpr (replays<Policy>)
    if (s->what == act::under_lock) co_return co_await handle<locking>(each_key(), body);
  if (s->what == act::doubles) co_return co_await handle<ask>(doubling(), body);
  if (s->what == act::calls) co_return co_await body();
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
eff<int, all<Policy>> interpret(block const* p, int value) {
  ring<Policy> mine;
  for (statement const& s : *p) {
    if (s.what == act::ticks) {
      co_await tick::now{};
    } else if (s.what == act::fails) {
      if (value % 3 == 0) throw boom();
    } else if (s.what >= act::spawns) {
      int const came_of_it = co_await run_part<Policy>(&s, value);
      value = mix(value, came_of_it);
    } else if (s.what == act::takes_key) {
      int const answer = co_await mine.take();
      value = mix(value, answer);
    } else if (s.what == act::trades) {
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
eff<int, pick, ask, tick, lease, keys<Policy>> under_flips(block const* p) {
  co_return co_await handle<flip>(each_flip<Policy>(), part<Policy>{p, 0}, Policy());
}
template <class Policy, class Tick>
int run_by_weft(block const& p, result& heard, Tick& ticking) {
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
result run_by_weft(block const& p, unsigned kind_of_tick) {
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

}  // namespace weft::tests::captures
