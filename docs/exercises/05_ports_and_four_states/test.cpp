// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/testing.hpp"
#ifdef SOLVED
#include "docs/exercises/05_ports_and_four_states/solutions.hpp"
#else
#include "docs/exercises/05_ports_and_four_states/exercises.hpp"
#endif

namespace ports_and_four_states {
namespace {

using all = eff<void, spawning<mail, timing>, mail, timing>;

/// A message, and how many milliseconds after the last one it is sent.
struct timed {
  int ms;
  int value;
};
eff<void, mail, timing> sends(address<int> to, std::vector<timed> messages) {
  for (auto const& m : messages) {
    co_await timing::sleep_for{std::chrono::milliseconds(m.ms)};
    co_await to.send(m.value);
  }
}

TEST_CASE("1: the order of the lines is predicted", "[1]") {
  std::string text;
  schedule(asks, console_to_string(text));
  std::string predicted;
  for (auto const& line : lines_of_asks()) predicted += line + "\n";
  CHECK(predicted == text);
}

TEST_CASE("2: numbers are added until no sender is left", "[2]") {
  std::pair<std::vector<timed>, int> const cases[] = {
      {{}, 0}, {{{0, 5}}, 5}, {{{0, 1}, {3, 2}, {0, 30}}, 33}};
  for (auto const& [messages, sum] : cases) {
    int result = -1;
    std::string error;
    schedule({.virtual_time = true}, [&]() -> all {
      auto [in, to] = co_await open<int>();
      co_await spawn(sends, std::move(to), messages);
      try {
        result = co_await sum_of(std::move(in));
      } catch (no_senders const& e) {
        error = e.what();
      }
    });
    CHECK(error.empty());
    CHECK(result == sum);
  }
}

TEST_CASE("3: the greatest number of questions is predicted", "[3]") {
  auto const deadlocks = [](int n) {
    auto const begin = [n] { return n; };
    return explore(
               begin, [](int& most) { return questions_first(most); }, [](int const&) {})
        .deadlocks;
  };
  CHECK(deadlocks(most_questions()) == 0);
  CHECK(deadlocks(most_questions() + 1) > 0);
}

TEST_CASE("4: the messages of two inboxes are passed on as they come", "[4]") {
  auto const merged = [](std::vector<timed> first, std::vector<timed> second, std::size_t most) {
    std::vector<int> result;
    schedule({.virtual_time = true}, [&]() -> all {
      auto a = co_await open<int>();
      auto b = co_await open<int>();
      auto [in, to] = co_await open<int>();
      co_await spawn(sends, std::move(a.to), first);
      co_await spawn(sends, std::move(b.to), second);
      co_await spawn(merge, std::move(a.in), std::move(b.in), std::move(to));
      while (result.size() != most) {
        auto const n = co_await in.next();
        if (!n) break;
        result.push_back(*n);
      }
    });
    return result;
  };
  CHECK(merged({}, {}, 9).empty());
  CHECK(merged({{1, 1}, {2, 3}}, {{2, 2}, {2, 4}}, 9) == std::vector{1, 2, 3, 4});
  CHECK(merged({{5, 1}}, {{1, 2}, {1, 3}}, 9) == std::vector{2, 3, 1});
  // The receiver ends, and there are messages left.
  CHECK(merged({{1, 1}, {2, 3}}, {{2, 2}, {2, 4}}, 2) == std::vector{1, 2});
}

TEST_CASE("5: a number for which there is no room in time is dropped", "[5]") {
  std::vector<int> const numbers{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<int> received;
  std::vector<int> dropped;
  int ended = -1;
  schedule({.virtual_time = true}, [&]() -> all {
    auto [in, to] = co_await open<int>({.capacity = 1});
    auto const takes_two = [](inbox<int> from, std::vector<int>& r) -> eff<void, mail, timing> {
      for (int i = 0; i != 2; ++i) {
        co_await timing::sleep_for{12ms};
        r.push_back(co_await from.receive());
      }
    };
    co_await spawn(takes_two, std::move(in), std::ref(received));
    co_await offer_all(numbers, std::move(to), 5ms, dropped);
    ended = static_cast<int>((co_await timing::now{} - instant()) / 1ms);
  });
  // 1 at once; 2 and 3 too late, at 5 and 10 ms; 4 at 12 ms; 5 and 6 too late; 7 at 24 ms, when the
  // receiver ends.
  CHECK(received == std::vector{1, 4});
  CHECK(dropped == std::vector{2, 3, 5, 6, 8, 9});
  CHECK(ended == 24);
}

TEST_CASE("6: one of two wakers takes the process", "[6]") {
  auto const wakers = [](waiting_process& p) -> eff<void, spawning<proc>> {
    co_await spawn(waker, std::ref(p));
    co_await spawn(waker, std::ref(p));
  };
  auto const found = explore([] { return waiting_process(); }, wakers,
                             [](waiting_process const& p) { return p.times_taken == 1; });
  CHECK(found.ok());
  CHECK(found.schedules > 1);
}

TEST_CASE("7: messages are sent on in batches", "[7]") {
  using batch = std::vector<int>;
  struct {
    std::vector<timed> messages;
    std::vector<batch> expected;
    std::vector<int> at;
  } const cases[] = {
      {{}, {}, {}},
      {{{0, 1}, {1, 2}, {1, 3}, {1, 4}}, {{1, 2, 3}, {4}}, {2, 3}},
      {{{0, 1}, {6, 2}, {6, 3}}, {{1, 2}, {3}}, {10, 12}},
      {{{5, 1}, {30, 2}, {30, 3}}, {{1}, {2}, {3}}, {15, 45, 65}},
  };
  for (auto const& c : cases) {
    std::vector<batch> received;
    std::vector<int> at;
    schedule({.virtual_time = true}, [&]() -> all {
      auto messages = co_await open<int>();
      auto [in, to] = co_await open<batch>();
      co_await spawn(sends, std::move(messages.to), c.messages);
      co_await spawn(batches, std::move(messages.in), std::move(to));
      for (auto b = co_await in.next(); b; b = co_await in.next()) {
        received.push_back(std::move(*b));
        at.push_back(static_cast<int>((co_await timing::now{} - instant()) / 1ms));
      }
    });
    CHECK(received == c.expected);
    CHECK(at == c.at);
  }
}

}  // namespace
}  // namespace ports_and_four_states
