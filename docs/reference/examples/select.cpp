// SPDX-License-Identifier: MIT
// Waiting at several inboxes at once.
#include <chrono>
#include <iostream>
#include <string>
#include <variant>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, mail> sends(address<int> numbers, address<std::string> words) {
  co_await words.send("one");
  co_await numbers.send(2);
}

eff<void, spawning<mail>, mail, timing> program() {
  auto [numbers, to_numbers] = co_await open<int>();
  auto [words, to_words] = co_await open<std::string>();
  co_await spawn(sends, to_numbers, to_words);
  for (int i = 0; i != 2; ++i) {
    auto const m = co_await select(numbers, words);
    if (m.index() == 0)
      std::cout << "a number: " << std::get<0>(m) << '\n';
    else
      std::cout << "a word: " << std::get<1>(m) << '\n';
  }
  instant const now = co_await timing::now{};
  auto const none = co_await select_until(now + 1min, numbers, words);
  std::cout << (none ? "something" : "nothing within a minute") << '\n';
}

int main() { schedule({.virtual_time = true}, program); }
