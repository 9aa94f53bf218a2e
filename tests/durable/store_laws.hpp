// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/durable/stores.hpp"
#include "weft/durable/store.hpp"

/// The laws of store.hpp on commits, logs and inboxes, on each of `stores_under_test`, which the file that
/// includes this one has declared before.
using namespace weft::tests;
using namespace std::string_literals;
using weft::durable::commit_part;
using weft::durable::commit_result;
using weft::durable::process_key;
using weft::durable::process_status;

namespace {

/// All that one part can have.
commit_part full_part(weft::durable::store& s, std::string const& id) {
  auto p = part_of(s, id);
  p.entries = {{"step one", "1"}, {"step two", "2"}};
  p.sent = {{"friend", "word", "hello"}};
  p.started = {start_of("child of " + id)};
  p.published = "published";
  p.status = waiting(50);
  return p;
}

// ---- STORE-1

TEMPLATE_LIST_TEST_CASE("STORE-1: all that is in an accepted part is stored", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto const result = commit(*s, full_part(*s, "a"));
  CHECK(result.is_accepted);
  auto const a = loaded(*s, "a");
  REQUIRE(a.log.size() == 2);
  CHECK(a.log[0].operation == "step one");
  CHECK(a.log[1].answer == "2");
  CHECK(a.record.entries == 2);
  CHECK(a.record.published == "published");
  CHECK(a.record.status == process_status::waiting);
  CHECK(a.record.wake == 50);
  CHECK(words_in(*s, "friend") == std::vector{"hello"s});
  CHECK(status_of(*s, "child of a") == process_status::ready);
  REQUIRE(result.effects.size() == 2);
  CHECK(std::ranges::any_of(result.effects, [&](auto const& e) {
    return e.process == s->find("friend")->key && e.message.data == "hello" &&
           e.message.sequence != 0 && e.status == process_status::unborn;
  }));
  CHECK(std::ranges::any_of(result.effects, [&](auto const& e) {
    return e.process == s->find("child of a")->key && e.message.sequence == 0 &&
           e.status == process_status::ready;
  }));
}

TEMPLATE_LIST_TEST_CASE("STORE-1: nothing that is in a fenced part is stored", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto p = full_part(*s, "a");
  p.first = 1;
  std::string const before = contents(*s);
  auto const result = commit(*s, p);
  CHECK_FALSE(result.is_accepted);
  CHECK(result.effects.empty());
  CHECK(contents(*s) == before);
}

TEMPLATE_LIST_TEST_CASE("STORE-1: the parts of a commit are stored in their order", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  s->start(start_of("b"));
  auto of_a = part_of(*s, "a");
  of_a.sent = {{"b", "word", "1"}, {"b", "word", "2"}};
  auto of_b = part_of(*s, "b");
  of_b.sent = {{"b", "word", "3"}};
  std::array<commit_part*, 2> const parts{&of_a, &of_b};
  std::array<commit_result, 2> results;
  s->commit(parts, results);
  CHECK(results[0].is_accepted);
  CHECK(results[1].is_accepted);
  CHECK(words_in(*s, "b") == std::vector{"1"s, "2"s, "3"s});
  auto const b = loaded(*s, "b");
  CHECK(b.inbox[0].sender == "a");
  CHECK(b.inbox[2].sender == "b");
}

// ---- STORE-2

TEMPLATE_LIST_TEST_CASE("STORE-2: a store that is opened again has the same", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a", "\0binary\xff"s));
  s->start(start_of("b"));
  commit(*s, full_part(*s, "a"));
  send(*s, "a", std::string(100'000, 'x'));
  send(*s, "nobody", "word", "key");
  set_status(*s, "b", ended("\0\1"s));
  auto p = part_of(*s, "a");
  p.continued = "next";
  CHECK(is_accepted(*s, p));
  set_status(*s, "a", waiting(7, s->inbox(s->find("a")->key, 0).back().sequence));
  std::string const before = contents(*s);
  s.reopen();
  CHECK(contents(*s) == before);
  CHECK(s->next_wake() == 7);
  CHECK(send(*s, "nobody", "word", "key").message.sequence == 0);
  CHECK(words_in(*s, "nobody").size() == 1);
  auto const last = send(*s, "nobody", "later").message.sequence;
  for (auto const& m : loaded(*s, "a").inbox) CHECK(m.sequence < last);
}

TEMPLATE_LIST_TEST_CASE("STORE-2: each handle sees what the other one has stored", "",
                        stores_under_test) {
  TestType s;
  auto& other = s.other();
  s->start(start_of("a"));
  CHECK(status_of(other, "a") == process_status::ready);
  CHECK(is_accepted(other, full_part(other, "a")));
  CHECK(contents(*s) == contents(other));
  CHECK(loaded(*s, "a").log.size() == 2);
}

// ---- STORE-3

TEMPLATE_LIST_TEST_CASE("STORE-3: a part is fenced unless its log has that run and that length", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto p = part_of(*s, "a");
  p.entries = {{"one", ""}, {"two", ""}};
  CHECK(is_accepted(*s, p));
  SECTION("a log that is longer") {
    p.first = GENERATE(0U, 1U);
    CHECK_FALSE(is_accepted(*s, p));
  }
  SECTION("a log that is longer, for a part without entries") {
    p.first = GENERATE(0U, 1U);
    p.entries.clear();
    p.sent = {{"b", "word", "hello"}};
    CHECK_FALSE(is_accepted(*s, p));
    CHECK_FALSE(s->find("b"));
  }
  SECTION("a log that is shorter") {
    p.first = GENERATE(3U, 4U, 100U);
    CHECK_FALSE(is_accepted(*s, p));
  }
  SECTION("another run") {
    p.first = 2;
    p.run = 1;
    CHECK_FALSE(is_accepted(*s, p));
  }
  SECTION("an earlier run") {
    auto next = part_of(*s, "a");
    next.continued = "next";
    CHECK(is_accepted(*s, next));
    p.first = GENERATE(0U, 2U);
    CHECK_FALSE(is_accepted(*s, p));
  }
  SECTION("a process that has ended") {
    set_status(
        *s, "a",
        {GENERATE(process_status::completed, process_status::failed, process_status::cancelled),
         {},
         0,
         "end"});
    p.first = 2;
    p.status = weft::durable::status_change{};
    CHECK_FALSE(is_accepted(*s, p));
    CHECK(has_ended(status_of(*s, "a")));
    CHECK(s->find("a")->result == "end");
  }
  SECTION("no such process") {
    p.process = GENERATE(0, 99, -1);
    p.first = 0;
    CHECK_FALSE(is_accepted(*s, p));
  }
}

TEMPLATE_LIST_TEST_CASE("STORE-3: fenced parts do not hinder the others of their commit", "",
                        stores_under_test) {
  TestType s;
  for (char const* const id : {"a", "b", "c"}) s->start(start_of(id));
  auto a = part_of(*s, "a");
  auto b = part_of(*s, "b");
  auto c = part_of(*s, "c");
  auto unknown = a;
  unknown.process = 99;
  a.entries = c.entries = b.entries = {{"one", "1"}};
  a.sent = b.sent = c.sent = {{"d", "word", "hello"}};
  b.first = 7;
  auto a_again = a;  // the same first entry
  auto a_later = a;
  a_later.first = 1;
  std::array<commit_part*, 6> const parts{&a, &b, &unknown, &a_again, &c, &a_later};
  std::array<commit_result, 6> results;
  s->commit(parts, results);
  CHECK(results[0].is_accepted);
  CHECK_FALSE(results[1].is_accepted);
  CHECK_FALSE(results[2].is_accepted);
  CHECK_FALSE(results[3].is_accepted);
  CHECK(results[4].is_accepted);
  CHECK(results[5].is_accepted);
  CHECK(loaded(*s, "a").log.size() == 2);
  CHECK(loaded(*s, "b").log.empty());
  CHECK(loaded(*s, "c").log.size() == 1);
  CHECK(loaded(*s, "d").inbox.size() == 3);
}

TEMPLATE_LIST_TEST_CASE("STORE-3: of two engines with one log, the second to commit is fenced", "",
                        stores_under_test) {
  TestType s;
  auto& other = s.other();
  s->start(start_of("a"));
  auto mine = part_of(*s, "a");
  auto theirs = part_of(other, "a");
  mine.entries = {{"mine", ""}};
  theirs.entries = {{"theirs", ""}};
  CHECK(is_accepted(other, theirs));
  CHECK_FALSE(is_accepted(*s, mine));
  auto const log = loaded(*s, "a").log;
  REQUIRE(log.size() == 1);
  CHECK(log[0].operation == "theirs");
}

// ---- STORE-4

TEMPLATE_LIST_TEST_CASE("STORE-4: a message is in the inbox once, until it is taken out", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto const first = send(*s, "a", "first");
  auto const second = send(*s, "a", "second");
  CHECK(first.process == s->find("a")->key);
  CHECK(first.message.sequence < second.message.sequence);
  CHECK(words_in(*s, "a") == std::vector{"first"s, "second"s});
  CHECK(s->find("a")->messages == 2);
  auto p = part_of(*s, "a");
  p.entries = {{"receive word", "first"}};
  p.received = {first.message.sequence};
  SECTION("by an accepted part") {
    CHECK(is_accepted(*s, p));
    CHECK(words_in(*s, "a") == std::vector{"second"s});
    CHECK(s->find("a")->messages == 1);
    auto again = part_of(*s, "a");
    again.received = p.received;  // it is gone: nothing else is taken in its place
    CHECK(is_accepted(*s, again));
    CHECK(words_in(*s, "a") == std::vector{"second"s});
  }
  SECTION("not by one that is fenced") {
    p.first = 1;
    CHECK_FALSE(is_accepted(*s, p));
    CHECK(words_in(*s, "a").size() == 2);
  }
  SECTION("not by another process") {
    s->start(start_of("b"));
    auto of_b = part_of(*s, "b");
    of_b.received = {first.message.sequence, second.message.sequence};
    CHECK(is_accepted(*s, of_b));
    CHECK(words_in(*s, "a").size() == 2);
  }
}

TEMPLATE_LIST_TEST_CASE("STORE-4: messages of one sender have growing sequence numbers", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  s->start(start_of("b"));
  for (int i = 0; i != 5; ++i) {
    for (std::string const id : {"a", "b"}) {
      auto p = part_of(*s, id);
      p.entries = {{"send c", ""}};
      p.sent = {{"c", "word", id + std::to_string(i)}, {"c", "word", id + std::to_string(i) + "'"}};
      CHECK(is_accepted(*s, p));
    }
    if (i == 2) {  // the numbers go on when the inbox is empty, and when the store is opened again
      s->start(start_of("c"));
      auto taken = part_of(*s, "c");
      for (auto const& m : loaded(*s, "c").inbox) taken.received.push_back(m.sequence);
      CHECK(is_accepted(*s, taken));
      s.reopen();
    }
  }
  CHECK(words_in(*s, "c") ==
        std::vector{"a3"s, "a3'"s, "b3"s, "b3'"s, "a4"s, "a4'"s, "b4"s, "b4'"s});
  auto const all = loaded(*s, "c").inbox;
  CHECK(all.front().sequence > 12);
  for (std::size_t i = 1; i != all.size(); ++i) CHECK(all[i - 1].sequence < all[i].sequence);
}

TEMPLATE_LIST_TEST_CASE("STORE-4: a message with a key is sent once", "", stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  auto const first = send(*s, "a", "one", "key");
  auto const again = send(*s, "a", "two", "key");
  CHECK(first.message.sequence != 0);
  CHECK(again.message.sequence == 0);
  CHECK(again.process == first.process);
  CHECK(again.status == process_status::ready);
  send(*s, "a", "three", "another key");
  send(*s, "a", "four");
  send(*s, "a", "five");
  CHECK(words_in(*s, "a") == std::vector{"one"s, "three"s, "four"s, "five"s});
  auto p = part_of(*s, "a");
  p.received = {first.message.sequence};
  CHECK(is_accepted(*s, p));
  s.reopen();
  send(*s, "a", "six", "key");  // also when the first one was taken out
  CHECK(words_in(*s, "a") == std::vector{"three"s, "four"s, "five"s});
}

TEMPLATE_LIST_TEST_CASE("STORE-4: a process finds the messages that came before it was started", "",
                        stores_under_test) {
  TestType s;
  auto const e = send(*s, "a", "early");
  CHECK(e.status == process_status::unborn);
  CHECK(status_of(*s, "a") == process_status::unborn);
  CHECK(s->ready(0, 10).empty());
  CHECK_FALSE(s->any_unfinished());
  auto const born = s->start(start_of("a"));
  CHECK(born.process == e.process);
  CHECK(born.status == process_status::ready);
  CHECK(words_in(*s, "a") == std::vector{"early"s});
  CHECK(loaded(*s, "a").record.start.function == "function");
}

TEMPLATE_LIST_TEST_CASE("STORE-4: a message does not wake a process that has ended", "",
                        stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  set_status(*s, "a", ended());
  CHECK(send(*s, "a", "late").status == process_status::completed);
  CHECK(status_of(*s, "a") == process_status::completed);
  CHECK(s->find("a")->result == "result");
  CHECK(s->ready(0, 10).empty());
  CHECK_FALSE(s->any_unfinished());
}

TEMPLATE_LIST_TEST_CASE("STORE-4: an inbox is read from any message on", "", stores_under_test) {
  TestType s;
  s->start(start_of("a"));
  std::vector<std::uint64_t> all;
  for (char const* const word : {"1", "2", "3"})
    all.push_back(send(*s, "a", word).message.sequence);
  send(*s, "b", "not for a");
  process_key const a = s->find("a")->key;
  CHECK(s->inbox(a, 0).size() == 3);
  CHECK(s->inbox(a, all[0]).size() == 2);
  CHECK(s->inbox(a, all[1]).front().data == "3");
  CHECK(s->inbox(a, all[2]).empty());
  CHECK(s->inbox(99, 0).empty());
}

}  // namespace
