// SPDX-License-Identifier: MIT
#include "weft/durable/engine.hpp"

#include "tests/durable/support.hpp"
#include "tests/prelude.hpp"

using row = durable::all<world>;

/// Runs the engine on the chosen backend, in virtual time.
template <class Engine>
void run_engine(chosen_backend chosen, Engine& e, noted_world& w) {
  run_on(chosen, tests::virtual_time(), [&e] { return e.run(); }, w);
}
std::vector<std::string> operations(durable::store& s, std::string const& id) {
  std::vector<std::string> all;
  auto const p = s.load(s.find(id)->key);
  for (auto const& e : p.log) all.push_back(e.operation);
  return all;
}

// ---- steps

eff<int, row> two_steps(int n) {
  int const a = co_await durable::step("first", act, "first", n);
  int const b = co_await durable::step("second", act, "second", a + 1);
  co_return a + b;
}
constexpr durable::function two_steps_process{"two steps", 1, two_steps};

BACKENDS_TEST_CASE("a durable process runs each step once, and its result is stored", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, two_steps_process);
  e.start("a", two_steps_process, 3);
  e.start("a", two_steps_process, 30);  // the same process
  run_engine(chosen, e, w);
  CHECK(e.result<int>("a") == 7);
  CHECK(w.acts() == std::vector<std::string>{"first", "second"});
  CHECK(operations(*s, "a") == std::vector<std::string>{"step first", "step second"});
  s.reopen();
  durable::engine again(until_all_ended(), *s, two_steps_process);
  run_engine(chosen, again, w);
  CHECK(again.result<int>("a") == 7);
  CHECK(w.acts().size() == 2);
}

eff<std::string, row> with_key(std::string name) {
  auto const key = [](durable::idempotency_key const& k, std::string const& n) -> eff<std::string> {
    co_return n + k.text;
  };
  std::string const first = co_await durable::step("key", key, name);
  co_return first + co_await durable::step("key", key, name);
}
constexpr durable::function with_key_process{"with key", 1, with_key};

TEST_CASE("a step's function gets a key of its process and its position") {
  some_store s(store_kind::memory);
  noted_world w;
  durable::engine e(until_all_ended(), *s, with_key_process);
  e.start("a", with_key_process, "x");
  schedule([&] { return e.run(); }, w);
  CHECK(e.result<std::string>("a") == "xa#0xa#1");
}

eff<int, row> retrying(unsigned attempts) {
  co_return co_await durable::step(
      {.name = "fragile", .attempts = attempts, .first_delay = 1h, .jitter = 0}, act, "fragile", 5);
}
constexpr durable::function retrying_process{"retrying", 1, retrying};

BACKENDS_TEST_CASE("a step that fails is tried again after delays that grow", "", on_one_thread,
                   on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, retrying_process);
  SECTION("until it succeeds") {
    w.fail("fragile", 2);
    e.start("a", retrying_process, 3U);
    run_engine(chosen, e, w);
    CHECK(e.result<int>("a") == 5);
    CHECK(w.count("fragile") == 3);
    CHECK(operations(*s, "a") ==
          std::vector<std::string>{"attempt fragile", "attempt fragile", "step fragile"});
  }
  SECTION("as often as it may") {
    w.fail("fragile", 5);
    e.start("a", retrying_process, 3U);
    run_engine(chosen, e, w);
    CHECK(w.count("fragile") == 3);
    CHECK_THROWS_WITH(e.result<int>("a"),
                      Contains("fragile") && Contains("3 times") && Contains("out of order"));
    CHECK(e.find("a")->status == durable::process_status::failed);
  }
}

eff<std::string, durable::all<timing, world>> limited() {
  auto const sleeps = [](int n) -> eff<int, timing, world> {
    int const answer = co_await world::act("slow", n);
    if (answer == 1) co_await timing::sleep_for{1h};
    co_return answer;
  };
  try {
    co_await durable::step({.name = "slow", .timeout = 10min}, sleeps, 1);
  } catch (durable::step_failed const& e) {
    co_return e.what();
  }
  co_return "in time";
}
constexpr durable::function limited_process{"limited", 1, limited};

BACKENDS_TEST_CASE("a step that takes too long fails", "", on_one_thread, on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, limited_process);
  e.start("a", limited_process);
  run_engine(chosen, e, w);
  CHECK_THAT(e.result<std::string>("a"), Contains("slow") && Contains("1 time"));
}

