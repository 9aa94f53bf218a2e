// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/ports.hpp"

/// Sending to processes by their ids, on every backend: the same laws.

using all = row<proc, syncing, mail, routing, timing>;
using children = spawning<all>;
using program = eff<void, children, all>;

/// Sends m as soon as there is an inbox of that type.
template <class M>
eff<void, proc, routing> sends_when_open(process_id to, M m) {
  for (;;) {
    bool const there = co_await send(to, m);
    if (there) co_return;
    co_await proc::yield{};
  }
}

/// The received messages, as text.
struct heard {
  std::string text;
  counter refused = 0;
  counter said = 0;
};

// ---- one sender, one receiver

BACKENDS_TEST_CASE("a spawned process is sent to by the id that spawn yielded", "", on_one_thread,
                   in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  heard h;
  run_on(chosen, [&h]() -> program {
    process_id const child = co_await spawn(
        [](heard& to) -> program {
          auto in = co_await open_inbox<std::string>();
          process_id const me = co_await syncing::own{};
          to.refused = in.owner() == me ? 0 : 1;
          to.text = co_await in.receive();
        },
        std::ref(h));
    co_await sends_when_open(child, std::string("hello"));
  });
  CHECK(h.text == "hello");
  CHECK(h.refused == 0);
}

/// Sends first, first + 1, ... there, and sometimes lets other processes run.
program sends_from(process_id to, int first, int n) {
  co_await sends_when_open(to, first);
  for (int i = first + 1; i != first + n; ++i) {
    (void)co_await send(to, i);
    if (i % 3 == 0) co_await proc::yield{};
  }
}

BACKENDS_TEST_CASE(
    "the messages of each sender to a port come in its order, each once, unbounded and bounded", "",
    on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
    on_stealing<2>) {
  static constexpr int senders = 4;
  static constexpr int each = 60;
  for (std::size_t const capacity : {std::size_t{1}, std::size_t{2}, std::size_t{1'000'000}}) {
    every_frame_dies const check;
    std::vector<int> next(senders);
    counter in_order = 1;
    run_on(chosen, [&next, &in_order, capacity]() -> program {
      auto in = co_await open_inbox<int>({.capacity = capacity});
      for (int s = 0; s != senders; ++s) co_await spawn(sends_from, in.owner(), 1000 * s, each);
      for (int i = 0; i != senders * each; ++i) {
        int const m = co_await in.receive();
        if (m % 1000 != next[static_cast<std::size_t>(m / 1000)]++) in_order = 0;
      }
      auto const more = co_await in.try_receive();
      if (more) in_order = 0;
    });
    CAPTURE(capacity);
    CHECK(in_order == 1);
    CHECK(next == std::vector<int>(senders, each));
  }
}

BACKENDS_TEST_CASE("two processes play ping-pong, and know each other by id alone", "",
                   on_one_thread, in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  counter played = 0;
  run_on(chosen, [&played]() -> program {
    auto in = co_await open_inbox<int>();
    process_id const pong = co_await spawn(
        [](process_id to) -> program {
          auto from = co_await open_inbox<int>();
          for (;;) {
            int const n = co_await from.receive();
            bool const there = co_await send(to, n + 1);
            if (!there) co_return;
          }
        },
        in.owner());
    co_await sends_when_open(pong, 0);
    for (int i = 0; i != 500; ++i) {
      int const n = co_await in.receive();
      if (n == 2 * i + 1) ++played;
      (void)co_await send(pong, n + 1);
    }
    {
      auto const closed = std::move(in);
    }
    (void)co_await send(pong, 0);  // it finds that there is no inbox any more
  });
  CHECK(played == 500);
}

// ---- sends that yield false

BACKENDS_TEST_CASE(
    "a send yields false if the process never was, has ended, or has no inbox of that type", "",
    on_one_thread, in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<bool> said;
  run_on(chosen, [&said]() -> program {
    auto [done, is_done] = co_await open<int>();
    process_id const me = co_await syncing::own{};
    bool there = co_await send(me.child(99), 1);  // before there is any table
    said.push_back(there);
    there = co_await send(me, 1);  // no inbox
    said.push_back(there);

    auto in = co_await open_inbox<int>();
    there = co_await send(me.child(99), 1);
    said.push_back(there);
    there = co_await send(me, std::string("x"));  // another type
    said.push_back(there);
    there = co_await send(me, 1L);
    said.push_back(there);

    process_id const child = co_await spawn(
        [](address<int> to) -> program {
          auto own = co_await open_inbox<int>();
          int const n = co_await own.receive();
          (void)co_await to.send(n);
        },
        std::move(is_done));
    co_await sends_when_open(child, 7);
    for (auto m = co_await done.next(); m; m = co_await done.next()) {
    }
    // The process has dropped its address, and soon ends.
    for (there = true; there;) {
      co_await proc::yield{};
      there = co_await send(child, 1);
    }
    said.push_back(there);
    there = co_await send(me, 1);  // and this works
    said.push_back(there);
    int const own = co_await in.receive();
    said.push_back(own == 1);
  });
  CHECK(said == std::vector<bool>{false, false, false, false, false, false, true, true});
}

