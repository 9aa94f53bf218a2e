// SPDX-License-Identifier: MIT
// A deque whose copies are snapshots: changed in place, or as a value.
#include <iostream>
#include <span>
#include <utility>

#include <weft/deque/persistent_deque.hpp>
using namespace weft;

void print(char const* what, persistent_deque<int> const& d) {
  std::cout << what << ':';
  for (int const n : d) std::cout << ' ' << n;
  std::cout << '\n';
}

int main() {
  persistent_deque<int> d{1, 2, 3};
  auto const before = d;  // O(1)
  d.push_back(4);
  d.push_front(0);
  d.emplace_back(5);
  d.emplace_front(-1);
  print("after", d);
  print("before", before);
  std::cout << d.pop_front() << d.pop_back() << *d.try_pop_front() << *d.try_pop_back() << '\n';
  std::cout << d.front() << d.back() << d.at(1) << d[2] << d.size() << d.empty() << '\n';

  print("pushed", before.pushed_front(0).pushed_back(4));
  print("set", before.set(1, 20).update(2, [](int n) { return 10 * n; }));
  auto const [first, rest] = *before.popped_front();
  persistent_deque<int>::popped const last = before.popped_back();
  std::cout << first << rest.size() << last->first << '\n';
  auto const [head, tail] = before.split_at(1);
  print("take", head);
  print("drop", before.drop(2));
  print("concat", tail.concat(before.take(1)));

  if (d.can_rotate_in_place()) std::cout << d.rotate_in_place(9) << '\n';
  int taken = 0;
  if (d.take_back_in_place([&](int& x) { taken = x; }) && !d.emplace_front_in_place(taken))
    d.push_front(taken);                     // the leaf had no room
  std::cout << (d.rotations() > 0) << '\n';  // this many more
  persistent_deque<int> other;
  d.swap(other);
  d.clear();
  std::cout << d.size() << (other.begin() == other.cbegin()) << (other.end() == other.cend())
            << '\n';
  for (auto i = other.rbegin(); i != other.rend(); ++i) std::cout << *i;
  persistent_deque<int>::iterator const second = other.begin() + 1;
  std::cout << *second << '\n';
  other.for_each_segment(
      [](std::span<int const> run) { std::cout << run.size() << " in a row\n"; });
}