eff<std::string, row> impatient_step() {
  auto const gives_up = []() -> eff<int> { throw cancelled("too late"); };
  try {
    co_await durable::step("impatient", gives_up);
  } catch (durable::step_failed const& e) {
    co_return e.what();
  }
  co_return "in time";
}
constexpr durable::function impatient_step_process{"impatient step", 1, impatient_step};

TEST_CASE("a step that throws cancelled has failed, like any other") {
  some_store s(store_kind::memory);
  noted_world w;
  durable::engine e(until_all_ended(), *s, impatient_step_process);
  e.start("a", impatient_step_process);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK_THAT(e.result<std::string>("a"), Contains("impatient") && Contains("too late"));
}

eff<int, durable::all<timing>> long_step() {
  auto const sleeps = []() -> eff<int, timing> {
    co_await timing::sleep_for{10h};
    co_return 1;
  };
  co_return co_await durable::step({.name = "long", .attempts = 3}, sleeps);
}
constexpr durable::function long_step_process{"long step", 1, long_step};

TEST_CASE("an engine that is cancelled records nothing of the steps that it ends") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  durable::engine e(until_all_ended(), *s, long_step_process);
  e.start("a", long_step_process);
  auto const for_an_hour = [&]() -> decltype(e.run()) {
    co_await with_scope({.timeout = 1h}, [&](auto&) { return e.run(); });
  };
  CHECK_THROWS_AS(schedule({.virtual_time = true}, for_an_hour), cancelled);
  CHECK(operations(*s, "a").empty());
  CHECK(s->find("a")->status == durable::process_status::ready);
  schedule({.virtual_time = true}, [&] { return e.run(); });
  CHECK(e.result<int>("a") == 1);
}

// ---- time

eff<std::int64_t, row> sleeper() {
  auto const begin = co_await timing::now{};
  co_await timing::sleep_for{24h};
  co_await durable::step("awake", act, "awake", 1);
  co_await timing::sleep_until{begin + 48h};
  co_return (co_await timing::now{} - begin) / 1h;
}
constexpr durable::function sleeper_process{"sleeper", 1, sleeper};

BACKENDS_TEST_CASE("a durable process sleeps, also without frames", "", on_one_thread,
                   in_random_order, on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 1s, 100h);
  durable::engine e(o, *s, sleeper_process);
  e.start("a", sleeper_process);
  run_engine(chosen, e, w);
  CHECK(e.result<std::int64_t>("a") == 48);
  CHECK(w.count("awake") == 1);
}

// ---- mail

eff<std::string, row> collect(int n) {
  std::string all;
  for (int i = 0; i != n; ++i) {
    auto const m = co_await durable::receive<std::string>();
    all += m.message;
  }
  co_return all;
}
constexpr durable::function collect_process{"collect", 1, collect};
eff<void, row> speak(std::string to, std::string words) {
  for (char const c : words) co_await durable::send(to, std::string(1, c));
}
constexpr durable::function speak_process{"speak", 1, speak};

BACKENDS_TEST_CASE("messages arrive once, in the order of their sender", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 0s, 1h);
  durable::engine e(o, *s, collect_process, speak_process);
  e.send("c", std::string("!"), "key");
  e.send("c", std::string("!"), "key");  // the same message
  e.start("s", speak_process, "c", "abcdef");
  e.start("c", collect_process, 7);
  run_engine(chosen, e, w);
  auto all = e.result<std::string>("c");
  CHECK(std::erase(all, '!') == 1);
  CHECK(all == "abcdef");
}

eff<std::string, row> impatient() {
  auto const begin = co_await timing::now{};
  auto const nothing = co_await durable::receive_until<int>(begin + 1h);
  auto const something = co_await durable::receive_until<std::string>(begin + 1h);
  co_return std::string(nothing ? "a number, " : "no number, ") +
      (something ? something->message : "no word");
}
constexpr durable::function impatient_process{"impatient", 1, impatient};

TEST_CASE("a wait for a message ends at its deadline, and takes only its type") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, impatient_process);
  e.start("a", impatient_process);
  e.send("a", std::string("a word"));
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.result<std::string>("a") == "no number, a word");
}

eff<void, row> interrupts(std::string id) {
  co_await timing::sleep_for{10min};
  co_await durable::send(id, std::string("a word"));
}
constexpr durable::function interrupts_process{"interrupts", 1, interrupts};

BACKENDS_TEST_CASE("a deadline holds when a message of another type has come", "", on_one_thread,
                   on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 0s, 20min, 5h);
  durable::engine e(o, *s, impatient_process, interrupts_process);
  e.start("a", impatient_process);
  e.start("b", interrupts_process, "a");
  run_engine(chosen, e, w);
  CHECK(e.result<std::string>("a") == "no number, a word");
}

