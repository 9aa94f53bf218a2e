// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/io/blocking.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/memory_network.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/testing.hpp"
#ifdef SOLVED
#include "docs/exercises/08_meeting_the_outside_world/solutions.hpp"
#else
#include "docs/exercises/08_meeting_the_outside_world/exercises.hpp"
#endif

namespace meeting_the_outside_world {
namespace {

using namespace std::chrono_literals;

struct world {
  memory_network net;
  std::string heard{};
};
world with(memory_network_options const& o) { return world{memory_network(o)}; }
auto const its_network = [](world& w) -> auto& { return w.net; };
std::string what_was_heard(world const& w) { return w.heard; }

eff<void, networking> says(endpoint to, std::string text) {
  connection c = co_await connect(to);
  co_await c.write(text);
  co_await c.finish();
  std::array<std::byte, 1> none;
  try {
    co_await c.read(none);  // until the other side has gone
  } catch (io_error const&) {
  }
}
using program = eff<void, networking, spawning<networking>>;

// ---- 1

program reads_once(world& w) {
  listener at = co_await listen(endpoint());
  co_await spawn(says, at.local(), "fourteen");
  connection c = co_await at.accept();
  std::array<char, 64> text{};
  std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(text)));
  w.heard.assign(text.data(), n);
}

TEST_CASE("1: the texts that one read can get are predicted", "[1]") {
  auto const found = explore(
      {.reduce = true}, [] { return with({.splits = 1}); }, reads_once, what_was_heard,
      its_network);
  std::vector<std::string> heard;
  for (auto const& o : found.outcomes) heard.push_back(o.result.text);
  std::vector<std::string> predicted = texts_of_one_read();
  std::ranges::sort(heard);
  std::ranges::sort(predicted);
  CHECK(predicted == heard);
}

// ---- 2

program reads_lines(world& w, std::string text) {
  listener at = co_await listen(endpoint());
  co_await spawn(says, at.local(), std::move(text));
  connection c = co_await at.accept();
  std::string rest;
  for (int i = 0; i != 10; ++i) {  // a stub may never come to the end
    std::optional<std::string> const line = co_await read_line(c, rest);
    if (!line) break;
    w.heard += '[' + *line + ']';
  }
}

TEST_CASE("2: lines are read whole, however the bytes arrive", "[2]") {
  for (auto const& [text, lines] : {std::pair<std::string, std::string>("one\ntwo\n", "[one][two]"),
                                    {"\n\nend", "[][][end]"},
                                    {"", ""}}) {
    auto const found = explore(
        {.reduce = true}, [] { return with({.splits = 2, .delays = 1}); },
        [&text](world& w) { return reads_lines(w, text); }, what_was_heard, its_network);
    CHECK(found.ok());
    CHECK(found.complete);
    REQUIRE(found.outcomes.size() == 1);
    CHECK(found.outcomes.front().result.text == lines);
  }
}

// ---- 3

struct asked {
  std::optional<std::string> answer;
  instant::duration took{};
};
using answering = eff<void, networking, timing> (*)(connection);

eff<void, networking, timing> answers_at_once(connection c) {
  std::array<std::byte, 64> bytes;
  for (;;) {
    std::size_t const n = co_await c.read(bytes);
    if (n == 0) co_return;
    co_await c.write(std::span(bytes).first(n));
  }
}
eff<void, networking, timing> says_nothing(connection c) {
  (void)c.peer();
  co_await timing::sleep_for{1h};
}
eff<void, networking, timing> drips(connection c) {
  try {
    for (int i = 0; i != 100; ++i) {
      co_await c.write("drop ");
      co_await timing::sleep_for{700ms};
    }
  } catch (io_error const&) {  // the other side has gone
  }
}
eff<void, networking, timing> asks(endpoint to, asked& a) {
  instant const begun = co_await timing::now{};
  a.answer = co_await ask(to, "what?", 2s);
  a.took = co_await timing::now{} - begun;
}
asked what_is_answered(answering by) {
  memory_network net;
  asked a;
  auto const both = [&a, by]() -> eff<void, networking, timing, spawning<networking, timing>> {
    listener at = co_await listen(endpoint());
    co_await spawn(asks, at.local(), std::ref(a));
    connection c = co_await at.accept();
    co_await by(std::move(c));
  };
  schedule({.virtual_time = true}, both, net);
  return a;
}

