// SPDX-License-Identifier: MIT
// The queue of a thread: taken from at the front or the middle, also by other threads.
#include <iostream>

#include <weft/sched/backends/thread_queue.hpp>
using namespace weft;

void make_ready(queue_entry& e) { e.state.move(sharing_state::queued); }

int main() {
  queue_entry a, b, c, d;
  for (queue_entry* e : {&a, &b, &c, &d}) make_ready(*e);
  thread_queue q;
  std::cout << (q.try_enqueue(a) == thread_queue::entered::was_empty)
            << (q.try_enqueue(b) == thread_queue::entered::had_some)
            << (q.try_enqueue(c) == thread_queue::entered::locked) << q.length() << '\n';
  std::cout << (a.next == &b) << (b.previous == &a) << (a.owner == &q) << '\n';

  std::cout << (q.try_dequeue_entry(b) == thread_queue::removal::removed)
            << (q.try_dequeue_entry(d) == thread_queue::removal::not_here)
            << (q.try_dequeue_entry(b) == thread_queue::removal::locked) << '\n';
  thread_queue::found const first = q.try_exchange(d);  // puts d, takes a
  std::cout << (&first.entry() == &a) << first.is_empty() << first.is_locked() << '\n';

  entry_chain chain;  // a thief moves half of a queue into its own
  thread_queue mine;
  std::cout << q.try_share(2, chain) << (chain.first == &c) << (chain.last == &d) << chain.length
            << '\n';
  queue_entry& to_run = chain.pop();
  std::cout << (&to_run == &c) << mine.try_prepend(chain) << mine.is_empty() << q.is_empty()
            << '\n';
  auto const found = mine.try_dequeue();
  std::cout << (&found.entry() == &d) << (d.state.now() == sharing_state::running) << '\n';
  static_assert(queue_orders::claims == std::memory_order_seq_cst);
  basic_thread_queue<queue_orders> same_type;
  (void)same_type;
}
