// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/memory_network.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/commands/dispatchers.hpp"
#include "weft/sched/tasks/shielded.hpp"

/// Programs in which a cancelled wait once lost something: a wake-up, a permit, a notification, a
/// message, a value, bytes.

job locks(mutex& m, std::atomic<bool>& had_it) {
  auto const held = co_await m.lock();
  had_it = true;
}
job yields(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}

TEST_CASE("a mutex wakes the next process if the one that it woke is cancelled") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::atomic<bool> first = false, second = false;
    where.run([&]() -> job {
      mutex m;
      auto held = co_await m.lock();
      auto const inner = [&](auto& s) -> job {
        s.start(locks, std::ref(m), std::ref(first));
        co_await yields(5);
        held.unlock();  // and in the same step:
        s.cancel();
      };
      auto const outer = [&](auto& s) -> job {
        s.start([&]() -> job { co_await with_scope(inner); });
        s.start([&]() -> job {
          co_await yields(2);  // behind the other
          co_await locks(m, second);
        });
        co_return;
      };
      co_await with_scope(outer);
    });
    CHECK(second);
  }
}

TEST_CASE("a permit that is released to a process at its deadline is not lost") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::atomic<bool> patient_had_it = false;
    where.run_in_virtual_time([&]() -> job {
      semaphore pool(1);
      auto const takes = [&](auto&) -> job {
        co_await pool.acquire();
        pool.release();
      };
      auto const clients = [&](auto& s) -> job {
        co_await pool.acquire();
        s.start([&]() -> job {
          try {
            co_await with_scope({.timeout = 10ms}, takes);
          } catch (cancelled const&) {
          }
        });
        s.start([&]() -> job {
          co_await pool.acquire();
          patient_had_it = true;
          pool.release();
        });
        co_await timing::sleep_for(10ms);
        pool.release();
      };
      co_await with_scope(clients);
    });
    CHECK(patient_had_it);
  }
}

TEST_CASE("a notification goes to the next process if the one that it woke is cancelled") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::atomic<int> taken = 0;
    where.run([&]() -> job {
      mutex m;
      condition changed;
      int items = 0;
      auto const consumes = [&]() -> job {
        auto held = co_await m.lock();
        co_await changed.wait(held, [&] { return items > 0; });
        --items;
        ++taken;
      };
      auto const inner = [&](auto& s) -> job {
        s.start(consumes);
        co_await yields(6);
        {
          auto const held = co_await m.lock();
          ++items;
        }
        changed.notify_one();
        s.cancel();
      };
      auto const outer = [&](auto& s) -> job {
        s.start([&]() -> job {
          co_await with_scope(inner);
          if (taken == 0) co_return;
          auto const held = co_await m.lock();  // the other process waits for another item
          ++items;
          changed.notify_one();
        });
        s.start([&]() -> job {
          co_await yields(2);  // behind the other
          co_await consumes();
        });
        co_return;
      };
      co_await with_scope(outer);
    });
    CHECK(taken != 0);
  }
}

TEST_CASE("a message is received or stays in the inbox if its receiver is cancelled") {
  bool sent = false, received = false, left = false;
  run_on<on_one_thread>([&]() -> job {
    auto port = co_await open<int>();
    auto const takes_its_time = [](auto& s) -> job {
      s.start([]() -> job { co_await shielded([]() -> job { return yields(50); }); });
      co_await yields(2);
      s.cancel();
    };
    auto const receives = [&](auto& s) -> job {
      s.start([&]() -> job {
        (void)co_await port.in.receive();
        received = true;
      });
      co_await yields(10);
      sent = co_await port.to.send(42);
      s.cancel();
    };
    // While another scope is cancelled no sender hands over, so the receiver has to wait its turn.
    auto const all = [&](auto& s) -> job {
      s.start([&]() -> job { co_await with_scope(takes_its_time); });
      s.start([&]() -> job { co_await with_scope(receives); });
      co_return;
    };
    co_await with_scope(all);
    auto const m = co_await port.in.try_receive();
    left = m.has_value();
  });
  CHECK(sent);
  CHECK(received != left);
}

