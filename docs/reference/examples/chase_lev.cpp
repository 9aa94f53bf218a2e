// SPDX-License-Identifier: MIT
// A deque from which other threads steal: the owner takes the newest item, thieves the oldest.
#include <iostream>
#include <vector>

#include <weft/deque/chase_lev.hpp>
using namespace weft;

struct bag {  // where the other half goes
  std::vector<int> items;
  void reserve(std::size_t n) { items.reserve(items.size() + n); }
  void push(int n) { items.push_back(n); }
};
static_assert(takes_in<bag, int> && stealable<int*> && !stealable<bag>);

int main() {
  chase_lev<int> d(16);
  chase_lev<int>::thief const thief(d);  // for another thread
  for (int i = 1; i <= 8; ++i) d.push(i);
  d.publish();  // before the owner looks whether a thread sleeps
  taken<int> const newest = d.try_pop(), oldest = thief.steal();
  std::cout << *newest << *oldest << *d.take_oldest() << d.size() << '\n';

  bag mine;
  chase_lev<int>::thief::half const half = thief.steal_half(mine, 100);
  std::cout << *half.first << half.others << mine.items.size() << thief.size() << '\n';

  int next = 100;
  d.reserve(2);
  bool const had_room = d.try_push_all(2, [&next] { return next++; });
  std::cout << had_room << *d.try_pop_alone() << '\n';
  while (d.try_pop()) {
  }
  taken<int> const none = d.try_pop();
  std::cout << none.is_empty() << none.is_lost() << d.is_empty() << thief.is_empty() << '\n';
  taken<int> const lost = missed::lost, empty = missed::empty;
  std::cout << lost.is_lost() << bool(empty) << '\n';

  basic_chase_lev<int, interrupting_orders> seldom_stolen;  // pops cost less, steals more
  seldom_stolen.do_not_interrupt();
  seldom_stolen.push(1);
  seldom_stolen.before_last_look();
  std::cout << *seldom_stolen.try_pop() << '\n';
  static_assert(chase_lev_orders::publishes == steal_orders::publishes);
}
