// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Ports under every schedule: small programs, whose schedules are counted by hand.

using children = spawning<proc, mail, timing>;
using program = eff<void, children, proc, mail, timing>;

/// The received messages, in order; those of each schedule are an outcome.
std::string nothing() { return {}; }
std::string itself(std::string const& s) { return s; }

std::set<std::string> names_of(exploration const& found) {
  std::set<std::string> names;
  for (auto const& o : found.outcomes) names.insert(o.result.text);
  return names;
}
program sends(address<int> to, int m) { co_await to.send(m); }

// The send ends a step, since other backends may hand over there: either process continues first.
TEST_CASE("a receiver and one sender have two schedules, and one outcome") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string& got) -> program {
        auto [in, to] = co_await open<int>();
        co_await spawn(sends, std::move(to), 1);
        int const m = co_await in.receive();
        got += std::to_string(m);
      },
      itself);
  CHECK(found.ok());
  CHECK(found.schedules == 2);
  CHECK(names_of(found) == std::set<std::string>{"1"});
}

// The receiver waits; either sender sends.  Then three processes may run: the receiver R, the
// sender s, of which only the end is left, and the other sender T, whose send ends a step if R
// waits again.
//   R s T, and then R and t in either order: 2      R T, and then s, R and t in any order: 6
//   s R T, and then R and t: 2                      s T R: 1              T, then R and s: 2
TEST_CASE("of two senders either is first: twice 13 schedules, two outcomes") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string& got) -> program {
        auto [in, to] = co_await open<int>();
        co_await spawn(sends, to, 1);
        co_await spawn(sends, std::move(to), 2);
        for (int i = 0; i != 2; ++i) {
          int const m = co_await in.receive();
          got += std::to_string(m);
        }
      },
      itself);
  CHECK(found.ok());
  CHECK(found.schedules == 26);
  CHECK(names_of(found) == std::set<std::string>{"12", "21"});
}

program sends_some(address<int> to, int first, int n) {
  for (int m = first; m != first + n; ++m) co_await to.send(m);
}
program notes(inbox<int> in, std::string& to) {
  for (auto m = co_await in.next(); m; m = co_await in.next()) to += std::to_string(*m);
}

TEST_CASE("in every schedule each message is received once, and each sender's in order") {
  for (std::size_t const capacity : {1U, 2U, 4U}) {
    every_frame_dies const check;
    auto const found = explore(
        nothing,
        [capacity](std::string& got) -> program {
          auto [in, to] = co_await open<int>({.capacity = capacity});
          co_await spawn(notes, std::move(in), std::ref(got));
          co_await spawn(sends_some, to, 1, 3);
          co_await spawn(sends_some, std::move(to), 4, 3);
        },
        itself);
    CAPTURE(capacity);
    CHECK(found.ok());
    CHECK(found.complete);
    bool one_after_the_other = true;
    for (auto const& name : names_of(found)) {
      auto sorted = name;
      std::ranges::sort(sorted);
      auto const of_one = [&name](std::string const& all) {
        std::string mine;
        for (char const m : name)
          if (all.find(m) != all.npos) mine += m;
        return mine == all;
      };
      if (sorted != "123456" || !of_one("123") || !of_one("456")) FAIL(name);
      one_after_the_other &= name == "123456" || name == "456123";
    }
    CHECK(names_of(found).contains("123456"));
    CHECK(names_of(found).contains("456123"));
    // A send to a waiting receiver ends a step.
    CHECK_FALSE(one_after_the_other);
  }
}

using message = tracked<moves::safely>;

TEST_CASE("in every schedule each message is destroyed once, whichever process ends first") {
  every_frame_dies const check;
  long const births = message::births;
  long const deaths = message::deaths;
  auto const found = explore(
      nothing,
      [](std::string& got) -> program {
        auto [in, to] = co_await open<message>({.capacity = 1});
        auto const sends_both = [](address<message> a) -> program {
          for (int i = 0; i != 2; ++i) co_await a.send(i);
        };
        co_await spawn(sends_both, to);
        co_await spawn(
            [](address<message> a) -> program {
              co_await a.send(9);
              throw std::runtime_error("over");
            },
            std::move(to));
        co_await spawn(
            [](inbox<message> mine, std::string& out) -> program {
              auto const m = co_await mine.receive();
              out += std::to_string(m.value());
            },
            std::move(in), std::ref(got));
      },
      itself);
  CHECK(found.failed == found.schedules);  // it throws in each
  CHECK(found.leaked == 0);
  CHECK_FALSE(found.nondeterminism);
  CHECK(message::births != births);
  CHECK(message::births - births == message::deaths - deaths);
}

