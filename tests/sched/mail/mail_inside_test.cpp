// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/ports.hpp"

/// Ports together with everything else that a process does or undergoes: forks, handlers, other
/// schedulers, failures, steps.

using children = spawning<proc, console, syncing, mail, timing>;
using program = eff<void, children, proc, console, syncing, mail, timing>;

// ---- checkpoints

TEST_CASE("a process that is woken because a checkpoint drops another process is dropped as well") {
  every_frame_dies const check;
  std::optional<address<int>> on_the_way;
  auto const second = [&on_the_way]() -> program {
    auto [in, to] = co_await open<int>();
    on_the_way.emplace(std::move(to));
    (void)co_await in.next();
    co_await say("told ");
  };
  auto const first = [&on_the_way]() -> program {
    auto [in, to] = co_await open<int>();
    co_await proc::yield{};
    address<int> const its_last = std::move(*on_the_way);
    on_the_way.reset();
    (void)co_await in.next();
  };
  scheduler<> s;
  std::string text;
  s.start(
      [&]() -> program {
        co_await spawn(forkable, first);
        co_await spawn(forkable, second);
      },
      console_to_string(text));
  auto const here = s.checkpoint();
  for (int i = 0; i != 4; ++i) CHECK(s.step());
  CHECK(s.alive() == 2);
  CHECK_THROWS_AS(s.run(here), deadlock);
  CHECK(text.empty());
}

// ---- forks

TEST_CASE(
    "a process that has opened a port can no longer fork, and the message says where it did") {
  auto const p = []() -> program {
    co_await proc::fork{};
    auto [in, to] = co_await open<int>();
    co_await proc::yield{};
    co_await proc::fork{};
    co_await say("never");
  };
  CHECK_THAT(end_of(p), Contains("weft::proc::fork at tests/sched/mail/mail_inside_test.cpp:") &&
                            Contains("weft::mail::open at tests/sched/mail/mail_inside_test.cpp:"));
}

TEST_CASE(
    "a process that has received, or tried to, can no longer fork, and the message says where") {
  for (int how = 0; how != 4; ++how) {
    auto const p = [how]() -> program {
      auto [in, to] = co_await open<int>();
      co_await to.send(1);
      co_await spawn(forkable, [&in, how]() -> program {
        switch (how) {
          case 0:
            (void)co_await in.next();
            break;
          case 1:
            (void)co_await in.try_receive();
            break;
          case 2:
            (void)co_await in.receive_until(instant());
            break;
          case 3:
            (void)co_await select(in);
            break;
        }
        co_await proc::yield{};
        co_await proc::fork{};
        co_await say("never");
      });
      {
        auto const last = std::move(to);
      }
      for (int i = 0; i != 3; ++i) co_await proc::yield{};
    };
    CAPTURE(how);
    std::string const end = end_of(p);
    CHECK_THAT(end, Contains("weft::mail::receive at tests/sched/mail/mail_inside_test.cpp:"));
    CHECK_THAT(end, !Contains("never"));
  }
}

TEST_CASE("a process that sends and is run again does not send again") {
  for (std::size_t const capacity : {1U, 2U, 100U}) {
    every_message_dies const messages;
    auto const p = [capacity]() -> program {
      auto [in, to] = co_await open<message>({.capacity = capacity});
      {
        // Named, as g++ 12 destroys closures twice that are made in a co_await expression.
        auto const child = [last = std::move(to)]() -> program {
          co_await last.send(1);
          bool const a = co_await proc::fork{};
          co_await last.send(a ? 2 : 3);
          bool const b = co_await proc::fork{};
          bool const was_sent = co_await last.send(b ? 4 : 5);
          if (!was_sent) co_await say("refused ");
        };
        co_await spawn(forkable, child);
      }
      std::vector<int> all;
      for (;;) {
        auto const m = co_await in.next();
        if (!m) break;
        all.push_back(m->value());
      }
      std::ranges::sort(all);
      for (int const m : all) co_await say(text(m));
    };
    CHECK(printed_by(p) == "1 2 3 4 4 5 5 ");
  }
}

