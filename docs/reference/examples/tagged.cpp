// SPDX-License-Identifier: MIT
// Two variables of one type, told apart by labels.
#include <iostream>

#include <weft/effects/effects.hpp>
using namespace weft;

struct width;
struct height;
using size = row<tagged<width, state<int>>, tagged<height, state<int>>>;

eff<int, size> area() {
  int const w = co_await in<width>(state<int>::get{});
  int const h = co_await in<height>(state<int>::get{});
  co_await in<width>(state<int>::put{w + 1});
  co_return w* h;
}

// A clause takes the operation as it is without the label, or with it.
struct says_its_label {
  int on(tagged_operation<height, state<int>::get>) const { return 5; }
  void on(tagged_operation<height, state<int>::put> o) const { std::cout << o.untagged.value; }
};

int main() {
  std::cout << run(handle<tagged<width, state<int>>>(
                   state_of(4), handle<tagged<height, state<int>>>(says_its_label(), area())))
            << '\n';
}