eff<std::int64_t, row> begins() {
  instant const begin = co_await timing::now{};
  co_await durable::receive_until<int>(begin + 1h);
  co_return begin.time_since_epoch() / 1min;
}
constexpr durable::function begins_process{"begins", 1, begins};

BACKENDS_TEST_CASE("processes that wait make room for others", "", on_one_thread, in_random_order,
                   on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = 1000h;
  o.max_running = 2;
  durable::engine e(o, *s, begins_process);
  for (int i = 0; i != 10; ++i) e.start(std::to_string(i), begins_process);
  run_engine(chosen, e, w);
  for (int i = 0; i != 10; ++i) CHECK(e.result<std::int64_t>(std::to_string(i)) == 0);
}

// ---- children

eff<int, row> half(int n) {
  if (n < 0) throw std::runtime_error("negative");
  co_return co_await durable::step("halve", [](int m) { return m / 2; }, n);
}
constexpr durable::function half_process{"half", 1, half};
eff<int, row> sum_of_halves(int a, int b) {
  auto x = co_await durable::start("half/1", half_process, a);
  auto y = co_await durable::start("half/2", half_process, b);
  auto const [p, q] = co_await durable::when_all(x, y);
  co_return p + q;
}
constexpr durable::function sum_process{"sum", 1, sum_of_halves};

BACKENDS_TEST_CASE("a process waits for its children", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, sum_process, half_process);
  SECTION("and has their results") {
    e.start("sum", sum_process, 10, 20);
    run_engine(chosen, e, w);
    CHECK(e.result<int>("sum") == 15);
  }
  SECTION("and finds their failures") {
    e.start("sum", sum_process, 10, -20);
    run_engine(chosen, e, w);
    CHECK_THROWS_WITH(e.result<int>("sum"), Contains("half/2") && Contains("negative"));
  }
}

eff<int, row> starts_again(int runs) {
  auto half_of_ten = co_await durable::start("half", half_process, 10);
  int const five = co_await half_of_ten.outcome();
  if (runs > 1) co_await durable::continue_as_new(runs - 1);
  co_return five;
}
constexpr durable::function starts_again_process{"starts again", 1, starts_again};

TEST_CASE("a child that has ended before has its outcome for the next run, too") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, starts_again_process, half_process);
  e.start("a", starts_again_process, 3);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.result<int>("a") == 5);
  CHECK(e.find("a")->messages == 0);
}

// ---- cancellation

eff<std::string, row> saga() {
  co_await durable::step("book", act, "book", 1);
  bool was_cancelled = false;
  try {
    co_await timing::sleep_for{1000h};
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  if (!was_cancelled) co_return "kept";
  co_await durable::step("unbook", act, "unbook", 1);
  throw cancelled("weft: the booking was taken back");
}
constexpr durable::function saga_process{"saga", 1, saga};
eff<void, row> canceller() {
  auto c = co_await durable::start("saga", saga_process);
  co_await timing::sleep_for{1h};
  co_await c.cancel();
}
constexpr durable::function canceller_process{"canceller", 1, canceller};

BACKENDS_TEST_CASE("a cancelled process finds it where it waits, and may take back what it did", "",
                   on_one_thread, in_random_order, on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 1s, 5h);
  durable::engine e(o, *s, saga_process, canceller_process);
  e.start("c", canceller_process);
  run_engine(chosen, e, w);
  CHECK(e.find("saga")->status == durable::process_status::cancelled);
  CHECK(w.acts() == std::vector<std::string>{"book", "unbook"});
}

eff<std::string, row> two_waits() {
  try {
    co_await timing::sleep_for{1h};
  } catch (cancelled const&) {
    co_return "in its sleep";
  }
  bool was_cancelled = false;
  try {
    co_await durable::receive<int>();
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  co_await timing::sleep_for{1h};  // so that it is run again
  co_return was_cancelled ? "at its receive" : "never";
}
constexpr durable::function two_waits_process{"two waits", 1, two_waits};
eff<void, row> cancels_later(std::string id, int minutes) {
  co_await timing::sleep_for{minutes * 1min};
  co_await durable::child<void>(id).cancel();
}
constexpr durable::function cancels_later_process{"cancels later", 1, cancels_later};

TEST_CASE("a process that runs again finds its cancellation where it found it") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  auto o = until_all_ended();
  o.keep_waiting = 0s;
  auto const [minutes, where] =
      GENERATE(table<int, std::string>({{30, "in its sleep"}, {90, "at its receive"}}));
  durable::engine e(o, *s, two_waits_process, cancels_later_process);
  e.start("a", two_waits_process);
  e.start("c", cancels_later_process, "a", minutes);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.result<std::string>("a") == where);
}