TEST_CASE("a send that was refused is refused in the next run as well") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>({.capacity = 1});
    auto const child = [to]() -> program {
      bool const first = co_await to.send(1);
      bool const second = co_await to.send(2);  // waits until the inbox is destroyed
      bool const third = co_await to.send(3);
      co_await proc::fork{};
      co_await say(std::string(first ? "yes " : "no ") + (second ? "yes " : "no ") +
                   (third ? "yes " : "no "));
    };
    co_await spawn(forkable, child);
    co_await proc::yield{};
    {
      auto const mine = std::move(in);
    }
  };
  CHECK(printed_by(p) == "yes no no yes no no ");
}

// ---- inside handlers

using asking = eff<void, ask, children, proc, console, syncing, mail, timing>;

asking sends_inside(address<int> to) {
  for (int i = 0; i != 3; ++i) {
    int const n = co_await ask::get{};
    co_await to.send(n + i);
  }
}
asking receives_inside(inbox<int>& in) {
  for (int i = 0; i != 3; ++i) {
    int const n = co_await ask::get{};
    int const m = co_await in.receive();
    co_await say(text(n + m));
  }
}
program handles_a_sender(address<int> to) {
  co_await handle<ask>(answers{10}, sends_inside(std::move(to)));
}
program handles_a_receiver(inbox<int> in) {
  co_await handle<ask>(answers{100}, receives_inside(in));
}

TEST_CASE("processes send and receive inside handlers, in either order") {
  for (bool const receiver_first : {false, true})
    for (std::size_t const capacity : {1U, 100U}) {
      auto const p = [receiver_first, capacity]() -> program {
        auto [in, to] = co_await open<int>({.capacity = capacity});
        if (receiver_first) co_await spawn(handles_a_receiver, std::move(in));
        co_await spawn(handles_a_sender, std::move(to));
        if (!receiver_first) co_await spawn(handles_a_receiver, std::move(in));
      };
      CHECK(printed_by(p) == "110 111 112 ");
    }
}

TEST_CASE("a region that ends while a process receives in its body ends that process") {
  every_message_dies const messages;
  for (int how = 0; how != 3; ++how) {
    every_frame_dies const check;
    std::string said;
    auto lost = std::make_unique<parks>();
    auto const p = [&lost, how]() -> program {
      auto [in, to] = co_await open<message>();
      auto [other, far] = co_await open<message>();
      co_await spawn(
          [](parks& by, inbox<message>& mine, inbox<message>& another, int h) -> program {
            auto const body = [&mine, &another,
                               h]() -> eff<void, tick, proc, console, syncing, mail, timing> {
              if (h == 0) (void)co_await mine.receive();
              if (h == 1) (void)co_await mine.receive_until(instant::clock::now() + 1h);
              if (h == 2) (void)co_await select(another, mine);
              co_await say("never");
            };
            co_await handle<tick>(by, body);
          },
          std::ref(*lost), std::ref(in), std::ref(other), how);
      co_await proc::yield{};
      lost.reset();
      co_await to.send(7);  // no process waits there any more
      co_await say("sent ");
      auto const m = co_await in.try_receive();
      std::string const left = m ? text(m->value()) : "nothing ";
      co_await say(left);
    };
    try {
      schedule(p, console_to_string(said));
    } catch (resumption_expired const& e) {
      said += e.what();
    }
    CAPTURE(how);
    CHECK_THAT(said, Contains("sent 7 ") && Contains("was suspended by weft::mail::receive at ") &&
                         !Contains("never"));
  }
}

