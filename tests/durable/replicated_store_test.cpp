// SPDX-License-Identifier: MIT
#include "weft/durable/replicated_store.hpp"

#include "tests/durable/killed_programs.hpp"
#include "tests/durable/memory_log.hpp"
#include "tests/durable/stores.hpp"
#include "tests/durable/support.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"

using durable::replicated_store;

// ---- REPLICA-2

TEST_CASE("an entry that stands in the log twice is carried out once") {
  log_medium medium(10'000, 2);
  memory_log log(medium);
  replicated_store s(log);
  s.start(start_of("a"));
  auto const first = send(s, "a", "1").message.sequence;
  auto const second = send(s, "a", std::string(50'000, 'x')).message.sequence;  // several entries
  CHECK(second == first + 1);
  auto p = part_of(s, "a");
  p.entries = {{"one", ""}};
  CHECK(is_accepted(s, p));
  auto const a = loaded(s, "a");
  CHECK(a.log.size() == 1);
  CHECK(a.inbox.size() == 2);
  CHECK(a.inbox[1].data.size() == 50'000);
  memory_log again(medium);
  replicated_store copy(again);
  CHECK(contents(copy) == contents(s));
}

TEST_CASE("an entry of another version is an error, not a guess") {
  log_medium medium;
  memory_log log(medium);
  log.append(GENERATE("", "garbage", "\x96\x02\xa1w\x01\x00\x01\xa0",
                      "\x96\x01\xa1w\x01\x00\x01\xa2\x91\x63"));
  CHECK_THROWS_WITH(replicated_store(log), Catch::Contains("does not know"));
}

TEST_CASE("a copy that cannot read an entry does not go on without it") {
  log_medium medium;
  memory_log log(medium);
  replicated_store s(log);
  memory_log other(medium);
  other.append("\x96\x01\xa1w\x01\x00\x01\xa2\x91\x63");
  for (int i = 0; i != 2; ++i) CHECK_THROWS_WITH(s.find("a"), Catch::Contains("does not know"));
}

/// A log whose appends can fail, before or after the entry is in it.
class failing_log final : public memory_log {
 public:
  using memory_log::memory_log;

  int lost = 0;        ///< So many appends fail, and are not in the log.
  int unanswered = 0;  ///< So many appends fail, and are in the log.
  std::string last_lost;
  bool adds_it_after_next = false;

  std::uint64_t append(std::string const& bytes) override {
    if (lost != 0) {
      --lost;
      last_lost = bytes;
      throw durable::store_error("no server answers");
    }
    auto number = memory_log::append(bytes);
    if (std::exchange(adds_it_after_next, false)) memory_log::append(last_lost);
    if (unanswered == 0) return number;
    --unanswered;
    throw durable::store_error("no server answers");
  }
};

TEST_CASE("a late piece of a command that was given up does not hinder the next command") {
  log_medium medium(300);
  failing_log log(medium);
  replicated_store s(log);
  s.start(start_of("a"));
  std::string const long_text(500, 'x');
  log.lost = 1;
  CHECK_THROWS_AS(send(s, "a", long_text), durable::store_error);
  log.adds_it_after_next = true;
  send(s, "a", long_text);
  CHECK(s.find("a")->messages == 1);
}

constexpr std::chrono::milliseconds lease = 10s;

TEST_CASE("a worker is told of its own message that entered the log after its send had failed") {
  log_medium medium;
  failing_log log(medium);
  replicated_store s(log, {.lease = lease, .has_thread = false});
  s.join("worker", [] {});
  s.start(start_of("a"));
  REQUIRE(s.claim(1).size() == 1);
  log.unanswered = 1;
  CHECK_THROWS_AS(s.send({"a", "text", "hello"}, "key"), durable::store_error);
  CHECK(s.send({"a", "text", "hello"}, "key").message.sequence == 0);
  auto const changes = s.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes.front().effect.message.data == "hello");
}

TEST_CASE("a worker that could not leave and joins again has no processes") {
  log_medium medium;
  failing_log log(medium);
  replicated_store s(log, {.lease = lease, .has_thread = false});
  s.join("worker", [] {});
  s.start(start_of("a"));
  REQUIRE(s.claim(1).size() == 1);
  log.lost = 1;
  s.leave();
  s.join("worker", [] {});
  CHECK(s.workers().front().processes == 0);
  CHECK(s.claim(1).size() == 1);
}

/// Workers on one log: claims, leases, and engines that share processes.
using durable::process_key;

/// A worker of a log, whose time is what the test says.
struct some_worker {
  explicit some_worker(log_medium& m, std::string name = "worker")
      : log(m), store(log, {.lease = lease, .has_thread = false}) {
    store.join(std::move(name), [this] { ++told; });
  }
  memory_log log;
  int told = 0;
  replicated_store store;
};

std::vector<std::string> names_of(replicated_store& s) {
  std::vector<std::string> names;
  for (auto const& w : s.workers()) names.push_back(w.name);
  std::ranges::sort(names);
  return names;
}

// ---- REPLICA-3, REPLICA-5

TEST_CASE("a process is claimed by one worker, and its parts are accepted from no other") {
  log_medium medium;
  some_worker a(medium);
  some_worker b(medium);
  for (char const* const id : {"p", "q", "r"}) a.store.start(start_of(id));
  CHECK(a.store.free_processes() == 3);
  auto const of_a = a.store.claim(2);
  auto const of_b = b.store.claim(2);
  CHECK(of_a == std::vector<process_key>{1, 2});
  CHECK(of_b == std::vector<process_key>{3});
  CHECK(b.store.free_processes() == 0);
  CHECK(b.store.claim(2).empty());
  CHECK_FALSE(is_accepted(b.store, part_of(b.store, "p")));
  CHECK(is_accepted(a.store, part_of(a.store, "p")));
  SECTION("until it is disowned") {
    a.store.disown(of_a);
    CHECK(b.store.claim(5) == of_a);
    CHECK_FALSE(is_accepted(a.store, part_of(a.store, "p")));
    CHECK(is_accepted(b.store, part_of(b.store, "p")));
  }
  SECTION("until the worker leaves") {
    a.store.leave();
    CHECK(names_of(b.store).size() == 1);
    CHECK(b.store.claim(5) == of_a);
  }
  SECTION("one that waits is kept, and is ready for its worker") {
    set_status(a.store, "p", waiting());
    send(b.store, "p", "hello");
    CHECK(b.store.free_processes() == 0);
    auto const news = a.store.take_changes();
    REQUIRE(news.size() == 1);
    CHECK(news[0].effect.process == 1);
    CHECK(news[0].effect.message.data == "hello");
    CHECK_FALSE(news[0].is_lost);
    CHECK(a.store.take_changes().empty());
    CHECK(b.store.take_changes().empty());
  }
  SECTION("one that has ended is nobody's") {
    set_status(a.store, "p", ended());
    std::size_t kept = 0;
    for (auto const& w : a.store.workers()) kept += w.processes;
    CHECK(kept == 2);
  }
  SECTION("one that waits and is nobody's is free when it is woken") {
    set_status(a.store, "p", waiting(50));
    a.store.disown(of_a);
    CHECK(b.store.claim(5) == std::vector<process_key>{2});
    CHECK(b.store.wake_due(50, 10).size() == 1);
    CHECK(b.store.claim(5) == std::vector<process_key>{1});
  }
}

TEST_CASE("processes are claimed in turn, also by a worker that claims and disowns") {
  log_medium medium;
  some_worker a(medium);
  for (char const* const id : {"p", "q", "r"}) a.store.start(start_of(id));
  std::vector<process_key> all;
  for (int i = 0; i != 6; ++i) {
    auto const one = a.store.claim(1);
    REQUIRE(one.size() == 1);
    all.push_back(one[0]);
    a.store.disown(one);
  }
  CHECK(all == std::vector<process_key>{1, 2, 3, 1, 2, 3});
}

/// Ticks of a store in the times after `from`, up to `to`.
void tick(replicated_store& s, replicated_store::time_point from, replicated_store::time_point to) {
  for (auto now = from; now < to; now += lease / 20) s.tick(now);
  s.tick(to);
}

// ---- REPLICA-4

TEST_CASE("a worker that is not heard of for a lease is dead, and its parts are fenced") {
  log_medium medium;
  some_worker a(medium, "a");
  some_worker b(medium, "b");
  a.store.start(start_of("p"));
  auto const of_a = a.store.claim(1);
  replicated_store::time_point const begin{100s};
  b.store.tick(begin);
  SECTION("but not before") {
    tick(b.store, begin, begin + lease - 1ms);
    CHECK(names_of(b.store) == std::vector<std::string>{"a", "b"});
  }
  SECTION("nor if it has done something since") {
    tick(b.store, begin, begin + lease / 2);
    a.store.tick(begin + lease / 2);
    tick(b.store, begin + lease / 2, begin + lease * 3 / 2 - 1ms);
    CHECK(names_of(b.store) == std::vector<std::string>{"a", "b"});
    b.store.tick(begin + lease * 3 / 2);
    CHECK(names_of(b.store) == std::vector<std::string>{"b"});
  }
  SECTION("nor if it is judged by a worker that was cut off itself") {
    b.store.tick(begin + 10 * lease);
    CHECK(names_of(b.store) == std::vector<std::string>{"a", "b"});
  }
  SECTION("though it lives") {
    auto late = part_of(a.store, "p");
    late.status = waiting(10);
    b.told = 0;
    tick(b.store, begin, begin + lease);
    CHECK(b.told > 0);
    CHECK(names_of(b.store) == std::vector<std::string>{"b"});
    CHECK(b.store.claim(1) == of_a);
    CHECK_FALSE(is_accepted(a.store, late));
    auto const lost = a.store.take_changes();
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].is_lost);
    CHECK(lost[0].effect.process == 1);
    a.store.tick(begin + lease);  // it is a worker again, at once
    CHECK(names_of(b.store) == std::vector<std::string>{"a", "b"});
    CHECK(a.store.claim(1).empty());
  }
  SECTION("two that find out do it once") {
    some_worker c(medium, "c");
    c.store.tick(begin);
    tick(b.store, begin, begin + lease);
    CHECK(b.store.claim(1) == of_a);
    tick(c.store, begin, begin + lease - 1ms);
    CHECK(names_of(c.store) == std::vector<std::string>{"b", "c"});
  }
}

// ---- engines

/// One engine of several, with a thread and a log of its own.
struct some_engine {
  some_engine(log_medium& m, std::string const& name, durable::run_until until)
      : log(m),
        store(log, {.lease = 1s}),
        e({.until = until, .worker = name}, store, leaf_process, tree_process, collector_process) {}
  void run() {
    thread = std::jthread(
        [this] { schedule<sharing>({.threads = 2}, [&] { return e.run(); }, outside); });
  }
  memory_log log;
  replicated_store store;
  forest_engine e;
  noted_world outside;
  std::jthread thread;
};
std::map<std::string, int> acts_of(std::vector<std::unique_ptr<some_engine>> const& all) {
  std::map<std::string, int> noted;
  for (auto const& w : all)
    for (auto const& a : w->outside.acts()) ++noted[a];
  return noted;
}

TEST_CASE("engines on one log share its processes, and nothing is done twice") {
  log_medium medium;
  constexpr forest trees{50};
  std::vector<std::unique_ptr<some_engine>> all;
  for (char const* const name : {"a", "b", "c"})
    all.push_back(std::make_unique<some_engine>(medium, name, durable::run_until::all_ended));
  trees.start(all[0]->e);
  for (auto const& w : all) w->run();
  for (auto const& w : all) w->thread.join();
  auto const noted = acts_of(all);
  trees.require_all_done(all[1]->e, noted);
  for (auto const& [act, times] : noted) CHECK(times == 1);  // no worker has died
  // How much each does depends on its threads' share of the processors.
  auto const has_acted = [](auto const& w) { return !w->outside.acts().empty(); };
  CHECK(std::ranges::count_if(all, has_acted) > 1);
}

TEST_CASE("workers come and go, and the others go on") {
  log_medium medium;
  constexpr forest trees{50};
  std::vector<std::unique_ptr<some_engine>> all;
  auto const add = [&](durable::run_until until) -> some_engine& {
    auto const name = std::to_string(all.size());
    all.push_back(std::make_unique<some_engine>(medium, name, until));
    all.back()->run();
    return *all.back();
  };
  some_engine& first = add(durable::run_until::stopped);
  trees.start(first.e);
  for (int i = 0; i != 10; ++i) {
    some_engine& next = add(durable::run_until::stopped);
    for (int step = 0; step != 300; ++step) std::this_thread::yield();
    next.e.stop();
    next.thread.join();
  }
  some_engine& last = add(durable::run_until::all_ended);
  last.thread.join();
  first.e.stop();
  first.thread.join();
  auto const noted = acts_of(all);
  trees.require_all_done(last.e, noted);
  for (auto const& [act, times] : noted) CHECK(times == 1);
  CHECK(last.store.workers().empty());
}

TEST_CASE("an engine whose processes another one has taken lets go of them") {
  log_medium medium;
  some_engine a(medium, "a", durable::run_until::stopped);
  a.e.start("collector", collector_process, 1);
  a.run();
  until([&] { return a.e.find("collector")->status == durable::process_status::waiting; });
  // What another one says of a worker that it does not hear of.
  memory_log log(medium);
  replicated_store::time_point const now{100s};
  some_worker b(medium, "b");
  tick(b.store, now, now + lease);
  send(b.store, "nobody", "word");  // and something happens
  until([&] {
    auto const all = b.store.workers();
    return std::ranges::any_of(all,
                               [](auto const& w) { return w.name == "a" && w.processes == 0; });
  });
  b.store.send({"collector", "int", durable::encode(1)}, {});
  until([&] { return has_ended(a.e.find("collector")->status); });
  CHECK(a.e.result<int>("collector") == 1);
  a.e.stop();
}
