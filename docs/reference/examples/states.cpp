// SPDX-License-Identifier: MIT
// The states of a process on each backend of several threads, and their legal moves.
#include <iostream>

#include <weft/sched/backends/message_stack.hpp>
#include <weft/sched/backends/sharing_state.hpp>
#include <weft/sched/backends/stealing_state.hpp>
using namespace weft;

struct note {
  int text;
  note* next = nullptr;
};

int main() {
  for (sharing_state const from : {sharing_state::sleeping, sharing_state::queued,
                                   sharing_state::running, sharing_state::yielding})
    std::cout << is_legal_move(from, sharing_state::running);
  for (stealing_state const from :
       {stealing_state::ready, stealing_state::running, stealing_state::blocked,
        stealing_state::idle, stealing_state::complete})
    std::cout << is_legal_move(from, stealing_state::ready);
  std::cout << '\n';

  sharing_state_word s{sharing_state::running};
  s.move(sharing_state::yielding);  // about to sleep
  s.move(sharing_state::sleeping);
  std::cout << s.wake(sharing_state::queued) << (s.now() == sharing_state::queued) << '\n';
  basic_sharing_state<sharing_state_orders> const same(sharing_state::queued);
  std::cout << (same.now() == s.now()) << '\n';

  stealing_state_word life;
  life.move(stealing_state::running);
  std::cout << life.wait(stealing_state::blocked) << life.wake();  // slept, then woken
  life.move(stealing_state::running);
  std::cout << life.wake() << life.wait(stealing_state::idle) << '\n';  // woken before it slept
  life.set_ready();
  life.take_over([] {});  // runs at once, without a queue
  basic_stealing_state<stealing_state_orders> const fresh;
  std::cout << (life.now() == stealing_state::running) << (fresh.now() == stealing_state::ready)
            << '\n';

  message_stack<note> stack;  // from many threads to one
  note a{1}, b{2};
  stack.push(a);
  std::cout << stack.has_only(a) << stack.is_empty();
  stack.push(b);
  for (note* n = stack.take_all(); n; n = n->next) std::cout << n->text;  // the oldest first
  static_assert(stack_orders::takes == std::memory_order_acquire);
  std::cout << '\n';
}
