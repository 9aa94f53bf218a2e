// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/protocol_queue.hpp"
#include "weft/effects/effects.hpp"

/// A deque or queue that thieves steal from, as a weft program; see protocol_queue.hpp.
///
/// Items are numbered as they are pushed, and stand in cells, from `top` to `bottom`, exclusive.
/// The owner pushes and takes at the bottom, without a compare-and-swap if more than one item is
/// left; a thief takes at the top.
namespace weft::tests::protocol {

enum class takes_half {
  half_at_once,   ///< The pseudo-code's, which is wrong: one compare-and-swap for all items.
  with_one_look,  ///< One for each item, and the bottom is read once: wrong too.
  one_by_one,     ///< One for each item, and the bottom is read again before: chase_lev.
  from_the_head   ///< The pseudo-code's thief, and an owner that takes at the top by
                  ///< compare-and-swap too: steal_queue.
};

struct steal_options {
  int items;  // at the start
  takes_half how = takes_half::half_at_once;
  std::string_view acts = "";  // of the owner: + pushes, - takes; then it takes all that is left
  int thieves = 1;
};

struct stolen_from {
  explicit stolen_from(steal_options given) : o(given) {
    for (int i = 0; i != o.items; ++i) put(bottom++);
  }

  steal_options o;
  int top = 0;
  int bottom = 0;
  std::vector<int> cells;
  std::vector<int> taken;  // how often each item was taken

  [[nodiscard]] int& cell(int i) { return cells.at(static_cast<std::size_t>(i)); }
  void put(int i) {
    if (i == static_cast<int>(cells.size())) cells.push_back(0);
    cell(i) = static_cast<int>(taken.size());
    taken.push_back(0);
  }
  [[nodiscard]] bool swap_top(int from, int to) {
    if (top != from) return false;
    top = to;
    return true;
  }
  void take(int item) { ++taken.at(static_cast<std::size_t>(item)); }
};

// The owner reads its own data, the cells and the bottom, together with the next access
// (PROTOCOL-4).

inline does<> pushes(stolen_from& d) {
  d.put(d.bottom);
  co_await proc::yield{};
  ++d.bottom;
}
/// Whether an item was popped.
inline does<bool> pops(stolen_from& d) {
  int const b = --d.bottom;
  co_await proc::yield{};
  int const t = d.top;
  if (t < b) {
    d.take(d.cell(b));
    co_return true;
  }
  bool is_mine = false;
  if (t == b) {
    co_await proc::yield{};
    is_mine = d.swap_top(b, b + 1);
    if (is_mine) d.take(d.cell(b));
  }
  co_await proc::yield{};
  d.bottom = b + 1;
  co_return is_mine;
}
inline does<bool> takes_the_head(stolen_from& d) {
  for (;;) {
    int const t = d.top;
    if (t == d.bottom) co_return false;
    int const item = d.cell(t);
    co_await proc::yield{};
    if (!d.swap_top(t, t + 1)) continue;
    d.take(item);
    co_return true;
  }
}
inline does<> owns(stolen_from& d) {
  std::string_view acts = d.o.acts;
  for (bool some = true; some;) {
    bool const is_push = acts.starts_with('+');
    if (is_push)
      co_await pushes(d);
    else if (d.o.how == takes_half::from_the_head)
      some = co_await takes_the_head(d);
    else
      some = co_await pops(d);
    if (!acts.empty()) {
      acts.remove_prefix(1);
      some = true;
    }
    co_await proc::yield{};
  }
}

inline does<> steals_half(stolen_from& d) {
  int const t = d.top;
  co_await proc::yield{};
  int const b = d.bottom;
  if (b <= t) co_return;
  int const n = std::max(1, (b - t) / 2);
  std::vector<int> copied;
  for (int i = t; i != t + n; ++i) {
    co_await proc::yield{};
    copied.push_back(d.cell(i));
  }
  co_await proc::yield{};
  if (!d.swap_top(t, t + n)) co_return;
  for (int const item : copied) d.take(item);
}
inline does<> steals_one_by_one(stolen_from& d) {
  int b = 0;
  int left = 1;
  for (bool is_first = true; left != 0; is_first = false, --left) {
    if (!is_first) co_await proc::yield{};
    int const t = d.top;
    co_await proc::yield{};
    if (is_first || d.o.how == takes_half::one_by_one) b = d.bottom;
    if (b <= t) co_return;
    if (is_first) left = std::max(1, (b - t) / 2);
    co_await proc::yield{};
    int const item = d.cell(t);
    co_await proc::yield{};
    if (!d.swap_top(t, t + 1)) co_return;
    d.take(item);
  }
}
inline eff<void, spawning<proc, syncing>> owner_and_thieves(stolen_from& d) {
  co_await spawn(owns, std::ref(d));
  bool const is_one_by_one =
      d.o.how == takes_half::one_by_one || d.o.how == takes_half::with_one_look;
  for (int i = 0; i != d.o.thieves; ++i)
    co_await spawn(is_one_by_one ? steals_one_by_one : steals_half, std::ref(d));
}

/// The owner has taken the items that were left.
inline void each_item_once(stolen_from const& d) {
  for (std::size_t i = 0; i != d.taken.size(); ++i) {
    if (d.taken[i] > 1) throw goes_wrong("item " + std::to_string(i) + " is taken twice");
    if (d.taken[i] < 1) throw goes_wrong("item " + std::to_string(i) + " is lost");
  }
}

}  // namespace weft::tests::protocol
