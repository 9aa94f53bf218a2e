// SPDX-License-Identifier: MIT
#include "weft/trace/tracing.hpp"

#include "tests/prelude.hpp"
#include "tests/support/own_directory.hpp"
#include "weft/sched/runtime/submitter.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/trace/trace_files.hpp"

/// An event in words: "1.1 performs proc::yield".
std::string line_of(trace_event const& e) {
  std::string s(name_of_kind(e.kind));
  switch (e.kind) {
    case trace_kind::park:
    case trace_kind::unpark:
    case trace_kind::wake:
    case trace_kind::steal:
    case trace_kind::cancel:
      break;
    default:
      s = e.process.text() + ' ' + s;
  }
  if (e.kind == trace_kind::spawn || e.kind == trace_kind::fork) s += ' ' + e.other.text();
  if (e.kind == trace_kind::put) s += ' ' + std::string(name_of_reason(e.reason));
  if (e.kind == trace_kind::resume && !e.operation.empty()) s += ' ' + std::to_string(e.value);
  if (!e.operation.empty()) s += ' ' + std::string(e.operation);
  if (!e.text.empty()) s += " '" + std::string(e.text) + '\'';
  if (e.is_replayed) s += " again";
  return s;
}
std::string lines_of(trace const& t) {
  std::string s;
  for (auto const& e : t.events()) s += line_of(e) + '\n';
  return s;
}

constexpr unsigned yields_at = __LINE__ + 2;
eff<void, proc, console> yields_and_prints() {
  co_await proc::yield{};
  co_await console::print{"x"};
}

TEST_CASE("a trace has each thing that a scheduler does, in its order") {
  trace t;
  std::string printed;
  schedule<tracing<>>({.forkable = false, .trace = &t}, yields_and_prints,
                      console_to_string(printed));
  CHECK(printed == "x");
  CHECK(lines_of(t) ==
        "1 spawn 1\n"
        "1 put started\n"
        "1 take\n"
        "1 resume\n"
        "1 perform weft::proc::yield\n"
        "1 suspend weft::proc::yield\n"
        "1 put yielded weft::proc::yield 'yields_and_prints'\n"
        "1 take weft::proc::yield\n"
        "1 resume 0 weft::proc::yield\n"
        "1 perform weft::console::print 'x'\n"
        "1 answer weft::console::print\n"
        "1 end\n");
}

TEST_CASE("an event of an operation names its place and the handler that answers") {
  trace t;
  std::string printed;
  schedule<tracing<>>({.trace = &t}, yields_and_prints, console_to_string(printed));
  auto const all = t.events();
  auto const performs = [](trace_event const& e) { return e.kind == trace_kind::perform; };
  std::vector<std::string> handlers;
  for (auto const& e : all | std::views::filter(performs)) {
    handlers.emplace_back(e.handler);
    CHECK(e.line - yields_at <= 1);
    CHECK(std::string(e.file).ends_with("tracing_test.cpp"));
    CHECK(e.worker == 0);
  }
  REQUIRE(handlers.size() == 2);
  CHECK(handlers[0] == "weft::scheduler");
  CHECK(handlers[1] == "weft::console_to_string");
}

TEST_CASE(
    "an event of an operation has the handlers around it, and the first event those outside") {
  trace t;
  std::string printed;
  auto const body = []() -> eff<void, reader<int>, state<int>, proc, console> {
    (void)co_await reader<int>::ask{};
    (void)co_await state<int>::get{};
    co_await proc::yield{};
    co_await console::print{"x"};
  };
  auto const program = [&]() -> eff<void, state<int>, proc, console> {
    co_await handle<reader<int>>(reader_of(1), body);
    (void)co_await state<int>::get{};
  };
  schedule<tracing<>>({.forkable = false, .trace = &t}, program, console_to_string(printed),
                      state_of(0));
  auto const all = t.events();
  REQUIRE_FALSE(all.empty());
  CHECK(all[0].kind == trace_kind::spawn);
  CHECK(all[0].under == "weft::scheduler\nweft::console_to_string\nweft::state_of<int>");
  std::string seen;
  for (auto const& e : all)
    if (e.kind == trace_kind::perform || e.kind == trace_kind::suspend)
      seen += std::to_string(e.depth) + ' ' + std::string(e.handler) + " of " +
              std::string(e.under.substr(0, e.under.find('\n'))) + '\n';
  CHECK(seen ==
        "3 weft::state_of<int> of weft::reader_of<int>\n"
        "1 weft::scheduler of weft::reader_of<int>\n"
        "1 weft::scheduler of weft::reader_of<int>\n"
        "2 weft::console_to_string of weft::reader_of<int>\n"
        "2 weft::state_of<int> of weft::scheduler\n");
}