BACKENDS_TEST_CASE("after its inbox is destroyed a process is not sent to, until it opens another",
                   "", on_one_thread, in_random_order, on_locked_queue, on_locked_stack,
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<bool> said;
  run_on(chosen, [&said]() -> program {
    process_id const me = co_await syncing::own{};
    for (int i = 0; i != 3; ++i) {
      auto in = co_await open_inbox<int>();
      bool there = co_await send(me, i);
      said.push_back(there);
      int const n = co_await in.receive();
      said.push_back(n == i);
      {
        auto const gone = std::move(in);
      }
      there = co_await send(me, i);
      said.push_back(there);
    }
    auto words = co_await open_inbox<std::string>();  // of another type, even
    bool there = co_await send(me, 1);
    said.push_back(there);
    there = co_await send(me, std::string("x"));
    said.push_back(there);
  });
  CHECK(said ==
        std::vector<bool>{true, true, false, true, true, false, true, true, false, false, true});
}

TEST_CASE("a message that is not received is destroyed with its inbox, or at its send") {
  every_frame_dies const check;
  every_message_dies const too;
  schedule([]() -> program {
    auto in = co_await open_inbox<message>();
    bool const there = co_await send(in.owner(), message(1));
    bool const nobody = co_await send(in.owner().child(5), message(1));
    if (!there || nobody) throw std::logic_error("it is the other way round");
  });
}

// ---- many processes

BACKENDS_TEST_CASE("a thousand processes send to one another at random, and no message is lost", "",
                   on_one_thread, in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  static constexpr int many = 1000;
  static constexpr int each = 5;
  every_frame_dies const check;
  counter sent = 0;
  counter received = 0;
  counter open_now = 0;
  run_on(chosen, [&]() -> program {
    auto ids = std::make_shared<std::vector<process_id>>();
    ids->reserve(many);
    counter go = 0;
    auto const lives_on = [](std::shared_ptr<std::vector<process_id> const> to, unsigned seed,
                             std::array<counter*, 4> of) -> program {
      auto [sent_all, received_all, opened, begin] = of;
      auto in = co_await open_inbox<int>();
      ++*opened;
      while (*begin == 0) co_await proc::yield{};
      dice random(seed);
      for (int i = 0; i != each; ++i) {
        bool const there = co_await send((*to)[random(many)], 1);
        if (there) ++*sent_all;
        auto const m = co_await in.try_receive();
        if (m) *received_all += *m;
        co_await proc::yield{};
      }
      // Until no process sends any more.
      --*opened;
      while (*opened != 0) co_await proc::yield{};
      for (auto m = co_await in.try_receive(); m; m = co_await in.try_receive())
        *received_all += *m;
    };
    for (unsigned i = 0; i != many; ++i) {
      process_id const id = co_await spawn(
          lives_on, ids, i, std::array<counter*, 4>{&sent, &received, &open_now, &go});
      ids->push_back(id);
    }
    while (open_now != many) co_await proc::yield{};
    go = 1;
    while (open_now != 0) co_await proc::yield{};
    co_await proc::yield{};
  });
  CHECK(sent == many * each);
  CHECK(received == sent);
}

BACKENDS_TEST_CASE("of a hundred thousand processes no two have the same id", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  static int const wide = rounds(1000);
  static constexpr int deep = 100;
  std::vector<process_id> ids(static_cast<std::size_t>(wide) * deep);
  run_on(chosen, [&ids]() -> program {
    auto const descends = [](int left, process_id* at, auto self) -> program {
      process_id const me = co_await syncing::own{};
      *at = me;
      if (left != 1) co_await spawn(self, left - 1, at + 1, self);
    };
    for (int i = 0; i != wide; ++i) co_await spawn(descends, deep, ids.data() + i * deep, descends);
  });
  std::ranges::sort(ids);
  CHECK(std::ranges::adjacent_find(ids) == ids.end());
}

