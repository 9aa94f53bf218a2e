// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Sending by id under every schedule of small programs.

using children = spawning<proc, mail, routing>;
using program = eff<void, children, proc, mail, routing>;

/// The received messages, and the results of the sends: each written by one process.
struct world {
  std::string got;
  std::string told;
};
world nothing() { return {}; }
std::string text(world const& w) { return w.got + '/' + w.told; }

std::set<std::string> outcomes_of(exploration const& found) {
  std::set<std::string> names;
  for (auto const& o : found.outcomes)
    names.insert(o.result.verdict == verdict::ok         ? "ok " + o.result.text
                 : o.result.verdict == verdict::deadlock ? "deadlock"
                                                         : "wrong: " + o.result.text);
  return names;
}
/// Runs a full and a reduced exploration, and checks that they find the same outcomes.  `few`: the
/// number of schedules of the reduced one.
struct searched {
  std::set<std::string> outcomes;
  std::size_t all = 0;
  std::size_t few = 0;
};
template <class Program>
searched search_both(granularity grain, Program p) {
  every_frame_dies const check;
  auto const search = [&](bool reduce) {
    return explore({.granularity = grain,
                    .reduce = reduce,
                    .max_shrinking_runs = 0,
                    .progress = progress::never},
                   nothing, p, text);
  };
  auto const every = search(false);
  auto const few = search(true);
  CHECK(every.complete);
  CHECK(few.complete);
  CHECK_FALSE(every.nondeterminism);
  CHECK_FALSE(few.nondeterminism);
  CHECK(every.leaked == 0);
  CHECK(few.leaked == 0);
  CHECK(few.schedules <= every.schedules);
  CHECK(outcomes_of(every) == outcomes_of(few));
  return {outcomes_of(every), every.schedules, few.schedules};
}

program opens_and_tries(world& w) {
  auto in = co_await open_inbox<int>();
  co_await proc::yield{};
  auto const m = co_await in.try_receive();
  w.got += m ? std::to_string(*m) : "nothing";
}

program sends_and_notes(process_id to, int m, world& w) {
  bool const there = co_await send(to, m);
  w.told += there ? '+' : '-';
}

using outcomes = std::set<std::string>;

TEST_CASE(
    "a send succeeds only while there is an inbox, not before it is opened or after it is "
    "destroyed") {
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    auto const found = search_both(grain, [](world& w) -> program {
      process_id const child = co_await spawn(opens_and_tries, std::ref(w));
      co_await spawn(sends_and_notes, child, 1, std::ref(w));
    });
    outcomes expected{"ok 1/+", "ok nothing/-"};
    // The message came between the look and the end of the inbox.
    if (grain == granularity::parallel) expected.insert("ok nothing/+");
    CHECK(found.outcomes == expected);
  }
}

TEST_CASE(
    "a message may come after try_receive has found none, and before the inbox is destroyed") {
  auto const found = search_both(granularity::parallel, [](world& w) -> program {
    process_id const child = co_await spawn(
        [](world& to) -> program {
          auto in = co_await open_inbox<int>();
          auto const m = co_await in.try_receive();
          to.got += m ? std::to_string(*m) : "nothing";
          co_await proc::yield{};
        },
        std::ref(w));
    co_await spawn(sends_and_notes, child, 1, std::ref(w));
  });
  CHECK(found.outcomes == outcomes{"ok 1/+", "ok nothing/+", "ok nothing/-"});
}

program sends(process_id to, int m) { (void)co_await send(to, m); }

TEST_CASE("messages of two senders by id arrive in either order, each once") {
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    auto const found = search_both(grain, [](world& w) -> program {
      auto in = co_await open_inbox<int>();
      co_await spawn(sends, in.owner(), 1);
      co_await spawn(sends, in.owner(), 2);
      for (int i = 0; i != 2; ++i) {
        int const m = co_await in.receive();
        w.got += std::to_string(m);
      }
    });
    CHECK(found.outcomes == outcomes{"ok 12/", "ok 21/"});
  }
}

TEST_CASE("for two inboxes that are independent one schedule stands for all") {
  auto const found = search_both(granularity::parallel, [](world&) -> program {
    auto const talks_to_itself = []() -> program {
      auto in = co_await open_inbox<int>();
      for (int i = 0; i != 2; ++i) {
        (void)co_await send(in.owner(), i);
        (void)co_await in.receive();
      }
    };
    co_await spawn(talks_to_itself);
    co_await spawn(talks_to_itself);
  });
  CHECK(found.outcomes == outcomes{"ok /"});
  CHECK(found.few == 1);
  CHECK(found.all > 100);
}

TEST_CASE(
    "when a full inbox is destroyed, a sender that waits is let in or gets false, and wakes") {
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    auto const found = search_both(grain, [](world& w) -> program {
      process_id const child = co_await spawn(
          [](world& to) -> program {
            auto in = co_await open_inbox<int>({.capacity = 1});
            co_await proc::yield{};
            auto const m = co_await in.try_receive();
            to.got += m ? std::to_string(*m) : "nothing";
          },
          std::ref(w));
      co_await spawn(
          [](process_id to, world& w2) -> program {
            co_await sends_and_notes(to, 1, w2);
            co_await sends_and_notes(to, 2, w2);
          },
          child, std::ref(w));
    });
    outcomes expected{"ok 1/++", "ok nothing/--"};
    if (grain == granularity::parallel) {
      expected.insert("ok 1/+-");        // the second was sent after the end of the inbox
      expected.insert("ok 2/-+");        // the first was sent before the inbox was open
      expected.insert("ok nothing/+-");  // the first came between the look and the end of the inbox
      expected.insert(
          "ok nothing/-+");  // the second likewise, and the first before the inbox was open
    }
    CHECK(found.outcomes == expected);
  }
}

TEST_CASE(
    "a receiver at its inbox is a deadlock in each schedule in which the send came too early") {
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    auto const found = search_both(grain, [](world& w) -> program {
      process_id const child = co_await spawn([]() -> program {
        auto in = co_await open_inbox<int>();
        (void)co_await in.receive();
      });
      co_await sends_and_notes(child, 1, w);
    });
    bool const is_cooperative = grain == granularity::cooperative;  // then the send comes too early
    CHECK(found.outcomes ==
          (is_cooperative ? outcomes{"deadlock"} : outcomes{"deadlock", "ok /+"}));
  }
}