// ---- changes of the code

eff<int, row> growing_1() {
  co_await durable::step("a", act, "a", 1);
  co_await durable::step("b", act, "b", 1);
  co_await durable::receive<int>();
  co_return 1;
}
eff<int, row> growing_2() {
  co_await durable::step("a", act, "a", 1);
  bool const checks = co_await durable::changed("check");
  if (checks) co_await durable::step("check", act, "check", 1);
  co_await durable::step("b", act, "b", 1);
  co_await durable::receive<int>();
  co_return checks ? 3 : 2;
}
eff<int, row> diverging() {
  co_await durable::step("z", act, "z", 1);
  co_return 4;
}

TEST_CASE("a process whose code has changed goes on in the old way, or is quarantined") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::function const v1{"growing", 1, growing_1};
  {
    durable::engine e(until_idle(), *s, v1);
    e.start("a", v1);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  }
  CHECK(s->find("a")->status == durable::process_status::waiting);
  SECTION("in the old way") {
    durable::function const v2{"growing", 2, growing_2};
    durable::engine e(until_all_ended(), *s, v2);
    e.send("a", 1);
    e.start("b", v2);
    e.send("b", 1);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
    CHECK(e.result<int>("a") == 2);
    CHECK(e.result<int>("b") == 3);
  }
  SECTION("quarantined, and released when the code was mended") {
    durable::function const v3{"growing", 3, diverging};
    durable::engine e(until_idle(), *s, v3);
    e.send("a", 1);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
    auto const p = *e.find("a");
    CHECK(p.status == durable::process_status::quarantined);
    CHECK_THAT(p.result, Contains("a no longer fits its log") && Contains("position 0") &&
                             Contains("version 1") && Contains("\"step a\"") &&
                             Contains("version 3") && Contains("\"step z\""));
    CHECK(p.entries == 2);
    durable::engine mended(until_all_ended(), *s, v1);
    CHECK(mended.resume_quarantined("a"));
    CHECK_FALSE(mended.resume_quarantined("a"));
    schedule({.virtual_time = true}, [&] { return mended.run(); }, w);
    CHECK(mended.result<int>("a") == 1);
  }
  SECTION("quarantined, since no function has its name") {
    durable::engine e(until_idle(), *s, half_process);
    e.send("a", 1);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
    CHECK_THAT(e.find("a")->result, Contains("no function \"growing\""));
  }
}

eff<int, row> counts_down(int n, int sum) {
  co_await durable::step("count", act, "count", n);
  if (n > 0) co_await durable::continue_as_new(n - 1, sum + n);
  co_return sum;
}
constexpr durable::function countdown_process{"countdown", 1, counts_down};

BACKENDS_TEST_CASE("a process continues as new, with an empty log", "", on_one_thread,
                   on_sharing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, countdown_process);
  e.start("a", countdown_process, 10, 0);
  run_engine(chosen, e, w);
  CHECK(e.result<int>("a") == 55);
  CHECK(w.count("count") == 11);
  CHECK(e.find("a")->run == 10);
  CHECK(operations(*s, "a").size() == 1);
}

eff<void, row> published() {
  co_await durable::publish(std::string("begun"));
  co_await durable::receive<int>();
  co_await durable::publish(std::string("received"));
}
constexpr durable::function published_process{"published", 1, published};

TEST_CASE("a query is answered with what the process has published") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_idle(), *s, published_process);
  e.start("a", published_process);
  CHECK_FALSE(e.query<std::string>("a"));
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.query<std::string>("a") == "begun");
  e.send("a", 1);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.query<std::string>("a") == "received");
}

