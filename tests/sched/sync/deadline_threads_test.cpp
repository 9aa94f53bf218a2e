// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Messages that come at the deadline: one thread wakes the receiver, while another looks at its
/// deadline.

constexpr int messages = 8000;

struct received {
  int count = 0;
  long sum = 0;
};

eff<void, mail, proc> sends(address<int> first, address<int> second) {
  for (int i = 0; i != messages; ++i) {
    co_await first.send(i);
    co_await second.send(i);
    co_await proc::yield{};
  }
}
eff<void, mail, timing> receives(inbox<int> first, inbox<int> second, received* all) {
  try {
    for (;;) {
      instant const now = co_await timing::now{};
      auto const m = co_await select_until(now + 1us, first, second);
      if (!m) continue;
      ++all->count;
      all->sum += m->index() == 0 ? std::get<0>(*m) : std::get<1>(*m);
    }
  } catch (no_senders const&) {
  }
}
eff<void, mail, spawning<mail, timing, proc>> several(received* first, int n) {
  for (int i = 0; i != n; ++i) {
    auto [in, to] = co_await open<int>();
    auto [other_in, to_other] = co_await open<int>();
    co_await spawn(sends, to, to_other);
    co_await spawn(sends, std::move(to_other), std::move(to));
    co_await spawn(receives, std::move(in), std::move(other_in), first + i);
  }
}

TEST_CASE("a message and its deadline may come at the same time, on several threads") {
  unsigned const threads = GENERATE(2u, 8u);
  received all[4];
  schedule<sharing>({.threads = threads, .forkable = false},
                    [first = all] { return several(first, 4); });
  for (received const& r : all) {
    CHECK(r.count == 4 * messages);
    CHECK(r.sum == 4L * messages * (messages - 1) / 2);
  }
}
