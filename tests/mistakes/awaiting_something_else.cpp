// SPDX-License-Identifier: MIT

/// Mistake: something that weft does not know

#include <future>

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> asks(std::future<int> f) { co_return co_await f; }
int main() {
  return run(asks(std::async([] { return 42; })));
}