TEST_CASE("an engine lists its processes, page by page, and shows their histories") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite));
  noted_world w;
  durable::engine e(until_all_ended(), *s, two_steps_process);
  for (int i = 0; i != 5; ++i) e.start(std::to_string(i), two_steps_process, i);
  schedule([&] { return e.run(); }, w);
  std::vector<std::string> ids;
  durable::process_key last = 0;
  for (auto some = e.list(last, 2); !some.empty(); some = e.list(last, 2)) {
    CHECK(some.size() <= 2);
    for (auto const& p : some) {
      ids.push_back(p.start.id);
      CHECK(p.status == durable::process_status::completed);
      CHECK(p.entries == 2);
      last = p.key;
    }
  }
  CHECK(ids == std::vector<std::string>{"0", "1", "2", "3", "4"});
  auto const log = e.history("3");
  REQUIRE(log.size() == 2);
  CHECK(log[0].operation == "step first");
  CHECK(log[1].operation == "step second");
  CHECK(durable::readable(log[1].answer) == "[0,4]");
  CHECK_THROWS_AS(e.history("nobody"), std::invalid_argument);
}

// ---- other threads

BACKENDS_TEST_CASE("other threads start processes, send to them and stop the engine", "",
                   on_one_thread, on_sharing<2>, on_stealing<2>) {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e({.keep_waiting = GENERATE(as<std::chrono::nanoseconds>(), 0ms, 1h)}, *s,
                    collect_process, speak_process, two_steps_process);
  std::thread other([&] {
    e.start("c", collect_process, 3);
    e.start("t", two_steps_process, 3);
    e.send("c", std::string("x"));
    CHECK(e.wait_for("t", 10s));
    e.send("c", std::string("y"));
    CHECK_FALSE(e.wait_for("c", 1ms));
    e.send("c", std::string("z"));
    CHECK(e.wait_for("c", 10s));
    e.stop();
  });
  run_on(chosen, {}, [&e] { return e.run(); }, w);
  other.join();
  CHECK(e.result<std::string>("c") == "xyz");
  CHECK(e.result<int>("t") == 7);
}

// ---- other programs

TEST_CASE(
    "an engine that runs until all have ended finds what another engine of the file has done") {
  own_directory folder;
  durable::sqlite_store here(folder.file("store.db"), {.waits_for_disk = false});
  durable::sqlite_store there(folder.file("store.db"), {.waits_for_disk = false});
  noted_world w;
  durable::engine e(
      {.until = durable::run_until::all_ended, .keep_waiting = 1h, .looks_outside = 1ms}, here,
      collect_process, two_steps_process);
  durable::engine other(until_idle(), there, collect_process);
  auto const run_other = [&] { schedule({.virtual_time = true}, [&] { return other.run(); }, w); };
  // Either the other engine has let go of "c", and this one never runs it; or this one keeps it.
  bool const waits_here = GENERATE(false, true);
  if (waits_here) {
    e.start("c", collect_process, 1);
  } else {
    other.start("c", collect_process, 1);
    run_other();
  }
  e.start("t", two_steps_process, 3);
  auto run = std::async(std::launch::async, [&] {
    auto const for_a_while = [&]() -> decltype(e.run()) {
      co_await with_scope({.timeout = 20s}, [&](auto&) { return e.run(); });
    };
    schedule(for_a_while, w);
  });
  CHECK(e.result<int>("t") == 7);
  while (e.find("c")->status != durable::process_status::waiting &&
         run.wait_for(0s) == std::future_status::timeout)
    std::this_thread::yield();
  other.send("c", std::string("x"));
  run_other();
  CHECK(other.result<std::string>("c") == "x");
  CHECK_NOTHROW(run.get());
}

// ---- at most once

eff<std::string, row> careful() {
  try {
    co_await durable::step({.name = "risky", .at_most_once = true}, act, "risky", 1);
  } catch (durable::step_interrupted const& e) {
    co_return e.what();
  }
  co_return "done";
}
constexpr durable::function careful_process{"careful", 1, careful};

TEST_CASE("a step that runs at most once is not run again after a crash") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite, store_kind::shared));
  noted_world w;
  durable::engine e(until_all_ended(), *s, careful_process);
  e.start("a", careful_process);
  SECTION("without a crash it runs") {
    schedule([&] { return e.run(); }, w);
    CHECK(e.result<std::string>("a") == "done");
    CHECK(w.count("risky") == 1);
  }
  SECTION("after a crash it does not") {
    durable::commit_part part;
    part.process = s->find("a")->key;
    part.entries.push_back({"intent risky", std::string(1, '\xc0')});
    std::vector<durable::commit_part*> const parts{&part};
    std::vector<durable::commit_result> results(1);
    s->commit(parts, results);
    CHECK(results[0].is_accepted);
    schedule([&] { return e.run(); }, w);
    CHECK_THAT(e.result<std::string>("a"), Contains("risky") && Contains("not known"));
    CHECK(w.count("risky") == 0);
  }
}
