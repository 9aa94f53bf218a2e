// SPDX-License-Identifier: MIT
#pragma once

#include <weft/effects/effects.hpp>

/// Two processes that take turns.

inline weft::eff<void, weft::proc, weft::console> first() {
  using namespace weft;
  co_await console::print_line{"hello 1"};
  co_await proc::yield{};
  co_await console::print_line{"1"};
  co_await proc::yield{};
  co_await console::print_line{"2"};
  co_await proc::exit{};
  co_await console::print_line{"3"};  // never printed
}

inline weft::eff<void, weft::proc, weft::console> second() {
  using namespace weft;
  co_await console::print_line{"hello 2"};
  co_await proc::yield{};
  co_await console::print_line{"4"};
  co_await proc::yield{};
  co_await console::print_line{"5"};
  co_await proc::yield{};
  co_await console::print_line{"6"};
}

inline weft::eff<void, weft::proc, weft::console> hello() { co_await weft::fork(first, second); }