// ---- waiting

BACKENDS_TEST_CASE("receive_until finds nothing, or a message that has come by then", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::optional<int>> got;
  run_on(chosen, virtual_time(), [&got]() -> program {
    auto in = co_await open_inbox<int>();
    instant const start = co_await timing::now{};
    auto m = co_await in.receive_until(start + 10ms);
    got.push_back(m);
    co_await spawn(
        [](process_id to, instant t) -> program {
          co_await timing::sleep_until{t};
          (void)co_await send(to, 5);
        },
        in.owner(), start + 20ms);
    m = co_await in.receive_until(start + 30ms);
    got.push_back(m);
  });
  CHECK(got == std::vector<std::optional<int>>{{}, 5});
}

BACKENDS_TEST_CASE("a sender to a full inbox waits until there is room", "", on_one_thread,
                   in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  counter sent = 0;
  counter most_ahead = 0;
  run_on(chosen, [&]() -> program {
    auto in = co_await open_inbox<int>({.capacity = 2});
    co_await spawn(
        [](process_id to, counter& n) -> program {
          for (int i = 0; i != 50; ++i) {
            (void)co_await send(to, i);
            ++n;
          }
        },
        in.owner(), std::ref(sent));
    for (int i = 0; i != 50; ++i) {
      for (int turn = 0; turn != 3; ++turn) co_await proc::yield{};
      most_ahead = std::max(most_ahead.load(), sent - i);
      int const m = co_await in.receive();
      if (m != i) most_ahead = 100;
    }
  });
  CHECK(sent == 50);
  CHECK(most_ahead <= 3);  // the two that fit, and one that was let in before it was counted
}

BACKENDS_TEST_CASE("a sender that waits for room yields false when the inbox is destroyed", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  counter told = 0;
  run_on(chosen, [&told]() -> program {
    auto in = co_await open_inbox<int>({.capacity = 1});
    (void)co_await send(in.owner(), 0);
    for (int i = 0; i != 5; ++i)
      co_await spawn(
          [](process_id to, counter& n) -> program {
            bool const there = co_await send(to, 1);
            if (!there) ++n;
          },
          in.owner(), std::ref(told));
    for (int i = 0; i != 7; ++i) co_await proc::yield{};
  });
  CHECK(told == 5);
}

BACKENDS_TEST_CASE("if all processes wait for messages by id, the deadlock report says where", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  auto const what = text_of<std::exception>([chosen] {
    run_on(chosen, []() -> program {
      auto in = co_await open_inbox<int>();
      co_await spawn([]() -> program {
        auto own = co_await open_inbox<int>({.capacity = 1});
        for (int i = 0; i != 2; ++i) (void)co_await send(own.owner(), i);
      });
      (void)co_await in.receive();
    });
  });
  CHECK_THAT(what, Contains("weft::mail::receive at tests/sched/mail/routing_test.cpp"));
  CHECK_THAT(what, Contains("weft::routing::send at tests/sched/mail/routing_test.cpp"));
}

BACKENDS_TEST_CASE("a process that waits at its inbox is cancelled when another fails", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  counter told = 0;
  auto const what = text_of<std::exception>([chosen, &told] {
    run_on(chosen, [&told]() -> program {
      co_await spawn([]() -> program {
        co_await proc::yield{};
        throw std::runtime_error("enough");
      });
      auto in = co_await open_inbox<int>();
      try {
        (void)co_await in.receive();
      } catch (cancelled const&) {
        ++told;
        throw;
      }
    });
  });
  CHECK(what == "enough");
  CHECK(told == 1);
}

TEMPLATE_TEST_CASE("a shutdown unwinds waiting processes, and destroys their inboxes", "",
                   one_thread, random_order, locked_queue, sharing_among<2>, stealing_among<2>) {
  every_frame_dies const check;
  counter waiting = 0;
  counter told = 0;
  scheduler<TestType> s;
  s.start([&]() -> program {
    auto const waits = [](counter& begun, counter& ended) -> program {
      auto in = co_await open_inbox<int>();
      ++begun;
      try {
        (void)co_await in.receive();
      } catch (cancelled const&) {
        ++ended;
        throw;
      }
    };
    for (int i = 0; i != 20; ++i) co_await spawn(waits, std::ref(waiting), std::ref(told));
    while (told == 0) co_await proc::yield{};
  });
  std::thread other([&s, &waiting] {
    until([&waiting] { return waiting == 20; });
    (void)s.shut_down(std::chrono::hours(1));
  });
  auto const what = text_of<std::exception>([&s] { s.run(); });
  other.join();
  CHECK(told == 20);
  CHECK(what == "none");
}