TEST_CASE("messages that come at the end of a timeout are not lost") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::atomic<int> sent = 0, received = 0;
    where.run_in_virtual_time([&]() -> job {
      auto port = co_await open<int>();
      auto const both = [&](auto& s) -> job {
        s.start(
            [&sent](address<int> to) -> job {
              for (int i = 0; i != 100; ++i) {
                co_await timing::sleep_for(10ms);
                bool const is_sent = co_await to.send(i);
                sent += is_sent;
              }
            },
            std::move(port.to));
        for (bool none_left = false; !none_left;) {
          // The message is the result of the scope.
          auto const one = [&](auto&) -> doing<std::optional<int>> {
            auto m = co_await port.in.next();
            co_return m;
          };
          try {
            auto const m = co_await with_scope({.timeout = 10ms}, one);
            received += m.has_value();
            none_left = !m;
          } catch (cancelled const&) {
          }
        }
      };
      co_await with_scope(both);
    });
    CHECK(sent == 100);
    CHECK(received == 100);
  }
}

TEST_CASE("a send that is cancelled has not sent, and a send that has sent is not cancelled") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::vector<int> came;
    where.run_in_virtual_time([&]() -> job {
      auto port = co_await open<int>({.capacity = 1});
      auto const both = [&](auto& s) -> job {
        s.start(
            [](address<int> to) -> job {
              for (int i = 0; i != 50; ++i) {
                auto const sends = [&](auto&) -> doing<bool> {
                  bool const is_sent = co_await to.send(i);
                  co_return is_sent;
                };
                for (bool is_sent = false; !is_sent;) try {
                    is_sent = co_await with_scope({.timeout = 10ms}, sends);
                  } catch (cancelled const&) {
                  }
              }
            },
            std::move(port.to));
        for (auto m = co_await port.in.next(); m; m = co_await port.in.next()) {
          came.push_back(*m);
          co_await timing::sleep_for(10ms);
        }
      };
      co_await with_scope(both);
    });
    std::vector<int> all;
    for (int i = 0; i != 50; ++i) all.push_back(i);
    CHECK(came == all);
  }
}

TEST_CASE("a completion can be waited for again after a wait was cancelled") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::atomic<int> got = 0;
    where.run_in_virtual_time([&]() -> job {
      completer<int> source;
      auto result = source.get_completion();
      auto const waits = [&](auto&) -> job { (void)co_await result.wait(); };
      try {
        co_await with_scope({.timeout = 1ms}, waits);
        got = -1;
      } catch (cancelled const&) {
      }
      source.complete(42);
      got = co_await result.wait();
    });
    CHECK(got == 42);
  }
}

TEST_CASE("a process that is cancelled at a barrier still counts as arrived") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    std::atomic<int> went_on = 0;
    where.run_in_virtual_time([&]() -> job {
      barrier meet(3);
      auto const cancelled_there = [&](auto& s) -> job {
        s.start([&]() -> job { co_await meet.arrive_and_wait(); });
        co_await timing::sleep_for(1ms);  // until nothing is ready: it waits at the barrier
        s.cancel();
      };
      co_await with_scope(cancelled_there);
      auto const others = [&](auto& s) -> job {
        for (int i = 0; i != 2; ++i)
          s.start([&]() -> job {
            co_await meet.arrive_and_wait();
            ++went_on;
          });
        co_return;
      };
      co_await with_scope(others);
    });
    CHECK(went_on == 2);
  }
}

struct fetch : command<int> {
  explicit fetch(int n) : number(n) {}
  int number;
};

TEST_CASE("the answer of a command can be waited for again after a wait was cancelled") {
  std::vector<reply<int>> replies;
  auto take = dispatchers{[&replies](fetch, reply<int> r) { replies.push_back(std::move(r)); }};
  int got = 0;
  using row_ = row<commands<fetch>, timing, tasking<completions, timing>>;
  schedule(
      {.virtual_time = true},
      [&]() -> eff<void, row_> {
        auto answer = co_await issue(fetch(7));
        auto const waits = [&](auto&) -> eff<int, row_> {
          int const n = co_await answer.wait();
          co_return n;
        };
        for (int i = 0; i != 3; ++i) try {
            (void)co_await with_scope({.timeout = 1ms}, waits);
          } catch (cancelled const&) {
          }
        replies.front().complete(42);
        got = co_await with_scope({.timeout = 1ms}, waits);
      },
      take);
  CHECK(got == 42);
}