TEST_CASE("a region that ends while a process waits for room in its body destroys the message") {
  every_message_dies const messages;
  every_frame_dies const check;
  std::string said;
  auto lost = std::make_unique<parks>();
  auto const p = [&lost]() -> program {
    auto [in, to] = co_await open<message>({.capacity = 1});
    co_await to.send(1);
    co_await spawn(
        [](parks& by, address<message> a) -> program {
          auto const body = [&a]() -> eff<void, tick, mail> { co_await a.send(2); };
          co_await handle<tick>(by, body);
        },
        std::ref(*lost), to);
    co_await spawn([](address<message> a) -> program { co_await a.send(3); }, std::move(to));
    co_await proc::yield{};
    lost.reset();
    for (;;) {
      auto const m = co_await in.next();
      if (!m) break;
      co_await say(text(m->value()));
    }
  };
  try {
    schedule(p, console_to_string(said));
  } catch (resumption_expired const& e) {
    said += e.what();
  }
  CHECK_THAT(
      said, Contains("1 ") && !Contains("2 ") && Contains("was suspended by weft::mail::send at "));
}

TEST_CASE("a process inside a body that is resumed bitwise may send and receive, but not wait") {
  every_frame_dies const check;
  std::string said;
  std::vector<std::string> refused;
  auto const p = [&refused]() -> program {
    auto [in, to] = co_await open<int>({.capacity = 3});
    auto const picks_and_sends = [&to]() -> eff<int, pick, mail> {
      int const n = co_await pick::one{};
      co_await to.send(n);
      co_return n;
    };
    auto const picks_and_takes = [&in]() -> eff<int, pick, mail> {
      int const n = co_await pick::one{};
      int const m = co_await in.receive();
      co_return 10 * n + m;
    };
    auto const both_sent = co_await handle<pick>(tries_picks<>{2}, picks_and_sends, bitwise());
    auto const both = co_await handle<pick>(tries_picks<>{2}, picks_and_takes, bitwise());
    for (int const n : both_sent) co_await say(text(n));
    for (int const n : both) co_await say(text(n));
    try {
      (void)co_await handle<pick>(tries_picks<>{2}, picks_and_takes, bitwise());
    } catch (frames_in_use const& e) {
      refused.emplace_back(e.what());
    }
    for (int i = 0; i != 3; ++i) co_await to.send(i);
    try {
      (void)co_await handle<pick>(tries_picks<>{2}, picks_and_sends, bitwise());
    } catch (frames_in_use const& e) {
      refused.emplace_back(e.what());
    }
    int const first = co_await in.receive();
    co_await say(text(first));
  };
  schedule({.forkable = false}, p, console_to_string(said));
  CHECK(said == "0 1 0 11 0 ");
  REQUIRE(refused.size() == 2);
  CHECK_THAT(refused[0], Contains("weft::mail::receive at tests/sched/mail/mail_inside_test.cpp:"));
  CHECK_THAT(refused[1], Contains("weft::mail::send at tests/sched/mail/mail_inside_test.cpp:"));
}

TEST_CASE("a body that is run again sends and receives once, and gets the same results") {
  for (bool const log : {false, true}) {
    every_frame_dies const check;
    std::string said;
    auto const p = []() -> program {
      auto [in, to] = co_await open<int>();
      for (int i = 0; i != 3; ++i) co_await to.send(i);
      auto const body = [&in, &to]() -> eff<int, pick, mail> {
        co_await to.send(9);
        int const n = co_await pick::one{};
        co_await to.send(n);
        auto const second = co_await in.try_receive();
        co_return 100 * n + second.value_or(-1);
      };
      auto const all = co_await handle<pick>(tries_picks<>{2}, body);
      for (int const n : all) co_await say(text(n));
      for (auto m = co_await in.try_receive(); m; m = co_await in.try_receive())
        co_await say("left " + text(*m));
      auto const waits = [&in]() -> eff<int, pick, mail> {
        (void)co_await pick::one{};
        auto const none = co_await in.try_receive();
        co_return none ? 1 : 0;
      };
      auto const none = co_await handle<pick>(tries_picks<>{2}, waits);
      for (int const n : none) co_await say(text(n));
    };
    schedule({.forkable = log}, p, console_to_string(said));
    CHECK(said == "0 101 left 2 left 9 left 0 left 1 0 0 ");
  }
}

// ---- other schedulers

