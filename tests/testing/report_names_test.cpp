// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// A report tells a schedule as a story, with names, places and values.

using Catch::Matchers::EndsWith;

namespace {

using works = eff<void, syncing>;
using program = eff<void, spawning<syncing>>;

struct world {
  mutex lock;
  condition changed;
  semaphore permits{1};
  barrier meeting{1};
  shared<int> number{0};
  shared<std::string> text;
  shared<bool> flag{false};
  int n = 0;
  bool has_waited = false;
  gate never;
  works sleeps() { co_await syncing::wait{never}; }
};
using owned_world = std::unique_ptr<world>;
owned_world make_world() { return std::make_unique<world>(); }

/// The report of a search whose check never agrees: the story of the first schedule.
template <class Program>
std::string told(Program p) {
  return explore({.granularity = granularity::parallel, .stop_at_failure = true}, make_world, p,
                 [](owned_world&) { return false; })
      .report();
}

works adds_one(world& w) {
  int const n = co_await w.number.get();
  co_await w.number.set(n + 1);
}
works says(world& w) { co_await w.text.set("well"); }
works calls_another(world& w) {
  auto const held = co_await w.lock.lock();
  co_await says(w);
}
program alike_and_others(owned_world& w) {
  co_await spawn(adds_one, std::ref(*w));
  co_await spawn(calls_another, std::ref(*w));
  co_await spawn(adds_one, std::ref(*w));
  co_await spawn([](world& of) -> works { co_await of.flag.set(true); }, std::ref(*w));
}

}  // namespace

TEST_CASE("a report names a process by its function, with a number where several are alike") {
  auto const text = told(alike_and_others);
  CHECK_THAT(text, Contains("1.1 (adds_one #1): spawned at "));
  CHECK_THAT(text, Contains("1.2 (calls_another): spawned at "));
  CHECK_THAT(text, Contains("1.3 (adds_one #2): spawned at "));
  CHECK_THAT(text, Contains("1.4 (lambda): spawned at "));
}

works writes_log(world& w) { return named("log writer", adds_one(w)); }
program under_names(owned_world& w) {
  co_await spawn(writes_log, std::ref(*w));
  co_await spawn(adds_one, std::ref(*w));
  co_await spawn(writes_log, std::ref(*w));
  co_await spawn([](world& of) -> works { co_await named("inside", adds_one(of)); }, std::ref(*w));
}

TEST_CASE("a process that the program names has that name; an inner call gives it none") {
  auto const text = told(under_names);
  CHECK_THAT(text, Contains("1.1 (log writer #1): spawned at "));
  CHECK_THAT(text, Contains("1.2 (adds_one): spawned at "));
  CHECK_THAT(text, Contains("1.3 (log writer #2): spawned at "));
  CHECK_THAT(text, Contains("1.4 (lambda): spawned at "));
}

TEST_CASE("a named computation has the result of its body, throws what it throws, and is unwound") {
  every_frame_dies const here;
  CHECK(run(named("sum", []() -> eff<int> { co_return 42; }())) == 42);
  auto const throws = []() -> eff<void> {
    throw std::runtime_error("no");
    co_return;
  };
  CHECK_THROWS_WITH(run(named("throws", throws())), "no");
  {
    auto const never_run = named("idle", throws());
  }
  world w;
  std::string said;
  try {
    schedule([&w]() -> eff<void, syncing> { return named("sleeper", w.sleeps()); });
  } catch (deadlock const& d) {
    said = d.what();
  }
  CHECK_THAT(said, Contains("process 1 (sleeper) in weft::syncing::wait at "));
}

TEST_CASE("a report says where a process was spawned") {
  auto const text = told(alike_and_others);
  auto const at = text.find("1.1 (adds_one #1): spawned at ");
  REQUIRE(at != text.npos);
  CHECK_THAT(text.substr(at, 120), Contains("report_names_test.cpp:4"));
}

TEST_CASE("a report names the calls of the library, and what shared values are") {
  auto const text = told(alike_and_others);
  CHECK_THAT(text, Contains("shared::get at report_names_test.cpp:") ||
                       Contains("shared::get at tests/testing/report_names_test.cpp:"));
  CHECK_THAT(text, Contains(" = 0") && Contains(" = 1"));
  CHECK_THAT(text, Contains("mutex::lock at "));
  CHECK_THAT(text, Contains(" = \"well\""));
  CHECK_THAT(text, Contains(" = true"));
  CHECK_THAT(text, !Contains("syncing::touch") && !Contains("syncing::own"));
}

