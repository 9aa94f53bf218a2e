// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <limits>
#include <thread>

#include "tests/durable/store_laws.hpp"

/// The laws of statuses, of what is read, and of threads.

namespace {

// ---- STORE-5

TEMPLATE_LIST_TEST_CASE("STORE-5: a process that has not seen a message does not wait", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto const first = send(*s, "a", "first").message.sequence;
  SECTION("a message that it has seen") {
    set_status(*s, "a", waiting({}, 1));
    CHECK(status_of(*s, "a") == process_status::waiting);
  }
  SECTION("a message that it has taken out") {
    auto p = part_of(*s, "a");
    p.received = {first};
    p.status = waiting();
    CHECK(is_accepted(*s, p));
    CHECK(status_of(*s, "a") == process_status::waiting);
  }
  SECTION("a message that it has not seen") {
    set_status(*s, "a", waiting(70, 0));
    CHECK(status_of(*s, "a") == process_status::ready);
    CHECK_FALSE(s->next_wake());  // a process that is ready is not woken
  }
  SECTION("a message that it has sent to itself in the same commit") {
    auto p = part_of(*s, "a");
    p.sent = {{"a", "word", "to myself"}};
    p.status = waiting({}, 1);
    auto const result = commit(*s, p);
    REQUIRE(result.effects.size() == 1);
    CHECK(result.effects[0].status == process_status::ready);
    CHECK(status_of(*s, "a") == process_status::ready);
  }
  SECTION("a message that comes later in the same commit") {
    s->start(start_of("b"));
    auto of_a = part_of(*s, "a");
    of_a.status = waiting(70, 1);
    auto of_b = part_of(*s, "b");
    of_b.sent = {{"a", "word", "second"}};
    std::array<commit_part*, 2> parts{&of_a, &of_b};
    if (GENERATE(false, true)) std::swap(parts[0], parts[1]);
    std::array<commit_result, 2> results;
    s->commit(parts, results);
    CHECK(status_of(*s, "a") == process_status::ready);
    CHECK_FALSE(s->next_wake());
  }
}

TEMPLATE_LIST_TEST_CASE("STORE-5: a message makes a process that waits ready", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  set_status(*s, "a", waiting(70));
  auto const e = send(*s, "a", "hello");
  CHECK(e.status == process_status::ready);
  CHECK(status_of(*s, "a") == process_status::ready);
  CHECK_FALSE(s->find("a")->wake);
  CHECK_FALSE(s->next_wake());
  CHECK(s->ready(0, 10) == std::vector{e.process});
  CHECK(s->wake_due(100, 10).empty());
}

TEMPLATE_LIST_TEST_CASE("STORE-5: a process that waits is ready when its time has come", "",
                        stores_under_test) {
  TestType s;
  std::vector<process_key> keys;
  for (int i = 0; i != 5; ++i) {
    std::string const id = std::to_string(i);
    keys.push_back(s->start(start_of(id)).process);
    set_status(*s, id, waiting(100 - 10 * i));
  }
  s->start(start_of("forever"));
  set_status(*s, "forever", waiting());
  s.reopen();
  CHECK(s->next_wake() == 60);
  CHECK(s->wake_due(59, 10).empty());
  CHECK(s->wake_due(60, 10) == std::vector{keys[4]});
  CHECK(status_of(*s, "4") == process_status::ready);
  CHECK_FALSE(s->find("4")->wake);
  CHECK(s->wake_due(60, 10).empty());
  CHECK(s->next_wake() == 70);
  auto due = s->wake_due(100, 3);  // the earliest first
  std::ranges::sort(due);
  CHECK(due == std::vector{keys[1], keys[2], keys[3]});
  CHECK(s->next_wake() == 100);
  CHECK(s->wake_due(1'000, 3) == std::vector{keys[0]});
  CHECK_FALSE(s->next_wake());
  CHECK(status_of(*s, "forever") == process_status::waiting);
  CHECK(s->wake_due(1'000, 3).empty());
}

TEMPLATE_LIST_TEST_CASE("STORE-5: a later commit changes the time, or ends the wait", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  set_status(*s, "a", waiting(50));
  SECTION("another time") {
    set_status(*s, "a", waiting(20));
    CHECK(s->next_wake() == 20);
    CHECK(s->wake_due(20, 10).size() == 1);
    CHECK_FALSE(s->next_wake());
  }
  SECTION("no time") {
    set_status(*s, "a", waiting());
    CHECK_FALSE(s->next_wake());
  }
  SECTION("no wait") {
    set_status(*s, "a", {});
    CHECK_FALSE(s->next_wake());
    CHECK(status_of(*s, "a") == process_status::ready);
  }
  SECTION("the end") {
    set_status(*s, "a", ended());
    CHECK_FALSE(s->next_wake());
    CHECK_FALSE(s->find("a")->wake);
  }
  SECTION("a part without a status leaves it") {
    auto p = part_of(*s, "a");
    p.published = "news";
    CHECK(is_accepted(*s, p));
    CHECK(s->next_wake() == 50);
    CHECK(status_of(*s, "a") == process_status::waiting);
  }
}

// ---- starting, ending, continuing

TEMPLATE_LIST_TEST_CASE("a process is started once", "", stores_under_test) {
  TestType s;
  auto const first = s->start({"a", "f", 1, "x", {}});
  CHECK(first.message.sequence == 0);
  auto const again = s->start({"a", "g", 2, "y", "b"});
  CHECK(again.process == first.process);
  CHECK(again.status == process_status::ready);
  auto check = [&] {
    auto const r = s->find("a").value();
    CHECK(r.start.id == "a");
    CHECK(r.start.function == "f");
    CHECK(r.start.version == 1);
    CHECK(r.start.arguments == "x");
    CHECK(r.start.parent.empty());
  };
  check();
  set_status(*s, "a", ended());
  CHECK(s->start(start_of("a")).status == process_status::completed);
  check();
  SECTION("also by another process") {
    s->start(start_of("b"));
    auto p = part_of(*s, "b");
    p.started = {{"a", "h", 3, "z", "b"}, {"c", "h", 3, "z", "b"}, {"c", "i", 4, "zz", "b"}};
    CHECK(is_accepted(*s, p));
    check();
    auto const c = s->find("c").value();
    CHECK(c.start.function == "h");
    CHECK(c.start.parent == "b");
    CHECK(c.status == process_status::ready);
  }
}

TEMPLATE_LIST_TEST_CASE("a process that is continued has a new run, new arguments, and no log", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto const m = send(*s, "a", "stays").message.sequence;
  auto p = part_of(*s, "a");
  p.entries = {{"one", "1"}};
  CHECK(is_accepted(*s, p));
  p = part_of(*s, "a");
  p.continued = "next arguments";
  p.sent = {{"b", "word", "bye"}};
  CHECK(is_accepted(*s, p));
  auto const a = loaded(*s, "a");
  CHECK(a.record.run == 1);
  CHECK(a.record.entries == 0);
  CHECK(a.log.empty());
  CHECK(a.record.start.arguments == "next arguments");
  CHECK(a.record.start.function == "function");
  CHECK(a.record.status == process_status::ready);
  CHECK(a.inbox.size() == 1);
  CHECK(a.inbox[0].sequence == m);
  CHECK(words_in(*s, "b") == std::vector{"bye"s});
  p = part_of(*s, "a");
  CHECK(p.run == 1);
  p.entries = {{"one", "of the second run"}};
  CHECK(is_accepted(*s, p));
  CHECK(loaded(*s, "a").log[0].answer == "of the second run");
}

TEMPLATE_LIST_TEST_CASE("what a process publishes replaces what it has published before", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  CHECK(s->find("a")->published.empty());
  for (std::string const news : {"first", "second\0with a zero", ""}) {
    auto p = part_of(*s, "a");
    p.published = news;
    CHECK(is_accepted(*s, p));
    CHECK(s->find("a")->published == news);
    CHECK(is_accepted(*s, part_of(*s, "a")));  // one without it leaves it
    CHECK(s->find("a")->published == news);
  }
}

TEMPLATE_LIST_TEST_CASE("only a quarantined process is released", "", stores_under_test) {
  TestType s;
  process_key const a = s->start(start_of("a")).process;
  CHECK_FALSE(s->release(a));
  set_status(*s, "a", waiting());
  CHECK_FALSE(s->release(a));
  set_status(*s, "a", {process_status::quarantined, {}, 0, "report"});
  CHECK(s->find("a")->result == "report");
  CHECK(s->ready(0, 10).empty());
  CHECK_FALSE(s->any_unfinished());
  CHECK(send(*s, "a", "hello").status == process_status::quarantined);
  CHECK(s->start(start_of("a")).status == process_status::quarantined);
  CHECK(s->release(a));
  CHECK(status_of(*s, "a") == process_status::ready);
  CHECK(s->find("a")->result.empty());
  CHECK(words_in(*s, "a").size() == 1);
  CHECK_FALSE(s->release(a));
  set_status(*s, "a", ended());
  CHECK_FALSE(s->release(a));
  CHECK_FALSE(s->release(99));
  CHECK_FALSE(s->release(0));
}

// ---- reading

TEMPLATE_LIST_TEST_CASE("processes are listed in the order of their keys, from any on", "",
                        stores_under_test) {
  TestType s;
  CHECK(s->list(0, 10).empty());
  CHECK(s->ready(0, 10).empty());
  CHECK_FALSE(s->any_unfinished());
  std::vector<process_key> keys;
  for (char const* const id : {"d", "b", "c", "a"}) keys.push_back(s->start(start_of(id)).process);
  set_status(*s, "b", ended());
  set_status(*s, "c", waiting());
  CHECK(std::ranges::is_sorted(keys));
  std::vector<std::string> ids;
  for (process_key last = 0;;) {
    auto const some = s->list(last, 3);
    CHECK(some.size() <= 3);
    if (some.empty()) break;
    for (auto const& r : some) ids.push_back(r.start.id);
    last = some.back().key;
  }
  CHECK(ids == std::vector{"d"s, "b"s, "c"s, "a"s});
  CHECK(s->list(0, 0).empty());
  CHECK(s->ready(0, 10) == std::vector{keys[0], keys[3]});
  CHECK(s->ready(0, 1) == std::vector{keys[0]});
  CHECK(s->ready(keys[0], 10) == std::vector{keys[3]});
  CHECK(s->ready(keys[3], 10).empty());
  CHECK(s->any_unfinished());
  set_status(*s, "d", ended());
  set_status(*s, "a", ended());
  CHECK(s->any_unfinished());  // one waits
  set_status(*s, "c", ended());
  CHECK_FALSE(s->any_unfinished());
}

TEMPLATE_LIST_TEST_CASE("a process that is not there is not found, and not loaded", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  CHECK_FALSE(s->find("b"));
  CHECK_FALSE(s->find(""));
  CHECK_THROWS_AS(s->load(99), weft::durable::store_error);
  CHECK_THROWS_AS(s->load(0), weft::durable::store_error);
  CHECK_THROWS_WITH(s->load(99), Catch::Contains("99"));
  CHECK(s->list(0, 10).size() == 1);  // looking makes none
}

TEMPLATE_LIST_TEST_CASE("ids, arguments and values may be any bytes, and long", "",
                        stores_under_test) {
  TestType s;
  std::string const bytes = "a\0b\xff'\"%;--"s;
  std::string const large(1'000'000, '\xc1');
  s->start({bytes, bytes, 4'000'000'000U, large, {}});
  s->start(start_of("a"));  // which is not the id above, cut at its zero
  CHECK(s->list(0, 10).size() == 2);
  auto p = part_of(*s, bytes);
  p.entries = {{bytes, large}, {"", ""}};
  p.sent = {{bytes, bytes, large}, {bytes, "", ""}};
  p.published = bytes;
  p.status = waiting();
  CHECK(is_accepted(*s, p));
  s.reopen();
  auto const a = loaded(*s, bytes);
  CHECK(a.record.start.function == bytes);
  CHECK(a.record.start.version == 4'000'000'000U);
  CHECK(a.record.start.arguments == large);
  CHECK(a.record.published == bytes);
  REQUIRE(a.log.size() == 2);
  CHECK(a.log[0].operation == bytes);
  CHECK(a.log[0].answer == large);
  CHECK(a.log[1].answer.empty());
  REQUIRE(a.inbox.size() == 2);
  CHECK(a.inbox[0].type == bytes);
  CHECK(a.inbox[0].data == large);
  CHECK(a.inbox[0].sender == bytes);
  CHECK(a.inbox[1].data.empty());
}

TEMPLATE_LIST_TEST_CASE("times may be negative, and as far as they can be", "", stores_under_test) {
  TestType s;
  for (std::string const id : {"a", "b"}) s->start(start_of(id));
  set_status(*s, "a", waiting(std::numeric_limits<std::int64_t>::max()));
  CHECK(s->next_wake() == std::numeric_limits<std::int64_t>::max());
  set_status(*s, "b", waiting(-5));
  CHECK(s->next_wake() == -5);
  CHECK(s->wake_due(0, 10).size() == 1);
  CHECK(status_of(*s, "a") == process_status::waiting);
}

// ---- threads

TEMPLATE_LIST_TEST_CASE("several threads use one store, and of those that compete one is accepted",
                        "[threads]", stores_under_test) {
  TestType s;
  constexpr int threads = 4;
  constexpr int rounds = 25;
  s->start(start_of("shared"));
  s.other();
  std::atomic<int> accepted = 0;
  std::atomic<int> wrong = 0;
  auto const work = [&](int me) {
    auto& mine = me % 2 == 0 ? *s : s.other();
    std::string const id = "own/" + std::to_string(me);
    mine.start(start_of(id));
    for (int i = 0; i != rounds; ++i) {
      mine.start(start_of("common/" + std::to_string(i)));
      mine.send({"shared", "word", id}, "key " + std::to_string(i));
      commit_part own;
      own.process = mine.find(id)->key;
      own.id = id;
      own.first = static_cast<std::uint64_t>(i);
      own.entries = {{"one", std::to_string(i)}};
      own.sent = {{"inbox", "word", std::to_string(i)}};
      own.status = waiting(i);
      commit_part contended;
      contended.process = mine.find("shared")->key;
      contended.first = mine.find("shared")->entries;
      contended.entries = {{"by", id}};
      std::array<commit_part*, 2> const parts{&own, &contended};
      std::array<commit_result, 2> results;
      mine.commit(parts, results);
      if (!results[0].is_accepted) ++wrong;
      if (results[1].is_accepted) ++accepted;
      (void)mine.wake_due(i, 2);
      (void)mine.next_wake();
      (void)mine.ready(0, 3);
      (void)mine.any_unfinished();
      if (mine.load(own.process).log.size() != static_cast<std::size_t>(i) + 1) ++wrong;
    }
  };
  {
    std::vector<std::jthread> all;
    for (int t = 0; t != threads; ++t) all.emplace_back(work, t);
  }
  CHECK(wrong == 0);
  auto const shared = loaded(*s, "shared");
  CHECK(shared.log.size() == static_cast<std::size_t>(accepted.load()));
  CHECK(accepted >= rounds);
  CHECK(shared.inbox.size() == rounds);
  CHECK(s->list(0, 1'000).size() == 1 + 1 + threads + rounds);
  auto const inbox = loaded(*s, "inbox").inbox;
  CHECK(inbox.size() == threads * rounds);
  for (int t = 0; t != threads; ++t) {
    int next = 0;
    for (auto const& m : inbox)
      if (m.sender == "own/" + std::to_string(t)) CHECK(m.data == std::to_string(next++));
  }
}

}  // namespace
