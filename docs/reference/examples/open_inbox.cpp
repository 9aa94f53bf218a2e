// SPDX-License-Identifier: MIT
// Messages to a process by its id.
#include <array>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, mail, routing, proc, timing> child() {
  routed_inbox<int> in = co_await open_inbox<int>({.capacity = 1});
  for (int i = 0; i != 4; ++i) co_await proc::yield{};  // meanwhile the inbox is full
  instant const now = co_await timing::now{};
  int const a = co_await in.receive();
  auto const b = co_await in.receive_until(now + 1s);
  auto const none = co_await in.try_receive();
  std::cout << in.owner().text() << " got " << a << " and " << *b << ", then " << none.value_or(0)
            << '\n';
  address<int> const own = in.get_address();
  co_await own.send(7);
  auto const c = co_await in.next();
  co_await own.send(8);
  auto const d = co_await select(in.port());  // the inbox beneath
  co_await own.send(9);
  std::array<int, 4> some;
  std::size_t const n = co_await in.receive_many(some);
  std::cout << *c << std::get<0>(d) << some[0] << n << '\n';
}

eff<void, spawning<mail, routing, proc, timing>, routing, proc, timing> program() {
  process_id const to = co_await spawn(child);
  bool const early = co_await send(to, 1);  // it has not opened its inbox yet
  co_await proc::yield{};
  bool const there = co_await send(to, 1);
  auto const full = co_await try_send(to, 2);
  instant const now = co_await timing::now{};
  auto const waits = co_await send_until(now + 1s, to, 3);
  std::cout << early << there << bool(full) << bool(waits) << '\n';
}

int main() { schedule({.virtual_time = true}, program); }
