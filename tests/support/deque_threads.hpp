// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <thread>
#include <utility>

#include "tests/support/dice.hpp"
#include "tests/support/tracked.hpp"
#include "weft/deque/deque.hpp"

namespace weft::tests {

/// Hands a version of one deque to each of four threads, which push, pop, copy and replace at
/// random, each beside a std::deque, until each has its version for itself.  Returns how many
/// threads saw wrong contents.
template <class Counts>
int wrong_versions_on_threads(unsigned seed) {
  using element = tracked<moves::safely>;
  using shared = persistent_deque<element, deque_policy<Counts, heap_memory, 8 * sizeof(element)>>;
  constexpr unsigned threads = 4;

  shared d;
  std::deque<int> model;
  for (int i = 0; i != 150; ++i) {
    d.push_front(i);
    model.push_front(i);
  }

  auto const work = [&](unsigned me, shared mine, bool& wrong) {
    std::deque<int> expected = model;
    dice random(seed * threads + me);
    int value = 1000 * static_cast<int>(me + 1);
    shared kept = mine;
    for (int i = 0; i != 400; ++i) {
      switch (random(7)) {
        case 0:
        case 1:
          mine.push_front(value);
          expected.push_front(value++);
          break;
        case 2:
          mine.push_back(value);
          expected.push_back(value++);
          break;
        case 3:
        case 4:
          if (auto const e = mine.try_pop_back()) {
            wrong |= e->value() != expected.back();
            expected.pop_back();
          }
          break;
        case 5:
          kept = mine;
          break;
        case 6:
          if (!expected.empty()) {
            std::size_t const at = random(static_cast<unsigned>(expected.size()));
            mine = std::move(mine).set(at, value);
            expected[at] = value++;
          }
          break;
      }
    }
    wrong |= mine.size() != expected.size();
    for (std::size_t i = 0; i != mine.size() && !wrong; ++i)
      wrong |= mine[i].value() != expected[i];
  };

  std::array<bool, threads> wrong{};
  {
    std::array<std::jthread, threads> running;
    for (unsigned i = 0; i != threads; ++i)
      running[i] = std::jthread(
          [&work, &wrong, i, version = d]() mutable { work(i, std::move(version), wrong[i]); });
    d = {};
  }
  int sum = 0;
  for (bool const w : wrong) sum += w ? 1 : 0;
  return sum;
}

}  // namespace weft::tests
