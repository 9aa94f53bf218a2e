// SPDX-License-Identifier: MIT
#include "tests/support/commands.hpp"

#include "tests/prelude.hpp"
#include "weft/sched/commands/commands.hpp"

TEST_CASE("a command may be answered where it is issued, by any dispatcher that takes its type") {
  every_frame_dies const check;
  int naps = 0;
  std::string at;
  int four = 0;
  auto const p = [&]() -> asking_program {
    at = co_await perform(resolve("weft"));
    four = co_await perform(twice(2));
    co_await perform(nap());
  };
  schedule(p, dispatchers{[](resolve c, reply<std::string> r) { r.complete(c.host + " is at 1"); },
                          doubles,
                          [&](nap, reply<void> r) {
                            ++naps;
                            r.complete();
                          }});
  CHECK(at == "weft is at 1");
  CHECK(four == 4);
  CHECK(naps == 1);
}

TEST_CASE("commands in flight are answered in any order, and each has its own answer") {
  every_frame_dies const check;
  desk_of<resolve> desk;
  std::vector<std::string> got;
  std::vector<std::uint64_t> tags;
  auto const answers = [&desk]() -> eff<void, proc> {
    while (desk.size() != 3) co_await proc::yield{};
    for (std::size_t const i : {1u, 1u, 0u}) {  // the second, the third, the first
      auto [asked, answer] = desk.take(i);
      answer.complete(asked.host + std::to_string(answer.tag()));
      co_await proc::yield{};
    }
  };
  schedule(
      [&]() -> asking_program {
        co_await spawn(forkable, answers);
        auto a = co_await issue(resolve("a"));
        auto b = co_await issue(resolve("b"));
        auto c = co_await issue(resolve("c"));
        tags = {a.tag(), b.tag(), c.tag()};
        for (auto* f : {&c, &a, &b}) {
          got.push_back(co_await f->wait());
        }
      },
      dispatchers{puts_on(desk), doubles, [](nap, reply<void> r) { r.complete(); }});
  CHECK(tags == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(got == std::vector<std::string>{"c3", "a1", "b2"});
}

TEST_CASE("the first dispatcher that can take a command takes it, and one may take all") {
  std::string took;
  auto const p = []() -> eff<void, commands<twice, nap>> {
    int const n = co_await perform(twice(4));
    (void)n;
    co_await perform(nap());
  };
  auto const all = [&took](auto, auto r) {
    took += "all ";
    if constexpr (std::is_same_v<decltype(r), reply<int>>)
      r.complete(0);
    else
      r.complete();
  };
  auto const one = [&took](twice, reply<int> r) {
    took += "one ";
    r.complete(0);
  };
  schedule(p, dispatchers{one, all});
  schedule(p, dispatchers{all, one});
  CHECK(took == "one all all all ");
}

TEST_CASE("an exception of a dispatcher arises where the command is issued") {
  every_frame_dies const check;
  std::optional<reply<int>> elsewhere;
  std::string found;
  auto const p = [&]() -> eff<void, commands<twice>> {
    try {
      auto const f = co_await issue(twice(1));
      found = "issued";
    } catch (std::runtime_error const& e) {
      found += e.what();
    }
    try {
      int const n = co_await perform(twice(2));
      found += std::to_string(n);
    } catch (std::runtime_error const& e) {
      found += e.what();
    }
  };
  schedule(p, dispatchers{[&](twice c, reply<int> r) {
             if (c.number == 2) elsewhere = std::move(r);
             throw std::runtime_error("no " + std::to_string(c.number) + " ");
           }});
  CHECK(found == "no 1 no 2 ");
  elsewhere->complete(5);  // it had taken the reply: no process waits, and that is harmless
}

TEST_CASE("a command fails with the error that its reply was failed with") {
  every_frame_dies const check;
  std::string found;
  schedule(
      [&]() -> eff<void, commands<nap>> {
        auto f = co_await issue(nap());
        found = co_await outcome_of(std::move(f));
      },
      dispatchers{[](nap, reply<void> r) {
        r.fail(std::make_exception_ptr(std::runtime_error("not tired")));
      }});
  CHECK(found == "not tired");
}

TEST_CASE("a wait for a command whose reply was destroyed throws, with its type and its tag") {
  every_frame_dies const check;
  std::uint64_t tag = 0;
  std::string found;
  desk_of<resolve> desk;
  schedule(
      [&]() -> asking_program {
        auto first = co_await issue(resolve("a"));
        auto second = co_await issue(resolve("b"));
        CHECK_FALSE(second.is_ready());
        (void)desk.take_all();  // no reply will be answered
        CHECK(second.is_ready());
        try {
          (void)co_await second.wait();
        } catch (command_dropped const& e) {
          found = e.what();
          tag = e.tag();
        }
      },
      dispatchers{puts_on(desk), doubles, [](nap, reply<void> r) { r.complete(); }});
  CHECK(tag == 2);
  CHECK(found ==
        "weft: the command weft::tests::resolve, tag 2, will not be answered: its reply was "
        "destroyed");
}

TEST_CASE("a command dropped while a process waits wakes it, with a completion_dropped") {
  every_frame_dies const check;
  desk_of<twice> desk;
  bool was_dropped = false;
  schedule(
      {.forkable = false},
      [&]() -> asking_program {
        co_await spawn(
            [](desk_of<twice>* d) -> eff<void, proc> {
              while (d->size() == 0) co_await proc::yield{};
              (void)d->take();
            },
            &desk);
        try {
          (void)co_await perform(twice(1));
        } catch (completion_dropped const&) {
          was_dropped = true;
        }
      },
      dispatchers{puts_on(desk), [](resolve, reply<std::string> r) { r.complete(""); },
                  [](nap, reply<void> r) { r.complete(); }});
  CHECK(was_dropped);
}

TEST_CASE("a second answer to a command is refused, with its type and its tag") {
  every_frame_dies const check;
  std::string again;
  std::string fails;
  std::string moved;
  int got = 0;
  schedule([&]() -> eff<void, commands<twice>> { got = co_await perform(twice(1)); },
           dispatchers{[&](twice, reply<int> r) {
             r.complete(7);
             again = text_of<std::logic_error>([&] { r.complete(8); });
             fails = text_of<std::logic_error>([&] { r.fail(std::make_exception_ptr(1)); });
             auto const other = std::move(r);
             moved = text_of<std::logic_error>([&] { r.complete(9); });  // NOLINT
           }});
  CHECK(got == 7);
  CHECK_THAT(again, Contains("the command weft::tests::twice, tag 1, is answered once"));
  CHECK(fails == again);
  CHECK(moved == again);
}

TEST_CASE("an assignment to a reply drops the command that it was to answer") {
  every_frame_dies const check;
  std::optional<reply<int>> kept;
  std::string first;
  schedule(
      [&]() -> eff<void, commands<twice>> {
        auto a = co_await issue(twice(1));
        auto b = co_await issue(twice(2));  // replaces the first reply
        first = co_await outcome_of(std::move(a));
        kept->complete(4);
        int const n = co_await b.wait();
        first += std::to_string(n);
      },
      dispatchers{[&](twice, reply<int> r) {
        if (kept)
          *kept = std::move(r);
        else
          kept.emplace(std::move(r));
      }});
  CHECK_THAT(first, Contains("tag 1, will not be answered") && Catch::Matchers::EndsWith("4"));
}

/// The message of the exception that schedule throws, or "none".
template <class Program, class... Handlers>
std::string end_of(Program p, Handlers&&... handlers) {
  try {
    schedule(std::move(p), handlers...);
  } catch (std::exception const& e) {
    return e.what();
  }
  return "none";
}

TEST_CASE("a second wait for a command is refused") {
  every_frame_dies const check;
  std::string const end = end_of(
      []() -> eff<void, commands<twice>> {
        auto f = co_await issue(twice(1));
        int const n = co_await f.wait();
        int const m = co_await f.wait();
        (void)(n + m);
      },
      dispatchers{doubles});
  CHECK_THAT(end, Contains("waited for twice"));
}

TEST_CASE("a wait that reaches its deadline leaves the command in flight") {
  every_frame_dies const check;
  std::optional<reply<int>> kept;
  std::optional<reply<void>> woken;
  std::string found;
  schedule_options virtually;
  virtually.virtual_time = true;
  schedule(
      virtually,
      [&]() -> eff<void, commands<twice, nap>, timing> {
        auto f = co_await issue(twice(1));
        auto n = co_await issue(nap());
        auto const now = co_await timing::now{};
        auto const early = co_await f.wait_until(now + std::chrono::seconds(1));
        bool const woke_early = co_await n.wait_until(now + std::chrono::seconds(1));
        found = early ? "early " : "late ";
        found += woke_early ? "early " : "late ";
        kept->complete(2);
        woken->complete();
        auto const then = co_await f.wait_until(now + std::chrono::seconds(2));
        bool const woke = co_await n.wait_until(now + std::chrono::seconds(2));
        found += std::to_string(then.value_or(0)) + (woke ? " woke" : " slept on");
      },
      dispatchers{[&](twice, reply<int> r) { kept = std::move(r); },
                  [&](nap, reply<void> r) { woken = std::move(r); }});
  CHECK(found == "late late 2 woke");
}

TEST_CASE("an answer may be move-only, and need not be waited for") {
  every_frame_dies const check;
  struct box_up : command<std::unique_ptr<int>> {
    explicit box_up(int n) : number(n) {}
    int number;
  };
  int got = 0;
  schedule(
      [&]() -> eff<void, commands<box_up>> {
        (void)co_await issue(box_up(1));
        auto const box = co_await perform(box_up(5));
        got = *box;
      },
      dispatchers{[](box_up c, reply<std::unique_ptr<int>> r) {
        r.complete(std::make_unique<int>(c.number));
      }});
  CHECK(got == 5);
}

TEST_CASE("if the constructor of the answer throws, the command may be answered again") {
  every_frame_dies const check;
  struct even {
    explicit even(int n) : value(n) {
      if (n % 2) throw std::invalid_argument("odd");
    }
    int value;
  };
  struct ask_even : command<even> {};
  int got = 0;
  schedule(
      [&]() -> eff<void, commands<ask_even>> {
        even const e = co_await perform(ask_even());
        got = e.value;
      },
      dispatchers{[](ask_even, reply<even> r) {
        try {
          r.complete(1);
        } catch (std::invalid_argument const&) {
          r.complete(2);
        }
      }});
  CHECK(got == 2);
}

TEST_CASE("an answer after the end of its process, or of its scheduler, has no effect") {
  every_frame_dies const check;
  desk_of<twice> desk;
  schedule(
      []() -> eff<void, commands<twice>> {
        (void)co_await issue(twice(1));
        (void)co_await issue(twice(2));
      },
      dispatchers{puts_on(desk)});
  CHECK(desk.size() == 2);
  desk.take().answer.complete(2);
  // The other reply is dropped with the desk, later still.
}

eff<void, commands<twice>> asks(int n, std::reference_wrapper<std::string> to) {
  to.get() = "asked";
  int const answer = co_await perform(twice(n));
  to.get() = std::to_string(answer);
}

TEST_CASE("an answer after its process was cancelled has no effect") {
  every_frame_dies const check;
  desk_of<twice> desk;
  std::string waited = "not at all";
  dispatchers d{puts_on(desk), [](resolve, reply<std::string> r) { r.complete(""); },
                [](nap, reply<void> r) { r.complete(); }};
  std::string const thrown = end_of(
      [&]() -> asking_program {
        co_await spawn(asks, 1, std::ref(waited));
        while (desk.size() == 0) co_await proc::yield{};
        throw std::runtime_error("the other one failed");
      },
      d);
  CHECK(thrown == "the other one failed");
  CHECK(waited == "asked");
  desk.take().answer.complete(2);
  CHECK(waited == "asked");
}

TEST_CASE("a command in flight when its scheduler is destroyed may be answered then") {
  every_frame_dies const check;
  desk_of<twice> desk;
  std::string waited;
  {
    scheduler<> s;
    s.start([&]() -> eff<void, commands<twice>> { co_await asks(3, waited); },
            dispatchers{puts_on(desk)});
    s.step();
  }
  CHECK(waited == "asked");
  desk.take().answer.complete(6);
  CHECK(waited == "asked");
}

TEST_CASE("a handler that is not a dispatcher makes its replies itself") {
  every_frame_dies const check;
  struct counts_down {
    in_flight<int> on(issuing<twice>::issue const& o) {
      auto r = reply<int>::to<twice>(--tag);
      auto its = r.get_in_flight();
      twice_given = text_of<std::logic_error>([&] { (void)r.get_in_flight(); });
      r.complete(o.what.number * 2);
      return its;
    }
    std::uint64_t tag = 100;
    std::string twice_given{};
  };
  counts_down handler;
  std::string got;
  schedule(
      [&]() -> eff<void, commands<twice>> {
        auto f = co_await issue(twice(21));
        got = std::to_string(f.tag()) + " ";
        int const n = co_await f.wait();
        got += std::to_string(n);
      },
      handler);
  CHECK(got == "99 42");
  CHECK_THAT(handler.twice_given, Contains("one completion"));
}

TEST_CASE("commands may be handled inside a program, for a part of it") {
  every_frame_dies const check;
  int got = 0;
  schedule([&]() -> eff<void, completions> {
    got = co_await handle<issuing<twice>>(
        dispatchers{doubles},
        [](int n) -> eff<int, commands<twice>> { co_return co_await perform(twice(n)); }(4));
  });
  CHECK(got == 8);
}

TEST_CASE(
    "a process that has issued a command cannot fork; the message names the command and its "
    "place") {
  every_frame_dies const check;
  std::string issued;
  std::string performed;
  auto const forks = [](bool performs, std::string& what) {
    return [performs, &what]() -> eff<void, commands<twice>, proc> {
      if (performs)
        (void)co_await perform(twice(1));
      else
        (void)co_await issue(twice(1));
      try {
        (void)co_await proc::fork{};
      } catch (unforkable const& e) {
        what = e.what();
      }
    };
  };
  schedule(forks(false, issued), dispatchers{doubles});
  schedule(forks(true, performed), dispatchers{doubles});
  CHECK_THAT(
      issued,
      Contains("issuing<weft::tests::twice>::issue at tests/sched/commands/commands_test.cpp"));
  CHECK_THAT(
      performed,
      Contains("issuing<weft::tests::twice>::issue at tests/sched/commands/commands_test.cpp"));
}

TEST_CASE("under every schedule another process answers a command, before the wait or in it") {
  struct state {
    desk_of<twice> desk;
    int got = 0;
  };
  bool before = false;
  bool during = false;
  auto const answers = [](state* at) -> eff<void, proc> {
    co_await proc::yield{};
    auto [asked, answer] = at->desk.take(at->desk.size() - 1);
    answer.complete(2 * asked.number);
  };
  struct to_desk {
    state* s;
    in_flight<int> on(issuing<twice>::issue const& o) const {
      auto r = reply<int>::to<twice>(s->desk.size() + 1);
      auto its = r.get_in_flight();
      s->desk.put(o.what, std::move(r));
      return its;
    }
  };
  auto const found =
      explore([] { return std::make_unique<state>(); },
              [&](std::unique_ptr<state>& s) -> asking_program {
                auto a = co_await issue(twice(1));
                co_await spawn(answers, s.get());
                auto b = co_await issue(twice(10));
                co_await spawn(answers, s.get());
                co_await proc::yield{};
                (b.is_ready() ? before : during) = true;
                int const at_b = co_await b.wait();
                int const at_a = co_await a.wait();
                s->got = at_a + at_b;
              },
              [](std::unique_ptr<state>& s) { return s->got == 22; },
              [](std::unique_ptr<state>& s) { return to_desk{s.get()}; },
              [](std::unique_ptr<state>&) {
                return dispatchers{[](resolve, reply<std::string> r) { r.complete(""); },
                                   [](nap, reply<void> r) { r.complete(); }};
              });
  INFO(found.summary());
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(before);
  CHECK(during);
}

TEST_CASE("under every schedule a command without an answer is a deadlock, and no hang") {
  auto const found =
      explore([] { return std::make_unique<desk_of<twice>>(); },
              [](std::unique_ptr<desk_of<twice>>&) -> eff<void, commands<twice>> {
                (void)co_await perform(twice(1));
              },
              [](std::unique_ptr<desk_of<twice>>&) { return true; },
              [](std::unique_ptr<desk_of<twice>>& d) { return dispatchers{puts_on(*d)}; });
  CHECK_FALSE(found.ok());
  CHECK(found.deadlocks == 1);
}
