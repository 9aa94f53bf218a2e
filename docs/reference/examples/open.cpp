// SPDX-License-Identifier: MIT
// A port: its inbox and its address; messages that wait, a receiver that waits, and no sender left.
#include <array>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <optional>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, mail> sends(address<int> to) {
  for (int i = 1; i <= 3; ++i) co_await to.send(i);
}  // the address goes, and with it the last sender

eff<void, spawning<mail>, mail, timing> program() {
  ports<int> both = co_await open<int>(port_options{.capacity = 2});
  inbox<int> in = std::move(both.in);
  std::optional<int> const early = co_await in.try_receive();
  instant const now = co_await timing::now{};
  std::optional<int> const late = co_await in.receive_until(now + 1s);
  std::cout << early.has_value() << late.has_value() << '\n';

  co_await spawn(sends, std::move(both.to));
  int const first = co_await in.receive();
  std::cout << first << '\n';
  for (auto m = co_await in.next(); m; m = co_await in.next()) std::cout << *m << '\n';
  try {
    co_await in.receive();
  } catch (no_senders const&) {
    std::cout << "no_senders\n";
  }
  address<int> const again = in.get_address();
  std::cout << (again == in.get_address()) << '\n';

  std::array<int, 3> all{4, 5, 6};
  std::size_t const sent = co_await again.send_many(all);  // there is room for two
  std::array<int, 8> some;
  std::size_t const received = co_await in.receive_many(some);
  std::cout << sent << ' ' << received << ": " << some[0] << some[1] << '\n';
}

int main() { schedule({.virtual_time = true}, program); }