std::size_t count(trace const& t, trace_kind k) {
  return static_cast<std::size_t>(std::ranges::count(t.events(), k, &trace_event::kind));
}

TEST_CASE("after a fork, what a process does again from its log is marked") {
  trace t;
  std::string printed;
  auto const program = []() -> eff<void, proc, console> {
    co_await console::print{"a"};
    bool const first = co_await proc::fork{};
    co_await console::print{first ? "b" : "c"};
  };
  schedule<tracing<>>({.trace = &t}, program, console_to_string(printed));
  CHECK(printed == "abc");
  CHECK(count(t, trace_kind::fork) == 1);
  std::vector<std::string> prints;
  for (auto const& e : t.events())
    if (e.kind == trace_kind::perform && !e.text.empty()) prints.push_back(line_of(e));
  CHECK(prints == std::vector<std::string>{"1 perform weft::console::print 'a'",
                                           "1 perform weft::console::print 'b'",
                                           "1.1 perform weft::console::print 'a' again",
                                           "1.1 perform weft::console::print 'c'"});
}

TEST_CASE("a process that fails is an event with its message, and all others are cancelled") {
  trace t;
  auto const program = []() -> eff<void, spawning<proc>, proc> {
    co_await spawn([]() -> eff<void, proc> {
      for (;;) co_await proc::yield{};
    });
    co_await proc::yield{};
    throw std::runtime_error("wrong");
  };
  CHECK_THROWS_AS(schedule<tracing<>>({.trace = &t}, program), std::runtime_error);
  auto const all = t.events();
  auto const failed = std::ranges::find(all, trace_kind::fail, &trace_event::kind);
  REQUIRE(failed != all.end());
  CHECK(failed->process.text() == "1");
  CHECK(failed->text == "wrong");
  CHECK(std::ranges::count(all, trace_kind::cancel, &trace_event::kind) == 1);
  CHECK(std::ranges::count_if(all, [](auto const& e) {
          return e.kind == trace_kind::end && e.process.text() == "1.1";
        }) == 1);
}

TEST_CASE("a trace has each message as a send and a receive of the same mailbox") {
  trace t;
  int sum = 0;
  auto const program = [&sum]() -> eff<void, spawning<mail>, mail> {
    auto [in, to] = co_await open<int>({.capacity = 2});
    co_await spawn(
        [](address<int> there) -> eff<void, mail> {
          for (int i = 0; i != 10; ++i) co_await there.send(i);
        },
        to);
    for (int i = 0; i != 10; ++i) sum += co_await in.receive();
  };
  schedule<tracing<>>({.forkable = false, .trace = &t}, program);
  CHECK(sum == 45);
  std::map<std::uint64_t, int> open;
  for (auto const& e : t.events()) {
    if (e.kind == trace_kind::send) ++open[e.object];
    if (e.kind == trace_kind::receive) CHECK(--open[e.object] >= 0);
  }
  CHECK(count(t, trace_kind::send) == 10);
  CHECK(count(t, trace_kind::receive) == 10);
  CHECK(open.size() == 1);
}

TEST_CASE("a trace has alarms, and tasks that become processes") {
  trace t;
  auto const one = [](int n) -> eff<int, timing> {
    co_await timing::sleep_for{std::chrono::milliseconds(n)};
    co_return n;
  };
  auto const program = [one]() -> eff<void, tasking<timing>, timing> {
    (void)co_await when_all(one(1), one(2));
  };
  schedule<tracing<>>({.forkable = false, .virtual_time = true, .trace = &t}, program);
  CHECK(count(t, trace_kind::timer) == 2);
  auto const all = t.events();
  CHECK(std::ranges::count_if(all, [](auto const& e) {
          return e.kind == trace_kind::task_taken && e.value == 1;
        }) == 2);
}

TEST_CASE("a trace has tasks that are offered, and that their owner does itself") {
  trace t;
  auto const one = [](int n) -> eff<int> { co_return n; };
  auto const program = [one]() -> eff<void, tasking<>> {
    (void)co_await when_all(one(1), one(2), one(3));
  };
  schedule<tracing<>>({.forkable = false, .trace = &t}, program);
  CHECK(count(t, trace_kind::task_offered) == 1);
  CHECK(count(t, trace_kind::task_taken) == 2);
}

