// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/ports.hpp"
#include "weft/sched/runtime/submitter.hpp"

/// Sending by id while inboxes open and close on other threads.

using children = spawning<proc, syncing, mail, routing>;
using program = eff<void, children, proc, syncing, mail, routing>;

struct counts {
  counter said_true = 0;
  counter said_false = 0;
  counter received = 0;
  counter left = 0;  // processes that still open and close
};

/// Opens an inbox, takes a few messages, destroys it, and again.
program opens_and_closes(counts& of, unsigned seed, int times) {
  dice random(seed);
  for (int i = 0; i != times; ++i) {
    auto in = co_await open_inbox<message>({.capacity = 1 + random(3)});
    for (auto n = random(4); n != 0; --n) {
      auto const m = co_await in.try_receive();
      if (m) ++of.received;
      co_await proc::yield{};
    }
  }
  --of.left;
}
/// Sends to all of them, while a process is left that may open an inbox again.
program sends_to_all(counts& of, std::vector<process_id> to, unsigned seed) {
  dice random(seed);
  for (int i = 0; of.left != 0; ++i) {
    process_id const id = to[random(static_cast<unsigned>(to.size()))];
    bool const there = co_await send(id, message(i));
    ++(there ? of.said_true : of.said_false);
    if (i % 4 == 0) co_await proc::yield{};
  }
}

BACKENDS_TEST_CASE("sends race with inboxes that open and close, and no message is kept or lost",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<2>, on_stealing<8>) {
  static constexpr int keepers = 4;
  int const times = rounds(20'000);
  every_frame_dies const check;
  every_message_dies const too;
  counts all;
  all.left = keepers;
  run_on(chosen, [&all, times]() -> program {
    std::vector<process_id> ids;
    for (unsigned i = 0; i != keepers; ++i) {
      process_id const id = co_await spawn(opens_and_closes, std::ref(all), i, times);
      ids.push_back(id);
    }
    for (unsigned i = 0; i != 4; ++i) co_await spawn(sends_to_all, std::ref(all), ids, 100 + i);
  });
  CHECK(all.left == 0);
  CHECK(all.received <= all.said_true);  // the others were destroyed with their inboxes
  CHECK(all.received > 0);
  CHECK(all.said_false > 0);
}

BACKENDS_TEST_CASE("a process that waits at its inbox is woken by a send of any thread to its id",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<2>, on_stealing<8>) {
  static constexpr std::size_t ring = 16;
  int const hops = rounds(50'000);
  every_frame_dies const check;
  counter made = 0;
  run_on(chosen, [&made, hops]() -> program {
    // Each process receives the id of the next; a token goes round; the last hop goes round as an
    // end.
    auto const passes_on = [](int most, counter& all) -> program {
      auto next = co_await open_inbox<process_id>();
      process_id const to = co_await next.receive();
      {
        auto const told = std::move(next);
      }
      auto in = co_await open_inbox<int>();
      for (;;) {
        int const n = co_await in.receive();
        if (n < most) ++all;
        bool there = co_await send(to, n < most ? n + 1 : n);
        while (!there && n < most) {  // the next process is about to open it
          co_await proc::yield{};
          there = co_await send(to, n + 1);
        }
        if (n >= most) co_return;
      }
    };
    std::vector<process_id> ids;
    for (std::size_t i = 0; i != ring; ++i) {
      process_id const id = co_await spawn(passes_on, hops, std::ref(made));
      ids.push_back(id);
    }
    for (std::size_t i = 0; i != ring; ++i)
      for (bool there = false; !there;) {
        there = co_await send(ids[i], ids[(i + 1) % ring]);
        if (!there) co_await proc::yield{};
      }
    for (bool there = false; !there;) {
      there = co_await send(ids[0], 0);
      if (!there) co_await proc::yield{};
    }
  });
  CHECK(made == hops);
}

TEST_CASE("threads outside submit processes, and send to them by the ids that submit yields") {
  every_frame_dies const check;
  counter received = 0;
  static int const each = rounds(500);
  scheduler<sharing_among<2>> s;
  s.start([]() -> program { co_return; });
  {
    auto outside = s.submitter<spawning<proc, syncing, mail, routing>, proc, mail, routing>();
    auto const submits = [&received](auto to) {
      for (int i = 0; i != each; ++i) {
        auto const takes = [](counter& n) -> eff<void, mail, routing> {
          auto in = co_await open_inbox<int>();
          n += co_await in.receive();
        };
        process_id const id = to.submit(takes, std::ref(received));
        auto const sends = [](process_id who) -> eff<void, proc, routing> {
          for (bool there = false; !there;) {
            there = co_await send(who, 1);
            if (!there) co_await proc::yield{};
          }
        };
        (void)to.submit(sends, id);
      }
    };
    std::array<std::thread, 2> others{std::thread(submits, outside), std::thread(submits, outside)};
    {
      auto const gone = std::move(outside);
    }
    s.run();
    for (auto& t : others) t.join();
  }
  CHECK(received == 2 * each);
}
