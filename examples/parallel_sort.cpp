// SPDX-License-Identifier: MIT

/// A merge sort that sorts both halves at the same time, and both parts of each merge.
///
/// `when_all` awaits two computations, on as many threads as there are.  If no thread is free it
/// calls them, one after the other: so a task costs about as much as a call, and the halves may
/// become as small as in a plain merge sort.
///
/// To merge in parallel, the longer of two runs is cut in its middle, and the other one at the
/// position of that element: the parts before the cuts come before the parts behind them.  Equal
/// elements of the left run come first, so the sort is stable.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/tasks/when_all.hpp>

using namespace weft;

struct record {
  std::uint32_t key;
  std::uint32_t place;  // its original position
};
using records = std::span<record>;

constexpr std::size_t few = 32;            // fewer are sorted by insertion
constexpr std::size_t merged_alone = 512;  // a cut costs two searches

bool is_less(record const& a, record const& b) { return a.key < b.key; }

void sort_few(records what) {
  for (auto i = what.begin(); i != what.end(); ++i)
    std::rotate(std::upper_bound(what.begin(), i, *i, is_less), i, i + 1);
}

/// Merges two sorted runs, of which `left` came first, into `to`.
eff<void, tasking<>> merge(records left, records right, records to) {
  if (to.size() <= merged_alone) {
    std::merge(left.begin(), left.end(), right.begin(), right.end(), to.begin(), is_less);
    co_return;
  }
  std::size_t l = left.size() / 2;
  std::size_t r = right.size() / 2;
  if (left.size() >= right.size())
    r = static_cast<std::size_t>(std::lower_bound(right.begin(), right.end(), left[l], is_less) -
                                 right.begin());
  else
    l = static_cast<std::size_t>(std::upper_bound(left.begin(), left.end(), right[r], is_less) -
                                 left.begin());
  co_await when_all(merge(left.first(l), right.first(r), to.first(l + r)),
                    merge(left.subspan(l), right.subspan(r), to.subspan(l + r)));
}

/// Sorts `what`; `room` has the same size.  The result is in `room` if `into_room`.
eff<void, tasking<>> sort_into(records what, records room, bool into_room) {
  if (what.size() <= few) {
    sort_few(what);
    if (into_room) std::copy(what.begin(), what.end(), room.begin());
    co_return;
  }
  std::size_t const middle = what.size() / 2;
  // The halves are sorted into the one buffer, and merged into the other.
  co_await when_all(sort_into(what.first(middle), room.first(middle), !into_room),
                    sort_into(what.subspan(middle), room.subspan(middle), !into_room));
  records const from = into_room ? what : room;
  co_await merge(from.first(middle), from.subspan(middle), into_room ? room : what);
}

eff<void, tasking<>> parallel_sort(records what) {
  std::vector<record> room(what.size());
  co_await sort_into(what, room, false);
}

// ---- the input

/// A linear congruential generator: the same numbers on every platform.
std::vector<record> numbers_below(std::uint32_t n, std::uint32_t bound) {
  std::vector<record> all;
  std::uint64_t x = 42;
  for (std::uint32_t i = 0; i != n; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    all.push_back({static_cast<std::uint32_t>(x >> 33) % bound, i});
  }
  return all;
}
std::vector<record> falling(std::uint32_t n) {
  std::vector<record> all;
  for (std::uint32_t i = 0; i != n; ++i) all.push_back({n - i, i});
  return all;
}

bool is_sorted_and_stable(std::vector<record> const& all) {
  auto const is_before = [](record const& a, record const& b) {
    return std::pair(a.key, a.place) < std::pair(b.key, b.place);
  };
  return std::is_sorted(all.begin(), all.end(), is_before);
}

eff<void, tasking<>, console> sorts(std::string what, std::vector<record> all) {
  co_await parallel_sort(all);
  bool is_right = is_sorted_and_stable(all);
  std::vector<bool> seen(all.size());  // that no record is lost
  for (record const& r : all) seen[r.place] = true;
  is_right &= std::find(seen.begin(), seen.end(), false) == seen.end();
  std::string const line =
      std::to_string(all.size()) + ' ' + what + (is_right ? ": sorted, and stable" : ": WRONG");
  co_await console::print_line(line);
}

eff<void, tasking<>, console> program() {
  co_await sorts("numbers", numbers_below(20'000, 1U << 31));
  co_await sorts("numbers below ten", numbers_below(20'000, 10));
  co_await sorts("falling numbers", falling(10'000));
  co_await sorts("numbers", numbers_below(3, 1000));
  co_await sorts("numbers", {});
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(program, console_to_stream(std::cout));
}