TEST_CASE("a trace has the versions of the queue that are kept, with the parts that they share") {
  trace t;
  scheduler<tracing<>> s(schedule_options{.trace = &t});
  std::string printed;
  auto const program = []() -> eff<void, proc, console> {
    for (int i = 0; i != 3; ++i) co_await proc::fork{};
    co_await console::print{"."};
  };
  s.start({.trace = &t}, program, console_to_string(printed));
  for (int i = 0; i != 4; ++i) REQUIRE(s.step());
  auto const first = s.checkpoint();
  REQUIRE(s.step());
  auto const second = s.checkpoint();
  s.run();
  s.run(first);
  CHECK(printed.size() == 16);
  std::vector<std::string> kept;
  std::vector<std::string> restored;
  for (auto const& e : t.events()) {
    if (e.kind == trace_kind::checkpoint) kept.emplace_back(e.text);
    if (e.kind == trace_kind::restore) restored.emplace_back(e.text);
  }
  REQUIRE(kept.size() == 2);
  REQUIRE(restored.size() == 1);
  CHECK(restored[0] == kept[0]);
  CHECK(std::ranges::count(kept[0], '1') >= static_cast<std::ptrdiff_t>(first.ready().size()));
  // The first process of the second version lies where it lies in the first version, or next to it.
  CHECK(kept[0].find(':') != std::string::npos);
  CHECK(kept[0] != kept[1]);
}

TEST_CASE("a put from another thread is in the trace, as of a thread outside") {
  trace t;
  int n = 0;
  scheduler<tracing<>> s(schedule_options{.trace = &t});
  s.start({.trace = &t}, []() -> eff<void, spawning<>> { co_return; });
  {
    auto submitter = s.submitter<>();
    std::thread([&] {
      submitter.submit(
          [](int& m) -> eff<void> {
            ++m;
            co_return;
          },
          std::ref(n));
    }).join();
  }
  s.run();
  CHECK(n == 1);
  auto const all = t.events();
  CHECK(std::ranges::count_if(all, [](auto const& e) {
          return e.kind == trace_kind::put && e.worker == trace_event::outside &&
                 e.process.text() == "0.1";
        }) == 1);
}

TEST_CASE("a trace that is full drops events, and counts them") {
  trace t({.max_events = 7, .max_text = 0});
  std::string printed;
  schedule<tracing<>>({.forkable = false, .trace = &t}, yields_and_prints,
                      console_to_string(printed));
  CHECK(t.events().size() == 7);
  CHECK(t.dropped() == 5);
  CHECK(t.texts_dropped() == 2);  // what was printed, and a name
}

TEST_CASE("a traced scheduler without a trace does the same, and keeps nothing") {
  std::string printed;
  schedule<tracing<>>(yields_and_prints, console_to_string(printed));
  CHECK(printed == "x");
}

TEST_CASE("a trace for a scheduler that keeps none is refused") {
  trace t;
  std::string printed;
  CHECK_THROWS_AS(schedule({.trace = &t}, yields_and_prints, console_to_string(printed)),
                  std::logic_error);
}

TEST_CASE("a trace has the function of a process once") {
  trace t;
  auto const program = []() -> eff<void, spawning<proc>> {
    co_await spawn([]() -> eff<void, proc> {
      co_await proc::yield{};
      co_await proc::yield{};
    });
  };
  schedule<tracing<>>({.forkable = false, .trace = &t}, program);
  auto const has_name = [](trace_event const& e) {
    return e.kind == trace_kind::put && !e.text.empty();
  };
  auto const all = t.events();
  CHECK(std::ranges::count_if(all, has_name) == 1);
  auto const named = std::ranges::find_if(all, has_name);
  REQUIRE(named != all.end());
  CHECK(named->process.text() == "1.1");
  CHECK(named->text == "lambda");
}

TEST_CASE("a run writes its trace to a file at its end, also if it deadlocks") {
  tests::own_directory const here;
  auto const file = here.file("run.html");
  trace t({.file = file});
  gate g;
  auto const waits = [&]() -> eff<void, syncing> { co_await syncing::wait{g}; };
  CHECK_THROWS_AS(schedule<tracing<>>({.trace = &t}, waits), deadlock);
  std::ifstream from(file);
  std::string const page((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
  CHECK_THAT(page, Contains("<html") && Contains("weft::syncing::wait"));
}
