// SPDX-License-Identifier: MIT
// An effect of one's own: its operations, a computation that performs them, and a handler.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
using namespace weft;

struct door {
  struct [[nodiscard]] knock : op<std::string> {  // answered with a string
    explicit knock(int n) : times(n) {}
    int times;
  };
  struct [[nodiscard]] lock : op<void, seals> {};  // its answer cannot be given twice
  struct [[nodiscard]] leave : op<never> {};       // never returns
  using operations = op_list<knock, lock, leave>;
};
static_assert(effect<door> && operation<door::knock>);

eff<int, door> visit() {
  std::string const heard = co_await door::knock(2);
  std::cout << heard << '\n';
  if (heard.empty()) co_await door::leave{};
  co_await door::lock{};
  co_return 7;
}
static_assert(awaits_to<eff<int, door>, int> && std::same_as<eff<int, door>::value_type, int>);

struct doorkeeper : handler<door> {
  std::string on(door::knock k) const { return k.times > 1 ? "come in" : ""; }
  void on(door::lock) const { std::cout << "locked\n"; }
  int on(door::leave, resumption<never, int>) const { return 0; }  // drops the rest
};

int main() { std::cout << run(handle(doorkeeper(), visit())) << '\n'; }