TEST_CASE("a port belongs to the scheduler in which it was opened, and may outlive it") {
  every_frame_dies const check;
  every_message_dies const messages;
  std::optional<ports<message>> kept;
  schedule([&kept]() -> eff<void, mail> {
    kept.emplace(co_await open<message>());
    co_await kept->to.send(1);
  });
  REQUIRE(kept);
  std::string said;
  schedule(
      [&kept]() -> program {
        for (int how = 0; how != 4; ++how) {
          std::string why = "none ";
          try {
            if (how == 0) (void)co_await kept->to.send(2);
            if (how == 1) (void)co_await kept->in.receive();
            if (how == 2) (void)co_await kept->in.try_receive();
            if (how == 3) (void)co_await select(kept->in);
          } catch (std::logic_error const& e) {
            why = e.what();
          }
          if (why == "weft: this port was opened in another scheduler") why = "refused ";
          co_await say(why);
        }
      },
      console_to_string(said));
  CHECK(said == "refused refused refused refused ");
  auto copy = kept->to;
  CHECK(kept->in.get_address() == copy);
  inbox<message> const moved = std::move(kept->in);
  kept.reset();
}

TEST_CASE("a process that is refused another scheduler's port is refused in its next run too") {
  std::optional<ports<int>> kept;
  schedule([&kept]() -> eff<void, mail> { kept.emplace(co_await open<int>()); });
  auto const p = [&kept]() -> program {
    std::string why = "none ";
    try {
      (void)co_await kept->to.send(2);
    } catch (std::logic_error const&) {
      why = "refused ";
    }
    co_await proc::fork{};
    co_await say(why);
  };
  CHECK(printed_by(p) == "refused refused ");
}

TEST_CASE("a port of the scheduler outside is refused, also while the process outside sends") {
  std::string said;
  schedule(
      [&said]() -> program {
        auto [in, to] = co_await open<int>();
        co_await to.send(1);
        co_await to.send(2);  // is done directly
        schedule(
            [outer = to]() -> program {
              auto [own_in, own] = co_await open<int>();
              co_await own.send(1);
              co_await own.send(2);
              std::string how = "sent ";
              try {
                co_await outer.send(3);
              } catch (std::logic_error const&) {
                how = "refused ";
              }
              co_await say(how);
            },
            console_to_string(said));
        co_await to.send(4);
        for (int i = 0; i != 3; ++i) co_await say(std::to_string(co_await in.receive()) + " ");
      },
      console_to_string(said));
  CHECK(said == "refused 1 2 4 ");
}

TEST_CASE("ends of a port that are destroyed outside the scheduler wake the waiters inside") {
  every_frame_dies const check;
  std::string said;
  std::optional<address<int>> far;
  std::optional<inbox<int>> near;
  scheduler<> s;
  s.start(
      [&]() -> program {
        auto [in, to] = co_await open<int>();
        far.emplace(std::move(to));
        auto [other, full] = co_await open<int>({.capacity = 1});
        near.emplace(std::move(other));
        co_await spawn(
            [](address<int> a) -> program {
              co_await a.send(1);
              bool const was_sent = co_await a.send(2);
              co_await say(was_sent ? "sent " : "refused ");
            },
            std::move(full));
        co_await receives_all(std::move(in));
      },
      console_to_string(said));
  for (int i = 0; i != 2; ++i) s.step();
  CHECK(said.empty());
  // In a process of another scheduler, and in no process.
  schedule([&far]() -> eff<void, proc> {
    far.reset();
    co_await proc::yield{};
  });
  near.reset();
  s.run();
  CHECK(said == "end refused ");
}