TEST_CASE("3: an answer that comes in time is yielded", "[3]") {
  asked const a = what_is_answered(answers_at_once);
  CHECK(a.answer == "what?");
  CHECK(a.took < 2s);
}
TEST_CASE("3: the patience is for the whole conversation", "[3]") {
  for (answering const by : {says_nothing, drips}) {
    asked const a = what_is_answered(by);
    CHECK_FALSE(a.answer);
    CHECK(a.took == 2s);
  }
}
TEST_CASE("3: a reset connection answers nothing", "[3]") {
  auto const asks_the_world =
      [](world& w) -> eff<void, networking, timing, spawning<networking, timing>> {
    auto const client = [](endpoint to, std::string& heard) -> eff<void, networking, timing> {
      auto const answer = co_await ask(to, "what?", 2s);
      heard = answer.value_or("nothing");
    };
    auto const server = [](listener& l) -> eff<void, networking, timing> {
      try {
        connection c = co_await l.accept();
        co_await answers_at_once(std::move(c));
      } catch (io_error const&) {  // the connection was reset
      }
    };
    listener at = co_await listen(endpoint());
    co_await spawn(client, at.local(), std::ref(w.heard));
    co_await server(at);
  };
  auto const found = explore(
      {.reduce = true}, [] { return with({.resets = 1}); }, asks_the_world,
      [](world const& w) { return w.heard == "what?" || w.heard == "nothing"; }, its_network);
  CHECK(found.ok());
  CHECK(found.complete);
}

// ---- 4

/// Keeps the jobs until another process runs them.
struct kept_jobs : handler<blocking> {
  std::vector<std::unique_ptr<blocking_job>> jobs;
  std::size_t most = 0;
  bool is_over = false;
  void on(blocking::run r) { jobs.push_back(std::move(r.job)); }
};
eff<void, proc> runs_jobs(kept_jobs& k) {
  while (!k.is_over) {
    for (int i = 0; i != 20; ++i) co_await proc::yield{};
    k.most = std::max(k.most, k.jobs.size());
    std::vector<std::unique_ptr<blocking_job>> now = std::exchange(k.jobs, {});
    std::ranges::reverse(now);  // the last one is the fastest
    for (auto const& job : now) job->run();
  }
}

TEST_CASE("4: all calls are made at the same time, and their results are in order", "[4]") {
  kept_jobs kept;
  std::vector<int> results;
  auto const calls = [&]() -> eff<void, spawning<proc>, tasking<blocking_work>> {
    co_await spawn(runs_jobs, std::ref(kept));
    slow_calls slow;
    for (int const n : {3, 1, 2}) slow.push_back([n] { return n * n; });
    results = co_await call_all(std::move(slow));
    kept.is_over = true;
  };
  schedule(calls, kept);
  CHECK(results == std::vector<int>{9, 1, 4});
  CHECK(kept.most == 3);
}

// ---- 5

struct fetched {
  std::vector<std::size_t> calls;  // how many pages each of them loads
  std::string text;
};
fetched fetch_all(std::vector<std::string> pages, bool fails) {
  fetched got;
  batches all([&](batches::texts const& wanted) {
    got.calls.push_back(wanted.size());
    if (fails) throw std::runtime_error("no connection");
    batches::texts loaded;
    for (std::string const& page : wanted) loaded.push_back("text of " + page);
    return loaded;
  });
  auto const fetches = [&]() -> eff<void, commands<fetch>> {
    std::vector<in_flight<std::string>> wanted;
    for (std::string const& page : pages) {
      in_flight<std::string> one = co_await issue(fetch(page));
      wanted.push_back(std::move(one));
    }
    for (in_flight<std::string>& one : wanted) {
      try {
        std::string const text = co_await one.wait();
        got.text += text + "; ";
      } catch (std::exception const& e) {
        got.text += std::string(e.what()) + "; ";
      }
    }
  };
  try {
    schedule(fetches, dispatchers{[&all](fetch f, reply<std::string> r) {
               all.take(std::move(f), std::move(r));
             }});
  } catch (std::exception const& e) {
    got.text = e.what();
  }
  return got;
}

TEST_CASE("5: three commands are answered by one call", "[5]") {
  fetched const got = fetch_all({"a", "b", "c", "d", "e", "f"}, false);
  CHECK(got.calls == std::vector<std::size_t>{3, 3});
  CHECK(got.text == "text of a; text of b; text of c; text of d; text of e; text of f; ");
}
TEST_CASE("5: a call that throws fails its three commands", "[5]") {
  fetched const got = fetch_all({"a", "b", "c"}, true);
  CHECK(got.calls == std::vector<std::size_t>{3});
  CHECK(got.text == "no connection; no connection; no connection; ");
}

}  // namespace
}  // namespace meeting_the_outside_world
