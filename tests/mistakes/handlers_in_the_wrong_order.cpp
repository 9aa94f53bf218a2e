// SPDX-License-Identifier: MIT

/// Mistake: handlers that are composed in the wrong order
/// Lines: 18

#include <string>

#include <weft/effects/effects.hpp>

using namespace weft;

struct counts_gets : handler<state<int>> {
  int gets = 0;
  int on(state<int>::get, outer<console> up) {
    up(console::print_line("a get"));
    return ++gets;
  }
  void on(state<int>::put) {}
};
eff<int, state<int>> gets() { co_return co_await state<int>::get{}; }
int main() {
  std::string text;
  return run(handle(console_to_string(text) | counts_gets(), gets));
}