TEST_CASE(
    "a scheduler that is destroyed before its processes end unwinds those that wait at ports") {
  every_frame_dies const check;
  every_message_dies const messages;
  std::optional<ports<message>> kept;
  {
    scheduler<> s;
    s.start([&kept]() -> eff<void, spawning<proc, mail>, proc, mail> {
      kept.emplace(co_await open<message>({.capacity = 1}));
      co_await kept->to.send(0);
      for (int i = 0; i != 3; ++i)
        co_await spawn(
            [](address<message> to, int n) -> eff<void, proc, mail> {
              auto [in, mine] = co_await open<message>();
              co_await to.send(n);
              co_await mine.send(n);
              (void)co_await in.receive();
              (void)co_await in.receive();
            },
            kept->to, i);
      auto [in, to] = co_await open<message>();
      auto [another, far] = co_await open<message>();
      (void)co_await select(in, another);
    });
    for (int i = 0; i != 6; ++i) s.step();
  }
  bool const is_there = kept.has_value();
  CHECK(is_there);
}

// ---- failures

TEST_CASE("a deadlock report names receivers, selecting receivers and waiting senders, each once") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>({.capacity = 1});
    auto [other, far] = co_await open<int>();
    co_await to.send(0);
    for (int i = 0; i != 2; ++i)
      co_await spawn([](address<int> a) -> program { co_await a.send(1); }, to);
    co_await spawn(
        [](inbox<int> a, address<int>) -> program {
          auto [b, mine] = co_await open<int>();
          (void)co_await select(a, b);
        },
        std::move(other), far);
    auto [empty, last] = co_await open<int>();
    (void)co_await empty.receive();
  };
  every_frame_dies const check;
  std::string who;
  std::string text;
  try {
    schedule(p, console_to_string(text));
  } catch (deadlock const& e) {
    for (auto const& w : e.all)
      who += w.process.text() + ' ' + w.what.substr(0, w.what.find(" at ")) + ' ';
    text = e.what();
  }
  CHECK(who ==
        "1 weft::mail::receive 1.1 weft::mail::send 1.2 weft::mail::send "
        "1.3 weft::mail::receive ");
  CHECK_THAT(text, Contains("at tests/sched/mail/mail_inside_test.cpp:"));
}

TEST_CASE(
    "a failure cancels the processes that wait at ports, and the failing process loses its inbox") {
  every_message_dies const messages;
  auto const p = []() -> program {
    auto [in, to] = co_await open<message>({.capacity = 1});
    auto const tells = [](address<message> a, int n) -> program {
      std::string found = "sent ";
      try {
        for (int i = 0; i != 3; ++i) {
          bool const was_sent = co_await a.send(n + i);
          if (!was_sent) found = "refused ";
        }
      } catch (cancelled const&) {
        found = "cancelled ";
      }
      co_await say(found);
    };
    co_await spawn(tells, to, 0);
    auto [empty, its] = co_await open<message>();
    co_await spawn(
        [](inbox<message> mine) -> program {
          std::string found = "none ";
          try {
            (void)co_await mine.receive();
          } catch (cancelled const&) {
            found = "receiver cancelled ";
          }
          co_await say(found);
        },
        std::move(empty));
    co_await proc::yield{};
    throw std::runtime_error("the owner");
  };
  std::string const end = end_of(p);
  CHECK_THAT(end, Contains("[the owner]") && !Contains("sent "));
}

TEST_CASE("a process that ends by exit destroys its inbox and its address") {
  every_message_dies const messages;
  auto const p = []() -> program {
    auto [in, to] = co_await open<message>();
    co_await spawn(
        [](inbox<message> mine, address<message> last) -> program {
          co_await last.send(1);
          co_await proc::yield{};
          (void)mine;
          co_await proc::exit{};
        },
        std::move(in), to);
    co_await proc::yield{};
    bool const first = co_await to.send(2);
    co_await proc::yield{};
    bool const second = co_await to.send(3);
    co_await say(std::string(first ? "yes " : "no ") + (second ? "yes " : "no "));
  };
  CHECK(printed_by(p) == "yes no ");
}