using talking = row<networking, timing, proc, tasking<networking, timing, proc>>;
constexpr int most_bytes = 400;

/// Writes bytes one by one, each until it has been written.
eff<void, talking> writes_bytes(connection c, int pause) {
  for (int i = 0; i != most_bytes; ++i) {
    std::array const one{static_cast<std::byte>(i)};
    auto const writes = [&](auto&) -> eff<std::size_t, talking> {
      std::size_t const n = co_await c.write_some(one);
      co_return n;
    };
    for (std::size_t n = 0; n == 0;) try {
        n = co_await with_scope({.timeout = std::chrono::milliseconds(i % 3)}, writes);
      } catch (cancelled const&) {
      }
    if (i % pause == 0) co_await timing::sleep_for(1ms);
  }
}
/// Reads bytes, with timeouts.
eff<void, talking> reads_bytes(connection c, std::vector<int>& came) {
  co_await timing::sleep_for(10ms);  // so that there is much to read
  for (;;) {
    std::array<std::byte, 1> some{};
    std::optional<std::size_t> n;
    auto const reads = [&](auto& s) -> eff<void, talking> {
      s.start([&]() -> eff<void, talking> { n = co_await c.read(some); });
      s.start([&s]() -> eff<void, talking> {  // when the other task lets it run
        s.cancel();
        co_return;
      });
      co_return;
    };
    try {
      co_await with_scope(reads);
    } catch (cancelled const&) {
    }
    if (n && *n == 0) co_return;
    if (n) came.push_back(static_cast<int>(some[0]));
    if (!n) co_await timing::sleep_for(1ms);
  }
}
eff<void, talking> talks(std::vector<int>& came, int pause) {
  listener at = co_await listen(endpoint{"127.0.0.1", 1});
  auto const both = [&](auto& s) -> eff<void, talking> {
    s.start([pause]() -> eff<void, talking> {
      connection c = co_await connect(endpoint{"127.0.0.1", 1});
      co_await writes_bytes(std::move(c), pause);
    });
    std::optional<connection> c;
    auto const accepts = [&](auto&) -> eff<connection, talking> {
      connection there = co_await at.accept();
      co_return std::move(there);
    };
    while (!c) try {
        c.emplace(co_await with_scope({.timeout = 1ms}, accepts));
      } catch (cancelled const&) {
      }
    co_await reads_bytes(*std::move(c), came);
  };
  co_await with_scope(both);
}

TEST_CASE("no byte is lost, or written twice, by a process that is cancelled at a connection") {
  std::vector<int> all;
  for (int i = 0; i != most_bytes; ++i) all.push_back(i % 256);
  for (int const pause : {1, 7, 1000}) {
    CAPTURE(pause);
    std::vector<int> came;
    memory_network net;
    schedule({.virtual_time = true}, [&] { return talks(came, pause); }, net);
    CHECK(came == all);
  }
}

using born = spawning<proc>;
using spawner = row<born, proc, timing, tasking<born, proc, timing>>;

TEST_CASE("a cancelled spawn that waits for room has started no process") {
  int told = 0;
  int started = 0;
  schedule({.virtual_time = true, .max_processes = 5, .when_full = overflow_policy::wait},
           [&]() -> eff<void, spawner> {
             auto const child = [](int& n) -> eff<void, proc> {
               ++n;
               for (int i = 0; i != 3; ++i) co_await proc::yield{};
             };
             auto const spawns = [&](auto& s) -> eff<void, spawner> {
               s.start([&]() -> eff<void, spawner> {
                 for (int i = 0; i != 20; ++i) {
                   (void)co_await spawn(child, std::ref(started));
                   ++told;
                 }
               });
               for (int i = 0; i != 25; ++i) co_await proc::yield{};
               s.cancel();
             };
             for (int i = 0; i != 5; ++i) co_await with_scope(spawns);
           });
  CHECK(told == started);
  CHECK(told > 5);
}
