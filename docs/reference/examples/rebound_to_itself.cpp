// SPDX-License-Identifier: MIT
// A body cannot be resumed under a handler that performs to that same body.
#include <iostream>
#include <utility>

#include <weft/effects/effects.hpp>
using namespace weft;

struct halt {
  struct [[nodiscard]] here : op<void> {};
  using operations = op_list<here>;
};
struct tick {
  struct [[nodiscard]] now : op<void> {};
  using operations = op_list<now>;
};
struct parks : region {  // keeps the inner body
  resumption<void> inner;
  void on(tick::now, resumption<void> k) { inner = std::move(k); }
};
struct keeps : region, handler<halt>, rebinds<reader<int>> {  // keeps the outer one
  resumption<void, void, reader<int>> outer_body;
  void on(halt::here, resumption<void, void, reader<int>> k) { outer_body = std::move(k); }
};
eff<void, reader<int>> go_on(resumption<void, void, reader<int>> k) {
  co_await std::move(k).under();
}

int main() {
  keeps k;
  parks p;
  auto const inner = [&k]() -> eff<void, tick, reader<int>> {
    co_await tick::now{};  // from here on the outer body is suspended
    auto const passes = [](reader<int>::ask, outer<reader<int>> up) {
      return up(reader<int>::ask{});
    };
    try {
      co_await handle<reader<int>>(passes, go_on(std::move(k.outer_body)));
    } catch (rebound_to_itself const&) {
      std::cout << "rebound_to_itself\n";
    }
  };
  auto const body = [&]() -> eff<void, reader<int>, halt> {
    co_await handle<tick>(p, inner);
    co_await halt::here{};
  };
  run(handle(reader_of(1), handle(k, body)));
  resume(std::move(p.inner));
}