TEST_CASE("a stop request cancels the processes that wait at ports") {
  every_message_dies const messages;
  std::stop_source source;
  schedule_options how;
  how.stop = source.get_token();
  std::string said;
  every_frame_dies const check;
  auto const p = [&source]() -> program {
    auto [in, to] = co_await open<message>({.capacity = 1});
    co_await to.send(1);
    for (bool const receives : {false, true})
      co_await spawn(
          [](address<message> a, bool waits_for_one) -> program {
            std::string found = "none ";
            auto [mine, last] = co_await open<message>();
            try {
              if (waits_for_one)
                (void)co_await mine.receive_until(instant::clock::now() + 1h);
              else
                (void)co_await a.send(2);
            } catch (cancelled const&) {
              found = "cancelled ";
            }
            co_await say(found);
          },
          to, receives);
    co_await proc::yield{};
    source.request_stop();
    for (;;) co_await proc::yield{};
  };
  CHECK_THROWS_AS(schedule(how, p, console_to_string(said)), cancelled);
  CHECK(said == "cancelled cancelled ");
}

TEST_CASE("a process that ignores its cancellation, and receives again, is unwound") {
  for (int how = 0; how != 3; ++how) {
    int tries = 0;
    auto const p = [how, &tries]() -> program {
      co_await spawn(
          [](int h, int& n) -> program {
            auto [in, to] = co_await open<int>();
            auto [other, far] = co_await open<int>();
            while (n != 10'000) {
              ++n;
              try {
                if (h == 0) (void)co_await in.receive();
                if (h == 1) (void)co_await in.receive_until(instant::clock::now() + 1h);
                if (h == 2) (void)co_await select_until(instant::clock::now() + 1h, in, other);
              } catch (cancelled const&) {
              }
            }
          },
          how, std::ref(tries));
      co_await proc::yield{};
      throw std::runtime_error("over");
    };
    CAPTURE(how);
    CHECK(end_of(p) == " [over]");
    CHECK(tries <= 200);
  }
}

// ---- turns

TEST_CASE("a step belongs to one process, even if it sends to a waiting receiver") {
  every_frame_dies const check;
  std::string said;
  scheduler<> s;
  s.start(
      []() -> program {
        auto [in, to] = co_await open<int>();
        co_await spawn(receives_all, std::move(in));
        co_await proc::yield{};
        co_await to.send(1);
        co_await say("sent ");
        co_await proc::yield{};
      },
      console_to_string(said));
  s.step();  // up to its yield
  s.step();  // the receiver waits
  s.step();
  CHECK((said == "" || said == "sent "));  // the receiver has not run
  s.run();
  CHECK_THAT(said, Contains("sent ") && Contains("1 ") && Contains("end "));
}

/// Passes each message on, incremented, and counts how often.
using plain = eff<void, spawning<proc, mail>, proc, mail>;
plain passes_on(inbox<int> in, address<int> to, int& hops, int last) {
  for (auto m = co_await in.next(); m; m = co_await in.next()) {
    if (*m == last) break;
    ++hops;
    co_await to.send(*m + 1);
  }
}

TEST_CASE("a sender hands over a bounded number of times in a row, and then lets the others run") {
  every_frame_dies const check;
  int hops = 0;
  std::vector<int> between;
  schedule([&]() -> plain {
    constexpr int n = 300;
    constexpr int last = 5000;
    std::vector<inbox<int>> in;
    std::vector<address<int>> to;
    for (int i = 0; i != n; ++i) {
      auto p = co_await open<int>();
      in.push_back(std::move(p.in));
      to.push_back(std::move(p.to));
    }
    for (std::size_t i = 0; i != n; ++i)
      co_await spawn(passes_on, std::move(in[i]), to[(i + 1) % n], std::ref(hops), last);
    co_await proc::yield{};  // all wait
    co_await to[0].send(0);
    while (hops < last) {
      int const before = hops;
      co_await proc::yield{};
      between.push_back(hops - before);
    }
  });
  REQUIRE_FALSE(between.empty());
  CHECK(std::ranges::max(between) >= 64);  // it does hand over
  CHECK(std::ranges::max(between) <= 2 * 64);
}