TEST_CASE("an inbox keeps the id of the process that opened it, whichever process has it") {
  every_frame_dies const check;
  std::string got;
  schedule([&got]() -> program {
    auto in = co_await open_inbox<int>();
    process_id const me = in.owner();
    co_await spawn(
        [](routed_inbox<int> from, std::string& to) -> program {
          for (int i = 0; i != 2; ++i) {
            int const m = co_await from.receive();
            to += std::to_string(m);
          }
        },
        std::move(in), std::ref(got));
    (void)co_await send(me, 1);
    (void)co_await send(me, 2);
    for (int i = 0; i != 3; ++i) co_await proc::yield{};
    bool const there = co_await send(me, 3);
    got += there ? " there" : " gone";
  });
  CHECK(got == "12 gone");
}

TEST_CASE("a process selects among its inbox and its ports") {
  every_frame_dies const check;
  std::string got;
  schedule([&got]() -> program {
    auto in = co_await open_inbox<int>();
    auto [words, to] = co_await open<std::string>();
    (void)co_await to.send("a");
    auto m = co_await select(in.port(), words);
    got += std::to_string(m.index());
    (void)co_await send(in.owner(), 1);
    m = co_await select(in.port(), words);
    got += std::to_string(m.index());
    auto const own = in.get_address();
    (void)co_await own.send(2);
    auto const next = co_await in.next();
    got += std::to_string(*next);
  });
  CHECK(got == "102");
}

TEST_CASE("an inbox and its table may outlive the scheduler") {
  every_frame_dies const check;
  routed_inbox<int> kept;
  schedule([&kept]() -> program {
    kept = co_await open_inbox<int>();
    (void)co_await send(kept.owner(), 1);
  });
  CHECK(kept.owner() == process_id());
}

TEST_CASE("a forkable process that sends by id and is run again does not send again") {
  every_frame_dies const check;
  int sum = 0;
  schedule([&sum]() -> program {
    auto in = co_await open_inbox<int>();
    co_await spawn(forkable, [to = in.owner()]() -> program {
      (void)co_await send(to, 1);
      bool const clone = co_await proc::fork{};
      (void)co_await send(to, clone ? 10 : 100);
    });
    for (int i = 0; i != 3; ++i) {
      int const m = co_await in.receive();
      sum += m;
    }
    auto const more = co_await in.receive_until(instant::clock::now());
    if (more) sum += 1000;
  });
  CHECK(sum == 111);
}

// ---- refused uses

TEST_CASE("a second inbox of one process is refused, and the first still works") {
  every_frame_dies const check;
  std::string what;
  int got = 0;
  schedule([&]() -> program {
    co_await spawn(
        [](std::string& said, int& n) -> program {
          auto in = co_await open_inbox<int>();
          try {
            auto const second = co_await open_inbox<std::string>();
          } catch (std::logic_error const& e) {
            said = e.what();
          }
          (void)co_await send(in.owner(), 3);
          n = co_await in.receive();
        },
        std::ref(what), std::ref(got));
  });
  CHECK(what ==
        "weft: open_inbox: process 1.1 has an inbox already: a process has at most one inbox");
  CHECK(got == 3);
}

TEST_CASE("an inbox that was not opened, or was moved from, is refused") {
  std::string what;
  schedule([&what]() -> program {
    auto in = co_await open_inbox<int>();
    auto const moved = std::move(in);
    try {
      (void)co_await in.receive();
    } catch (std::logic_error const& e) {
      what = e.what();
    }
  });
  CHECK(what == "weft: a routed_inbox was used that was not opened, or was moved from");
  routed_inbox<int> none;
  CHECK_THROWS_WITH(none.try_receive(), Contains("not opened"));
  CHECK_THROWS_AS(none.owner(), std::logic_error);
  CHECK_THROWS_WITH(open_inbox<int>({.capacity = 0}), Contains("capacity of at least 1"));
}

TEST_CASE("opening an inbox seals the log: its process cannot fork") {
  auto const what = text_of<std::exception>([] {
    schedule([]() -> program {
      auto const in = co_await open_inbox<int>();
      co_await proc::fork{};
    });
  });
  CHECK_THAT(what, Contains("weft::routing::open at tests/sched/mail/routing_test.cpp"));
}