// Two choices: which of the three processes is first, and which of the two that are left.
TEST_CASE("a send says whether the inbox was destroyed before it") {
  every_frame_dies const check;
  struct state {
    int yes = 0;
    int no = 0;
  };
  auto const found =
      explore([] { return state(); },
              [](state& s) -> program {
                auto [in, to] = co_await open<int>();
                auto const says = [](address<int> a, state& out) -> program {
                  bool const was_sent = co_await a.send(1);
                  ++(was_sent ? out.yes : out.no);
                };
                co_await spawn(says, to, std::ref(s));
                co_await spawn(says, std::move(to), std::ref(s));
                co_await spawn([](inbox<int>) -> program { co_return; }, std::move(in));
              },
              [](state const& s) { return std::to_string(s.yes) + std::to_string(s.no); });
  CHECK(found.ok());
  CHECK(found.schedules == 6);
  CHECK(names_of(found) == std::set<std::string>{"02", "11", "20"});
}

TEST_CASE("a sender that waits for room is woken in every schedule when the inbox is destroyed") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string& got) -> program {
        auto [in, to] = co_await open<int>({.capacity = 1});
        auto const says = [](address<int> a, std::string& out) -> program {
          bool const first = co_await a.send(1);
          bool const second = co_await a.send(2);
          out += (first ? "y" : "n") + std::string(second ? "y" : "n");
        };
        co_await spawn(says, std::move(to), std::ref(got));
        co_await spawn(
            [](inbox<int> mine) -> program {
              auto const m = co_await mine.try_receive();
              co_await proc::yield{};
              (void)m;
            },
            std::move(in));
      },
      itself);
  CHECK(found.ok());
  CHECK(found.deadlocks == 0);
  // The receiver takes nothing, and then either both messages fit or the second sender waits; or it
  // takes one.
  CHECK(names_of(found) == std::set<std::string>{"nn", "yn", "yy"});
}

TEST_CASE("a receiver is woken when the last address is destroyed, before or while it waits") {
  every_frame_dies const check;
  auto const drops = [](address<int>) -> program { co_return; };
  auto const one = explore(
      nothing,
      [drops](std::string& got) -> program {
        auto [in, to] = co_await open<int>();
        co_await spawn(drops, to);
        co_await spawn(drops, std::move(to));
        co_await spawn(notes, std::move(in), std::ref(got));
      },
      itself);
  CHECK(one.ok());
  // Any of the three is first; the receiver has a second step unless it comes last.
  CHECK(one.schedules == 6);
  auto const several = explore(
      nothing,
      [drops](std::string& got) -> program {
        auto [a, to_a] = co_await open<int>();
        auto [b, to_b] = co_await open<int>();
        co_await spawn(drops, std::move(to_a));
        co_await spawn(drops, std::move(to_b));
        co_await spawn(
            [](inbox<int> x, inbox<int> y, std::string& out) -> program {
              try {
                (void)co_await select(x, y);
              } catch (no_senders const&) {
                out += "nobody";
              }
            },
            std::move(a), std::move(b), std::ref(got));
      },
      itself);
  CHECK(several.ok());
  CHECK(several.schedules == 6);
  CHECK(names_of(several) == std::set<std::string>{"nobody"});
}

TEST_CASE("select receives the message that comes first, and the other stays") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string& got) -> program {
        auto [a, to_a] = co_await open<int>();
        auto [b, to_b] = co_await open<int>();
        co_await spawn(sends, std::move(to_a), 1);
        co_await spawn(sends, std::move(to_b), 2);
        for (int i = 0; i != 2; ++i) {
          auto const m = co_await select(a, b);
          std::visit([&got](int n) { got += std::to_string(n); }, m);
        }
      },
      itself);
  CHECK(found.ok());
  CHECK(found.schedules == 26);
  CHECK(names_of(found) == std::set<std::string>{"12", "21"});
}

