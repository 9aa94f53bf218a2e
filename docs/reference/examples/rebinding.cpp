// SPDX-License-Identifier: MIT
// rebinds: a continuation that is resumed under other handlers, once or several times.
#include <iostream>
#include <utility>

#include <weft/effects/effects.hpp>
using namespace weft;

struct poking {
  struct [[nodiscard]] poke : op<void> {
    explicit poke(int n) : value(n) {}
    int value;
  };
  using operations = op_list<poke>;
};

eff<int, reader<int>> go_on(resumption<void, int, reader<int>> k) {
  co_return co_await std::move(k).under();  // under the handlers of this coroutine
}
struct pokes : handler<poking>, rebinds<reader<int>> {
  eff<int, reader<int>> on(poking::poke p, resumption<void, int, reader<int>> k) const {
    co_return co_await handle(reader_of(p.value), go_on(std::move(k)));
  }
};

eff<int, reader<int>> go_on_again(multi_resumption<void, int, reader<int>> k) {
  co_return co_await k.under();
}
struct pokes_twice : handler<poking>, rebinds<reader<int>> {
  eff<int, reader<int>> on(poking::poke p, multi_resumption<void, int, reader<int>> k) const {
    int const a = co_await handle(reader_of(p.value), go_on_again(k));
    int const b = co_await handle(reader_of(2 * p.value), go_on_again(std::move(k)));
    co_return 1000 * a + b;
  }
};

eff<int, poking, reader<int>> body() {
  int const before = co_await reader<int>::ask{};
  co_await poking::poke(40);
  int const after = co_await reader<int>::ask{};
  co_return before + after;
}

int main() {
  std::cout << run(handle(pokes() | reader_of(2), [] { return body(); })) << '\n';
  std::cout << run(handle(pokes_twice() | reader_of(2), [] { return body(); })) << '\n';
}