TEST_CASE("two processes that send to each other for ever do not starve a third") {
  int rounds = 0;
  constexpr int most = 100'000;
  auto const p = [&rounds]() -> program {
    auto [left, to_left] = co_await open<int>();
    auto [right, to_right] = co_await open<int>();
    auto const plays = [](inbox<int> in, address<int> to, int& n, bool begins) -> program {
      if (begins) co_await to.send(0);
      for (auto m = co_await in.next(); m && n < most; m = co_await in.next()) {
        ++n;
        co_await to.send(*m);
      }
    };
    co_await spawn(plays, std::move(left), std::move(to_right), std::ref(rounds), true);
    co_await spawn(plays, std::move(right), std::move(to_left), std::ref(rounds), false);
    for (int i = 0; i != 100; ++i) co_await proc::yield{};
    CHECK(rounds >= 50);
    rounds += most;
  };
  CHECK(printed_by(p) == "");
  CHECK(rounds < most + 100 * 2 * 64);
}

TEST_CASE("a process that sends for ever does not starve the others, nor one that only receives") {
  auto const how = GENERATE(0, 1, 2);
  int sent = 0;
  int most_between = 0;
  auto const p = [&]() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(
        [](address<int> a, int& n) -> program {
          for (bool is_sent = true; is_sent; ++n) is_sent = co_await a.send(n);
        },
        to, std::ref(sent));
    for (int i = 0; i != 50; ++i) {
      int const before = sent;
      co_await proc::yield{};
      most_between = std::max(most_between, sent - before);
      if (how == 1) (void)co_await in.try_receive();
      if (how == 2) (void)co_await in.receive();
    }
  };
  CHECK(printed_by(p) == "");
  CHECK(sent >= 50);
  CHECK(most_between <= 128);

  int received = 0;
  most_between = 0;
  auto const q = [&]() -> program {
    auto [in, to] = co_await open<int>();
    for (int i = 0; i != 10'000; ++i) co_await to.send(i);
    co_await spawn(
        [](inbox<int> from, int& n) -> program {
          for (auto m = co_await from.next(); m; m = co_await from.next()) ++n;
        },
        std::move(in), std::ref(received));
    {
      auto const last = std::move(to);
    }
    while (received != 10'000) {
      int const before = received;
      co_await proc::yield{};
      most_between = std::max(most_between, received - before);
    }
  };
  CHECK(printed_by(q) == "");
  CHECK(most_between <= 128);
  CHECK(most_between >= 64);  // it does not end its step at each message
}

TEST_CASE("messages that are sent and received directly are not sent again by a second resume") {
  std::string said;
  schedule(
      {.forkable = false},
      [&said]() -> program {
        auto [in, to] = co_await open<int>();
        for (int i = 0; i != 3; ++i) co_await to.send(i);
        auto const all = co_await handle(all_solutions(), [&]() -> eff<std::size_t, choose, mail> {
          for (int i = 5; i != 8; ++i) co_await to.send(i);  // the second resume runs this again
          std::size_t const n = co_await choose::among(2);
          for (int i = 0; i != 3; ++i) co_await to.send(10 * static_cast<int>(n) + i);
          co_return n;
        });
        CHECK(all == std::vector<std::size_t>{0, 1});
        {
          auto const last = std::move(to);
        }
        for (auto m = co_await in.next(); m; m = co_await in.next())
          said += std::to_string(*m) + " ";
      },
      console_to_string(said));
  CHECK(said == "0 1 2 5 6 7 0 1 2 10 11 12 ");
}

TEST_CASE("a process that has messages finds its cancellation before the next of them") {
  std::string said;
  schedule({.forkable = false}, [&said]() -> eff<void, mail, tasking<mail>> {
    auto [in, to] = co_await open<int>();
    for (int i = 0; i != 5; ++i) co_await to.send(i);
    try {
      co_await with_scope([&](scope<mail>& s) -> eff<void, mail> {
        for (int i = 0; i != 2; ++i) said += std::to_string(co_await in.receive()) + " ";
        s.cancel();
        said += std::to_string(co_await in.receive()) + " too many ";
      });
    } catch (cancelled const&) {
      said += "cancelled ";
    }
    said += std::to_string(co_await in.receive());
  });
  CHECK(said == "0 1 cancelled 2");
}