TEST_CASE("try_receive finds a message if the sender came first") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string& got) -> program {
        auto [in, to] = co_await open<int>();
        co_await spawn(
            [](inbox<int> mine, std::string& out) -> program {
              for (int i = 0; i != 2; ++i) {
                auto const m = co_await mine.try_receive();
                out += m ? std::to_string(*m) : "-";
                co_await proc::yield{};
              }
            },
            std::move(in), std::ref(got));
        co_await spawn(sends, std::move(to), 1);
      },
      itself);
  CHECK(found.ok());
  CHECK(found.schedules == 4);  // the receiver has three steps, the sender one
  CHECK(names_of(found) == std::set<std::string>{"--", "-1", "1-"});
}

program notes_until(inbox<int> in, std::string& to, instant t) {
  auto const m = co_await in.receive_until(t);
  to += m ? std::to_string(*m) : "late";
}

TEST_CASE(
    "of a deadline and a message at the same time either is first, and no schedule loses it") {
  every_frame_dies const check;
  auto const sends_at = [](address<int> to, instant t) -> program {
    co_await timing::sleep_until{t};
    co_await to.send(1);
  };
  auto const explored = [sends_at](instant sent, instant until) {
    return explore(
        nothing,
        [=](std::string& got) -> program {
          auto [in, to] = co_await open<int>();
          co_await spawn(sends_at, std::move(to), sent);
          co_await spawn(notes_until, std::move(in), std::ref(got), until);
        },
        itself);
  };
  auto const before = explored(instant(5ms), instant(10ms));
  CHECK(before.ok());
  CHECK(names_of(before) == std::set<std::string>{"1"});
  auto const after = explored(instant(10ms), instant(5ms));
  CHECK(after.ok());
  CHECK(names_of(after) == std::set<std::string>{"late"});
  auto const same = explored(instant(5ms), instant(5ms));
  CHECK(same.ok());
  // Both are due before either process continues.
  CHECK(names_of(same) == std::set<std::string>{"late"});
}

TEST_CASE("two processes that wait for each other's messages are found in a deadlock") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string&) -> program {
        auto [left, to_left] = co_await open<int>();
        auto [right, to_right] = co_await open<int>();
        auto const waits = [](inbox<int> in, address<int> to) -> program {
          int const m = co_await in.receive();
          co_await to.send(m);
        };
        co_await spawn(waits, std::move(left), std::move(to_right));
        co_await spawn(waits, std::move(right), std::move(to_left));
      },
      itself);
  CHECK(found.schedules == 2);
  CHECK(found.deadlocks == 2);
  REQUIRE(found.first_failure());
  auto const& text = found.first_failure()->result.text;
  CHECK(text.find("process 1.1 (lambda #1) in weft::mail::receive at ") != text.npos);
  CHECK(text.find("process 1.2 (lambda #2) in weft::mail::receive at ") != text.npos);
}

TEST_CASE("two processes that fill each other's bounded ports are found in a deadlock") {
  every_frame_dies const check;
  auto const found = explore(
      nothing,
      [](std::string&) -> program {
        auto [left, to_left] = co_await open<int>({.capacity = 1});
        auto [right, to_right] = co_await open<int>({.capacity = 1});
        auto const plays = [](inbox<int> in, address<int> to) -> program {
          co_await to.send(1);
          co_await to.send(2);
          (void)co_await in.receive();
          (void)co_await in.receive();
        };
        co_await spawn(plays, std::move(left), std::move(to_right));
        co_await spawn(plays, std::move(right), std::move(to_left));
      },
      itself);
  CHECK(found.deadlocks == found.schedules);  // no process receives before it has sent both
  auto const& text = found.first_failure()->result.text;
  CHECK(text.find("process 1.1 (lambda #1) in weft::mail::send at ") != text.npos);
}
