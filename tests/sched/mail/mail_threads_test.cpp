// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Ports on every backend, on one thread and on several: the same laws.

using children = spawning<proc, mail, timing>;
using program = eff<void, children, proc, mail, timing>;

/// Sends first, first + 1, ... and sometimes lets other processes run.
program sends(address<int> to, int first, int n) {
  dice random(static_cast<unsigned>(first));
  for (int i = first; i != first + n; ++i) {
    co_await to.send(i);
    if (random(4) == 0) co_await proc::yield{};
  }
}
/// The messages that came to one inbox, from `senders` that each send from 10'000 * (their number)
/// on.
class arrived {
 public:
  explicit arrived(std::size_t senders) : next_(senders) {}
  void add(int m) {
    ++count_;
    is_in_order_ &= next_[static_cast<std::size_t>(m / 10'000)]++ == m % 10'000;
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool is_in_order() const { return is_in_order_; }

 private:
  std::vector<int> next_;
  int count_ = 0;
  bool is_in_order_ = true;
};

// ---- order, and each message once

BACKENDS_TEST_CASE("each sender's messages come in its order, each once, unbounded and bounded", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  constexpr int senders = 6;
  int const each = rounds(2000);
  for (std::size_t const capacity : {std::size_t{1}, std::size_t{3}, std::size_t{1'000'000}}) {
    every_frame_dies const check;
    arrived got(senders);
    run_on(chosen, [&got, capacity, each]() -> program {
      auto [in, to] = co_await open<int>({.capacity = capacity});
      for (int s = 0; s != senders; ++s) co_await spawn(sends, to, 10'000 * s, each);
      {
        auto const last = std::move(to);
      }
      for (auto m = co_await in.next(); m; m = co_await in.next()) got.add(*m);
    });
    CHECK(got.is_in_order());
    CHECK(got.count() == senders * each);
  }
}

BACKENDS_TEST_CASE("select receives the messages of each sender in order, each once", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  constexpr std::size_t senders = 6;
  int const each = rounds(2000);
  std::array<arrived, 3> got{arrived(senders), arrived(senders), arrived(senders)};
  run_on(chosen, [&got, each]() -> program {
    auto [a, to_a] = co_await open<int>();
    auto [b, to_b] = co_await open<int>({.capacity = 1});
    auto [c, to_c] = co_await open<int>({.capacity = 2});
    for (int s = 0; s != senders; ++s) {
      co_await spawn(sends, to_a, 10'000 * s, each);
      co_await spawn(sends, to_b, 10'000 * s, each);
      co_await spawn(sends, to_c, 10'000 * s, each);
    }
    {
      auto const last_a = std::move(to_a);
      auto const last_b = std::move(to_b);
      auto const last_c = std::move(to_c);
    }
    dice random(1);
    try {
      for (;;) {
        if (random(3) == 0) {
          auto const m = co_await select_until(instant::clock::now() + 1h, c, b, a);
          switch (m->index()) {
            case 0:
              got[2].add(std::get<0>(*m));
              break;
            case 1:
              got[1].add(std::get<1>(*m));
              break;
            case 2:
              got[0].add(std::get<2>(*m));
              break;
          }
        } else {
          auto const m = co_await select(a, b, c);
          std::visit([&](int n) { got[m.index()].add(n); }, m);
        }
      }
    } catch (no_senders const&) {
    }
  });
  for (auto const& g : got) {
    CHECK(g.is_in_order());
    CHECK(g.count() == static_cast<int>(senders) * each);
  }
}

// ---- no lost wake-up

BACKENDS_TEST_CASE("a million messages go back and forth, and no wake-up is lost", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int const pairs : {1, 7}) {
    counter played = 0;
    int const each = rounds(500'000) / pairs;
    run_on(chosen, [&played, pairs, each]() -> program {
      auto const pong = [](inbox<int> in, address<int> to) -> program {
        for (auto m = co_await in.next(); m; m = co_await in.next()) co_await to.send(*m + 1);
      };
      auto const ping = [](int n, inbox<int> in, address<int> to, counter& all) -> program {
        int got = 0;
        for (int i = 0; i != n; ++i) {
          co_await to.send(i);
          int const m = co_await in.receive();
          got += m == i + 1;
        }
        all += got;
      };
      for (int i = 0; i != pairs; ++i) {
        auto [a, to_a] = co_await open<int>();
        auto [b, to_b] = co_await open<int>();
        co_await spawn(pong, std::move(a), std::move(to_b));
        co_await spawn(ping, each, std::move(b), std::move(to_a), std::ref(played));
      }
    });
    CHECK(played == pairs * each);
  }
}

BACKENDS_TEST_CASE(
    "a token goes round in a ring of processes that select, receive, and receive with deadlines",
    "", on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
    on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  constexpr std::size_t n = 16;
  int const hops = rounds(100'000);
  counter made = 0;
  run_on(chosen, [&made, hops]() -> program {
    std::vector<inbox<int>> in;
    std::vector<address<int>> to;
    for (std::size_t i = 0; i != n; ++i) {
      auto p = co_await open<int>();
      in.push_back(std::move(p.in));
      to.push_back(std::move(p.to));
    }
    for (std::size_t i = 0; i != n; ++i)
      co_await spawn(
          [](std::size_t me, inbox<int> mine, address<int> next, int last,
             counter& all) -> program {
            auto [never, nobody] = co_await open<int>();
            for (;;) {
              int token = -1;
              if (me % 3 == 0) {
                token = co_await mine.receive();
              } else if (me % 3 == 1) {
                auto const m = co_await select(never, mine);
                token = std::get<1>(m);
              } else {
                auto const m = co_await mine.receive_until(instant::clock::now() + 1h);
                token = *m;
              }
              if (token < last) ++all;
              co_await next.send(token + 1);
              if (token >= last) co_return;  // the others receive it too
            }
          },
          i, std::move(in[i]), to[(i + 1) % n], hops, std::ref(made));
    co_await to[0].send(0);
  });
  CHECK(made == hops);
}

TEMPLATE_TEST_CASE("two processes that send to each other for ever do not starve a third", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  constexpr int most = 10'000'000;
  counter played = 0;
  std::atomic<bool> is_over = false;
  run_on<TestType>([&]() -> program {
    auto [left, to_left] = co_await open<int>();
    auto [right, to_right] = co_await open<int>();
    auto const plays = [](inbox<int> in, address<int> to, counter& all, std::atomic<bool>& over,
                          bool begins) -> program {
      if (begins) co_await to.send(0);
      for (auto m = co_await in.next(); m && !over && all < most; m = co_await in.next()) {
        ++all;
        co_await to.send(*m);
      }
    };
    co_await spawn(plays, std::move(left), std::move(to_right), std::ref(played), std::ref(is_over),
                   true);
    co_await spawn(plays, std::move(right), std::move(to_left), std::ref(played), std::ref(is_over),
                   false);
    // A stack is not fair to a process that yields.
    if constexpr (!std::is_same_v<TestType, on_locked_stack>)
      for (int i = 0; i != 100; ++i) co_await proc::yield{};
    is_over = true;
  });
  CHECK(played < most);
}

// ---- destroyed ends

BACKENDS_TEST_CASE("a receiver is woken when all addresses are dropped, by any process", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(2000); ++round) {
    every_frame_dies const check;
    counter heard = 0;
    run_on(chosen, [&heard, round]() -> program {
      auto [a, to_a] = co_await open<int>();
      auto [b, to_b] = co_await open<int>();
      for (int i = 0; i != 1 + round % 4; ++i)
        co_await spawn(
            [](address<int> x, address<int> y, int r) -> program {
              for (int k = 0; k != r % 3; ++k) co_await proc::yield{};
              {
                auto const one = std::move(r % 2 ? x : y);
              }
              if (r % 5 == 0) co_await proc::yield{};
            },
            to_a, to_b, round + i);
      co_await spawn(
          [](inbox<int> x, inbox<int> y, counter& n, int r) -> program {
            try {
              if (r % 2)
                (void)co_await select(x, y);
              else
                (void)co_await y.receive();
            } catch (no_senders const&) {
              ++n;
            }
          },
          std::move(a), std::move(b), std::ref(heard), round);
    });
    if (heard != 1) FAIL("round " << round);
  }
}

using message = tracked<moves::safely>;

/// Checks that constructions and destructions of messages, and of frames, are balanced.
class everything_dies {
 public:
  everything_dies() = default;
  everything_dies(everything_dies const&) = delete;
  everything_dies& operator=(everything_dies const&) = delete;
  ~everything_dies() { CHECK(message::births - births_ == message::deaths - deaths_); }

 private:
  every_frame_dies const frames_;
  long const births_ = message::births;
  long const deaths_ = message::deaths;
};

BACKENDS_TEST_CASE("a destroyed inbox refuses all senders, and its messages are destroyed once", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(500); ++round) {
    everything_dies const check;
    counter sent = 0;
    counter refused = 0;
    counter got = 0;
    run_on(chosen, [&, round]() -> program {
      auto [in, to] = co_await open<message>({.capacity = static_cast<std::size_t>(1 + round % 3)});
      for (int s = 0; s != 8; ++s)
        co_await spawn(
            [](address<message> a, counter& yes, counter& no) -> program {
              for (int i = 0; i != 10; ++i) {
                bool const was_sent = co_await a.send(i);
                ++(was_sent ? yes : no);
              }
            },
            to, std::ref(sent), std::ref(refused));
      for (int i = 0; i != round % 60; ++i) {
        auto const m = co_await in.next();
        if (m) ++got;
      }
    });
    if (sent + refused != 80 || got != round % 60 || sent < got || sent > got + 3)
      FAIL("round " << round << ": " << sent << ' ' << refused << ' ' << got);
  }
}

BACKENDS_TEST_CASE("ends outlive their scheduler, and are dropped by several threads at once", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(200); ++round) {
    everything_dies const check;
    std::vector<std::function<void()>> drops;
    run_on(chosen, [&drops]() -> program {
      for (int i = 0; i != 4; ++i) {
        auto p = co_await open<message>();
        co_await p.to.send(i);
        auto const keep = [&drops](auto end) {
          drops.push_back(
              [e = std::make_shared<decltype(end)>(std::move(end))]() mutable { e.reset(); });
        };
        keep(std::move(p.in));
        keep(p.to);
        keep(std::move(p.to));
      }
    });
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t != 3; ++t)
      threads.emplace_back([&drops, t] {
        for (std::size_t i = t; i < drops.size(); i += 3) drops[i]();
      });
    for (auto& t : threads) t.join();
    drops.clear();
  }
}

BACKENDS_TEST_CASE("the last address is dropped by a thread that is not the scheduler's", "",
                   on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    counter heard = 0;
    std::atomic<bool> was_dropped = false;
    std::atomic<bool> is_out = false;
    std::optional<address<int>> last;
    std::thread other([&] {
      until([&] { return is_out.load(); });
      last.reset();
      was_dropped = true;
    });
    run_on(chosen, [&]() -> program {
      auto [in, to] = co_await open<int>();
      co_await spawn(
          [](inbox<int> mine, counter& n) -> program {
            auto const m = co_await mine.next();
            if (!m) ++n;
          },
          std::move(in), std::ref(heard));
      last.emplace(std::move(to));
      is_out = true;
      while (!was_dropped) co_await proc::yield{};
    });
    other.join();
    if (heard != 1) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE("an address that is dropped as the run ends loses no wake-up", "", on_sharing<1>,
                   on_sharing<2>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    std::atomic<bool> is_out = false;
    std::optional<address<int>> last;
    std::thread other([&] {
      until([&] { return is_out.load(); });
      for (std::atomic<int> i = 0; i < round * 10; ++i) {
      }
      last.reset();
    });
    bool was_told = false;
    try {
      run_on(chosen, [&]() -> program {
        auto [in, to] = co_await open<int>();
        last.emplace(std::move(to));
        is_out = true;
        auto const m = co_await in.next();
        was_told = !m;
      });
    } catch (deadlock const&) {  // it was not yet dropped when no other process was left
      was_told = true;
    }
    other.join();
    if (!was_told) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE(
    "a sender that handed its thread over continues elsewhere if the receiver keeps the thread", "",
    on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != 10; ++round) {
    every_frame_dies const check;
    std::atomic<bool> went_on = false;
    run_on(chosen, [&]() -> program {
      auto [in, to] = co_await open<int>();
      co_await spawn(
          [](inbox<int> mine, std::atomic<bool>& has_gone_on) -> program {
            (void)co_await mine.receive();
            until([&has_gone_on] { return has_gone_on.load(); });
          },
          std::move(in), std::ref(went_on));
      for (int i = 0; i != 3; ++i) co_await proc::yield{};
      co_await to.send(1);
      went_on = true;
    });
  }
}

// ---- deadlines

BACKENDS_TEST_CASE("messages that race with deadlines are received once, late or not", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  constexpr int pairs = 4;
  int const each = rounds(10'000);
  counter got = 0;
  counter late = 0;
  run_on(chosen, [&got, &late, each]() -> program {
    for (int i = 0; i != pairs; ++i) {
      auto [in, to] = co_await open<int>({.capacity = static_cast<std::size_t>(1 + i)});
      auto [other, far] = co_await open<int>();
      co_await spawn(
          [](address<int> a, int n, unsigned seed) -> program {
            dice random(seed);
            for (int k = 0; k != n; ++k) {
              if (random(3) == 0) co_await timing::sleep_for{std::chrono::microseconds(random(20))};
              co_await a.send(k);
            }
          },
          std::move(to), each, static_cast<unsigned>(i));
      co_await spawn(
          [](inbox<int> a, inbox<int> b, address<int>, int n, counter& all, counter& missed,
             unsigned seed) -> program {
            dice random(seed);
            for (int next = 0; next != n;) {
              instant const now = co_await timing::now{};
              instant const then = now + std::chrono::microseconds(random(20));
              int m = -1;
              if (random(2) == 0) {
                auto const one = co_await a.receive_until(then);
                m = one.value_or(-1);
              } else {
                auto const one = co_await select_until(then, b, a);
                if (one) m = std::get<1>(*one);
              }
              if (m == -1) ++missed;
              all += m == next;
              next += m == next;
            }
          },
          std::move(in), std::move(other), std::move(far), each, std::ref(got), std::ref(late),
          static_cast<unsigned>(i));
    }
  });
  CHECK(got == pairs * each);
  CHECK(late > 0);
}

BACKENDS_TEST_CASE(
    "messages that race with deadlines in virtual time are received once, late or not", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  every_frame_dies const check;
  counter got = 0;
  counter late = 0;
  auto how = options();
  how.virtual_time = true;
  run_on(chosen, how, [&got, &late]() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(
        [](address<int> a) -> program {
          for (int k = 0; k != 50; ++k) {
            co_await timing::sleep_for{10h};
            co_await a.send(k);
          }
        },
        std::move(to));
    for (int next = 0; next != 50;) {
      instant const now = co_await timing::now{};
      auto const m = co_await in.receive_until(now + 4h);
      if (!m) ++late;
      if (m) got += *m == next++;
    }
  });
  CHECK(got == 50);
  CHECK(late == 100);
}

// ---- processes that end at any moment

struct has_died {};

/// The state of processes that may end at any moment.
struct town {
  unsigned seed;
  int how;  // whether they may throw, request a stop, or deadlock
  std::stop_source stop{};
  counter births = 0;
};

program lives_a_while(town& t, unsigned seed, inbox<message> in,
                      std::vector<address<message>> others) {
  dice random(seed);
  auto mine = std::make_unique<inbox<message>>(std::move(in));
  auto [second, to_second] = co_await open<message>({.capacity = 2});
  others.push_back(to_second);
  for (int step = 0; step != 30; ++step) {
    auto const& to = others[random(static_cast<unsigned>(others.size()))];
    instant const soon = instant::clock::now() + std::chrono::microseconds(random(30));
    switch (random(12)) {
      case 0:
      case 1:
      case 2:
        co_await to.send(step);
        break;
      case 3:
        (void)co_await mine->try_receive();
        break;
      case 4:
        (void)co_await mine->receive_until(soon);
        break;
      case 5:
        (void)co_await select_until(soon, *mine, second);
        break;
      case 6:
        co_await proc::yield{};
        break;
      case 7:
        if (others.size() > 1) others.pop_back();
        break;
      case 8:
        if (t.births++ < 40) {
          auto p = co_await open<message>({.capacity = 1 + random(3)});
          others.push_back(p.to);
          co_await spawn(lives_a_while, std::ref(t), seed + 1000 * random(1000), std::move(p.in),
                         others);
        }
        break;
      case 9:
        if (random(10) == 0) co_await proc::exit{};
        if (random(10) == 0) co_return;
        break;
      case 10:
        if (t.how == 1 && random(20) == 0) throw has_died();
        if (t.how == 2 && random(20) == 0) t.stop.request_stop();
        if (t.how == 3) (void)co_await mine->next();
        break;
      case 11: {
        auto p = co_await open<message>({.capacity = 1});
        mine = std::make_unique<inbox<message>>(std::move(p.in));
        others.push_back(std::move(p.to));
        break;
      }
    }
  }
}

BACKENDS_TEST_CASE("every message is destroyed once, whenever and however its processes end", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  seeds::as_many_as(rounds(200)).for_each([chosen](unsigned seed) {
    everything_dies const check;
    town t{seed, static_cast<int>(seed % 4)};
    std::string end = "good";
    try {
      run_on(chosen, options(false, t.stop.get_token()), [&t]() -> program {
        auto [in, to] = co_await open<message>();
        std::vector<address<message>> known;
        known.push_back(std::move(to));
        co_await lives_a_while(t, t.seed, std::move(in), std::move(known));
      });
    } catch (no_senders const&) {
    } catch (cancelled const&) {
      end = t.how == 2 ? "good" : "cancelled";
    } catch (deadlock const&) {
      // A sender that waits for room holds an address of its receiver, or of another waiting
      // process.
    } catch (has_died const&) {
      end = t.how == 1 ? "good" : "failed";
    } catch (exceptions const&) {
    }
    if (end != "good") FAIL("seed " << seed << ": " << end);
  });
}

BACKENDS_TEST_CASE("a deadlock report names receivers and senders that wait for room, each once",
                   "", on_one_thread, in_random_order, on_locked_stack, on_sharing<1>,
                   on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    std::string who;
    try {
      run_on(chosen, []() -> program {
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
      });
    } catch (deadlock const& e) {
      for (auto const& w : e.all)
        who += w.process.text() + ' ' + w.what.substr(0, w.what.find(" at ")) + ' ';
    }
    if (who !=
        "1 weft::mail::receive 1.1 weft::mail::send 1.2 weft::mail::send "
        "1.3 weft::mail::receive ")
      FAIL("round " << round << ": " << who);
  }
}
