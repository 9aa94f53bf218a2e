// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/support/queue_threads.hpp"
#include "weft/sched/backends/detail/message_stack.hpp"

namespace weft::tests {

/// A message of a thread: no atomics, so that ThreadSanitizer sees a read that is too early.
struct letter {
  letter* next = nullptr;
  unsigned from = 0;
  int number = 0;
};

/// Each sender sends so many messages to one thread, which receives all of them, those of one
/// sender in order.  Returns the number of failures.
template <class Orders = detail::stack_orders>
int wrong_letters_on_threads(unsigned senders, int each) {
  detail::message_stack<letter, Orders> stack;
  std::vector<std::vector<letter>> letters(senders,
                                           std::vector<letter>(static_cast<std::size_t>(each)));
  std::vector<int> last(senders, -1);
  int wrong = 0;
  on_threads(senders + 1, [&](unsigned me) {
    if (me != senders) {
      for (int n = 0; n != each; ++n) {
        auto& l = letters[me][static_cast<std::size_t>(n)];
        l.from = me;
        l.number = n;
        stack.push(l);
      }
      return;
    }
    int got = 0;
    while (got != each * static_cast<int>(senders)) {
      letter* l = stack.take_all();
      if (!l) std::this_thread::yield();
      for (; l; l = l->next, ++got) wrong += l->number != ++last[l->from];
    }
  });
  return wrong + !stack.is_empty();
}

}  // namespace weft::tests
