// SPDX-License-Identifier: MIT
#include "tests/durable/support.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"

/// Waits of processes that are let go of, while messages come that they do not wait for.

using row = durable::all<world>;

eff<int, row> waits_long(bool for_a_message) {
  if (!for_a_message) {
    co_await timing::sleep_for{100h};
    co_return 1;
  }
  auto const begin = co_await timing::now{};
  auto const m = co_await durable::receive_until<std::string>(begin + 100h);
  co_return m ? 2 : 1;
}
constexpr durable::function waits_long_process{"waits long", 1, waits_long};
eff<void, row> disturbs(int n) {
  for (int i = 0; i != n; ++i) {
    co_await durable::send("w", i);
    co_await timing::sleep_for{1h};
  }
}
constexpr durable::function disturbs_process{"disturbs", 1, disturbs};

TEST_CASE("a message that a process does not wait for leaves it the time of its wait") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 0s, 30min, 2h, 200h);
  o.max_batch = GENERATE(1U, 1'000U);
  durable::engine e(o, *s, waits_long_process, disturbs_process);
  e.start("w", waits_long_process, GENERATE(false, true));
  e.start("d", disturbs_process, 3);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.result<int>("w") == 1);
  CHECK(s->load(s->find("w")->key).inbox.size() == 3);
}
