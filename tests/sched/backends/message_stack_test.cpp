// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/stack_threads.hpp"

/// sched/backends/detail/message_stack.hpp.

std::vector<int> numbers(letter const* l) {
  std::vector<int> all;
  for (; l; l = l->next) all.push_back(l->number);
  return all;
}

TEST_CASE("take_all() returns all messages, the first pushed first, and then nothing") {
  detail::message_stack<letter> stack;
  CHECK(stack.is_empty());
  CHECK(stack.take_all() == nullptr);
  letter l[3] = {{nullptr, 0, 1}, {nullptr, 0, 2}, {nullptr, 0, 3}};
  for (auto& x : l) {
    stack.push(x);
    CHECK_FALSE(stack.is_empty());
  }
  CHECK(numbers(stack.take_all()) == std::vector{1, 2, 3});
  CHECK(stack.is_empty());
  CHECK(stack.take_all() == nullptr);
}

TEST_CASE("a message can be sent again, wherever it stood in the list that was taken") {
  detail::message_stack<letter> stack;
  letter l[3] = {{nullptr, 0, 1}, {nullptr, 0, 2}, {nullptr, 0, 3}};
  for (auto& x : l) stack.push(x);
  (void)stack.take_all();
  stack.push(l[1]);
  CHECK(numbers(stack.take_all()) == std::vector{2});
  stack.push(l[2]);
  stack.push(l[0]);
  CHECK(numbers(stack.take_all()) == std::vector{3, 1});
}

TEST_CASE("alternating pushes and takes keep the order, and lose no message") {
  seeds(100).for_each([](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    detail::message_stack<letter> stack;
    std::vector<letter> letters(200);
    std::vector<int> sent;
    std::vector<int> got;
    for (int n = 0; n != 200; ++n) {
      auto& l = letters[static_cast<std::size_t>(n)];
      l.number = n;
      stack.push(l);
      sent.push_back(n);
      if (random(4) == 0)
        for (int const x : numbers(stack.take_all())) got.push_back(x);
    }
    for (int const x : numbers(stack.take_all())) got.push_back(x);
    CHECK(got == sent);
  });
}

TEST_CASE("one thread takes all that several push, each sender's in order, with its writes") {
  auto const senders = GENERATE(1u, 2u, 3u, 7u);
  CHECK(wrong_letters_on_threads(senders, 20'000) == 0);
}
