// SPDX-License-Identifier: MIT
// A queue, first in, first out, from which threads take many items at once.
#include <array>
#include <iostream>
#include <span>

#include <weft/deque/steal_queue.hpp>
using namespace weft;

int main() {
  steal_queue<int> q(16);
  steal_queue<int>::thief const thief(q);  // for another thread
  q.reserve(10);
  for (int i = 1; i <= 10; ++i) q.push(i);
  q.publish();
  std::array<int, 4> batch{};
  taken<std::size_t> const half = thief.take_half(batch);
  std::cout << *half << " taken, the first is " << batch[0] << ", " << q.size() << " left\n";
  std::cout << *thief.take(batch) << thief.size() << '\n';
  std::size_t const rest = q.take(batch);
  std::cout << rest << q.is_empty() << thief.is_empty() << '\n';
  basic_steal_queue<int, steal_queue_orders> same_type;
  std::cout << same_type.size() << '\n';
}
