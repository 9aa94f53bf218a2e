// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "effects/effects.hpp"
#include "tests/support/protocol_queue.hpp"

/// A deque of which a thief takes half at once, as a weft program; see protocol_queue.hpp.
///
/// Items are their places: what lies from `top` to `bottom`, which is not one of them, is there.
/// The owner takes at the bottom, and without a compare-and-swap if more than one is there; a thief
/// takes at the top.
namespace weft::tests::protocol {

enum class stealing {
  half_at_once,  ///< The seed's, which is wrong: one compare-and-swap for all that is taken.
  one_by_one,    ///< One for each item, and the bottom is read again before.
  from_the_head  ///< The seed's thief, and an owner that takes at the top by compare-and-swap too.
};

struct steal_options {
  int items;
  stealing how = stealing::half_at_once;
};

struct stolen_from {
  explicit stolen_from(steal_options o)
      : how(o.how), bottom(o.items), taken(static_cast<std::size_t>(o.items)) {}

  stealing how;
  int top = 0;
  int bottom;
  std::vector<int> taken;  // of each item, how often

  bool swap_top(int from, int to) {
    if (top != from) return false;
    top = to;
    return true;
  }
  void take(int item) { ++taken.at(static_cast<std::size_t>(item)); }
};

inline does<> owns(stolen_from& d) {
  for (;;) {
    int const b = --d.bottom;
    co_await proc::yield{};
    if (b > d.top) {
      d.take(b);
      co_await proc::yield{};
      continue;
    }
    if (b < d.top) {
      d.bottom = d.top;
      co_return;
    }
    if (d.swap_top(b, b + 1)) d.take(b);
    d.bottom = d.top;
    co_return;
  }
}
inline does<> owns_the_head(stolen_from& d) {
  for (;;) {
    int const t = d.top;
    if (t == d.bottom) co_return;
    co_await proc::yield{};
    if (d.swap_top(t, t + 1)) d.take(t);
    co_await proc::yield{};
  }
}
inline does<> steals_half(stolen_from& d) {
  int const t = d.top;
  int const b = d.bottom;
  co_await proc::yield{};
  if (b <= t) co_return;
  int const n = std::max(1, (b - t) / 2);
  if (!d.swap_top(t, t + n)) co_return;
  for (int i = t; i != t + n; ++i) d.take(i);
}
inline does<> steals_one_by_one(stolen_from& d) {
  int left = 1;
  for (bool first = true; left != 0; first = false, --left) {
    int const t = d.top;
    co_await proc::yield{};
    int const b = d.bottom;
    if (b <= t) co_return;
    if (first) left = std::max(1, (b - t) / 2);
    co_await proc::yield{};
    if (!d.swap_top(t, t + 1)) co_return;
    d.take(t);
    co_await proc::yield{};
  }
}
inline eff<void, spawning<proc, syncing>> owner_and_thief(stolen_from& d) {
  co_await spawn(d.how == stealing::from_the_head ? owns_the_head : owns, std::ref(d));
  co_await spawn(d.how == stealing::one_by_one ? steals_one_by_one : steals_half, std::ref(d));
}

/// What is there still was not taken.
inline void each_item_once(stolen_from const& d) {
  for (int i = 0; i != static_cast<int>(d.taken.size()); ++i) {
    int const n = d.taken[static_cast<std::size_t>(i)] + (d.top <= i && i < d.bottom);
    if (n > 1) throw goes_wrong("item " + std::to_string(i) + " is taken twice");
    if (n < 1) throw goes_wrong("item " + std::to_string(i) + " is lost");
  }
}

}  // namespace weft::tests::protocol