TEST_CASE("a report names each call that waits") {
  auto const text = told([](owned_world& w) -> program {
    co_await spawn(
        [](world& of) -> works {
          co_await of.permits.acquire();
          of.permits.release();
          co_await of.meeting.arrive_and_wait();
          bool const has_permit = co_await of.permits.try_acquire();
          CHECK(has_permit);
          auto const held = co_await of.lock.try_lock();
          CHECK(held);
          co_await of.number.update([](int& n) { n += 5; });
          int const five = co_await of.number.wait_for([](int n) { return n == 5; });
          CHECK(five == 5);
        },
        std::ref(*w));
  });
  for (auto const* call :
       {"semaphore::acquire at ", "barrier::arrive_and_wait at ", "semaphore::try_acquire at ",
        "mutex::try_lock at ", "shared::update at ", "shared::wait_for at ", " = 5"})
    CHECK_THAT(text, Contains(call));
}

namespace {
works waits_for_news(world& w) {
  auto held = co_await w.lock.lock();
  while (w.n == 0) {
    co_await w.changed.wait(held);
    w.has_waited = true;
  }
}
works brings_news(world& w) {
  auto const held = co_await w.lock.lock();
  ++w.n;
  w.changed.notify_one();
}
}  // namespace

TEST_CASE("a report says which process a notification wakes, and says it of no unlock") {
  auto const text = explore(
                        {.granularity = granularity::parallel, .stop_at_failure = true}, make_world,
                        [](owned_world& w) -> program {
                          co_await spawn(waits_for_news, std::ref(*w));
                          co_await spawn(brings_news, std::ref(*w));
                        },
                        [](owned_world& w) { return !w->has_waited; })
                        .report();
  CHECK_THAT(text, Contains("condition::wait at "));
  CHECK_THAT(text, Contains("a notification takes effect; wakes 1.1 (waits_for_news)"));
  CHECK(std::ranges::count(text, ';') == 1);
}

namespace {
eff<void, tasking<syncing>> two_tasks(owned_world& w) {
  co_await when_all(adds_one(*w), [](world& of) -> works { co_await adds_one(of); }(*w));
}

}  // namespace

TEST_CASE("a task has the name of its function") {
  auto const text = told(two_tasks);
  CHECK_THAT(text, Contains("1.1 (adds_one): begins"));
  CHECK_THAT(text, Contains("1.2 (lambda): begins"));
  CHECK_THAT(text, Contains("1 (two_tasks): "));
}

namespace {
template <class T>
works counts_in_a_handler(world& w, T) {
  auto const counts = [](world& of) -> eff<void, state<int>, syncing> {
    co_await state<int>::put{1};
    co_await of.number.set(co_await state<int>::get{});
  };
  (void)co_await handle<state<int>>(state_of(0), counts(w));
}
}  // namespace

TEST_CASE("the name is that of the outermost function, outside of its handlers") {
  auto const text = told(
      [](owned_world& w) -> program { co_await spawn(counts_in_a_handler<int>, std::ref(*w), 1); });
  CHECK_THAT(text, Contains("1.1 (counts_in_a_handler): spawned at "));
}

TEST_CASE("a deadlock names the processes and their calls") {
  auto const both = [](owned_world& w) -> program {
    co_await spawn(waits_for_news, std::ref(*w));
    co_await spawn(waits_for_news, std::ref(*w));
    co_await spawn(
        [](world& of) -> works {
          co_await of.permits.acquire();
          co_await of.permits.acquire();
        },
        std::ref(*w));
  };
  auto w = make_world();
  std::string text;
  try {
    schedule([&] { return both(w); });
  } catch (deadlock const& d) {
    text = d.what();
  }
  CHECK_THAT(text, Contains("process 1.1 (waits_for_news #1) in weft::condition::wait at "));
  CHECK_THAT(text, Contains("process 1.2 (waits_for_news #2) in weft::condition::wait at "));
  CHECK_THAT(text, Contains("process 1.3 (lambda) in weft::semaphore::acquire at "));
}

namespace {
struct without_text {
  friend std::string to_string(without_text const&) { throw std::runtime_error("no text"); }
};
}  // namespace

TEST_CASE("a report does without the values that have no text") {
  struct two_values {
    shared<char const*> nowhere{nullptr};
    shared<without_text> refuses;
  };
  auto const found = explore(
      {.granularity = granularity::parallel}, [] { return std::make_unique<two_values>(); },
      [](std::unique_ptr<two_values>& v) -> works {
        (void)co_await v->nowhere.get();
        (void)co_await v->refuses.get();
      },
      [](std::unique_ptr<two_values>&) { return false; });
  CHECK(found.complete);
  CHECK_FALSE(found.nondeterminism);
  CHECK_THAT(found.report(), Contains("shared::get at ") && !Contains(" = "));
}
