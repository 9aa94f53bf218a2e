// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/ports.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Messages that are sent and received many at a time: receive_many() and send_many().

using children = spawning<proc, mail, timing>;
using program = eff<void, children, proc, mail, timing>;

// ---- on one thread

TEST_CASE("receive_many yields the messages that have come, as many as there are objects for") {
  std::vector<std::vector<int>> got;
  schedule([&got]() -> program {
    auto [in, to] = co_await open<int>();
    for (int i = 0; i != 10; ++i) co_await to.send(i);
    {
      auto const last = std::move(to);
    }
    std::array<int, 4> some{};
    for (std::size_t n = co_await in.receive_many(some); n != 0; n = co_await in.receive_many(some))
      got.emplace_back(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
  });
  CHECK(got == std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
}

TEST_CASE("receive_many waits for a message, and yields 0 when no sender is left") {
  std::vector<std::size_t> counts;
  schedule([&counts]() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(
        [](address<int> a) -> program {
          co_await proc::yield{};  // the receiver waits
          co_await a.send(1);
        },
        std::move(to));
    std::array<int, 4> some{};
    counts.push_back(co_await in.receive_many(some));
    counts.push_back(co_await in.receive_many(some));
  });
  CHECK(counts == std::vector<std::size_t>{1, 0});
}

TEST_CASE("the messages take the places of objects, each of which is destroyed once") {
  every_message_dies const check;
  schedule([]() -> program {
    auto [in, to] = co_await open<message>();
    std::vector<message> all;
    for (int i = 0; i != 6; ++i) all.emplace_back(i);
    std::size_t const sent = co_await to.send_many(all);
    std::vector<message> some;
    for (int i = 0; i != 4; ++i) some.emplace_back(100 + i);
    std::size_t const first = co_await in.receive_many(some);
    std::size_t const second = co_await in.receive_many(some);
    bool const right = sent == 6 && first == 4 && second == 2;
    std::vector<int> values;
    for (auto const& m : some) values.push_back(m.value());
    CHECK(right);
    CHECK(values == std::vector<int>{4, 5, 2, 3});
  });
}

std::vector<int> from_to(int first, int end) {
  std::vector<int> all(static_cast<std::size_t>(end - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST_CASE("send_many sends as many messages as there is room for, and waits only for the first") {
  std::vector<std::size_t> counts;
  std::vector<int> got;
  schedule([&counts, &got]() -> program {
    auto [in, to] = co_await open<int>({.capacity = 3});
    co_await spawn(
        [](address<int> a, std::vector<std::size_t>& sent) -> program {
          std::vector<int> all = from_to(0, 8);
          for (std::span<int> left = all; !left.empty(); left = left.subspan(sent.back()))
            sent.push_back(co_await a.send_many(left));
        },
        std::move(to), std::ref(counts));
    co_await proc::yield{};
    for (auto m = co_await in.next(); m; m = co_await in.next()) got.push_back(*m);
  });
  CHECK(got == from_to(0, 8));
  CHECK(counts.front() == 3);
  CHECK(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == 8);
}

TEST_CASE("send_many gives the first message to a waiting receiver, and stores the others") {
  std::size_t sent = 0;
  std::vector<int> got;
  schedule([&sent, &got]() -> program {
    auto [in, to] = co_await open<int>({.capacity = 2});
    co_await spawn(
        [](inbox<int> from, std::vector<int>& all) -> program {
          for (auto m = co_await from.next(); m; m = co_await from.next()) all.push_back(*m);
        },
        std::move(in), std::ref(got));
    co_await proc::yield{};  // the receiver waits
    std::vector<int> all = from_to(0, 5);
    sent = co_await to.send_many(all);
  });
  CHECK(sent == 3);
  CHECK(got == from_to(0, 3));
}

TEST_CASE("send_many yields 0 if the inbox was destroyed, before the send or while it waits") {
  std::vector<std::size_t> counts;
  schedule([&counts]() -> program {
    std::array<int, 2> two{1, 2};
    auto [in, to] = co_await open<int>({.capacity = 1});
    auto own = std::make_unique<inbox<int>>(std::move(in));
    co_await spawn(
        [](address<int> a, std::vector<std::size_t>& sent) -> program {
          std::array<int, 2> some{1, 2};
          sent.push_back(co_await a.send_many(some));
          sent.push_back(co_await a.send_many(some));
        },
        to, std::ref(counts));
    co_await proc::yield{};  // the mailbox is full, and the sender waits
    own.reset();
    co_await proc::yield{};
    counts.push_back(co_await to.send_many(two));
  });
  CHECK(counts == std::vector<std::size_t>{1, 0, 0});
}

TEST_CASE("an empty span is refused") {
  std::string sending;
  std::string receiving;
  schedule([&]() -> program {
    auto [in, to] = co_await open<int>();
    sending = text_of<std::logic_error>([&to] { (void)to.send_many({}); });
    receiving = text_of<std::logic_error>([&in] { (void)in.receive_many({}); });
  });
  CHECK_THAT(sending, Contains("at least one message"));
  CHECK_THAT(receiving, Contains("at least one message"));
}

TEST_CASE("a process that keeps a log sends many once, and reads their number when run again") {
  int runs = 0;
  std::vector<int> got;
  schedule({.forkable = true}, [&]() -> eff<void, spawning<proc, mail>, proc, mail> {
    auto [in, to] = co_await open<int>();
    {  // a closure with a name: g++ 12 would destroy a temporary twice
      auto const sends = [a = std::move(to), times = &runs]() -> eff<void, proc, mail> {
        std::vector<int> all = from_to(0, 5);
        std::size_t const n = co_await a.send_many(all);
        bool const is_child = co_await proc::fork{};
        *times += static_cast<int>(n);
        if (is_child) co_await a.send(100);
      };
      co_await spawn(forkable, sends);
    }
    std::array<int, 8> some{};
    for (std::size_t n = co_await in.receive_many(some); n != 0; n = co_await in.receive_many(some))
      got.insert(got.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
  });
  CHECK(runs == 10);  // the parent and the child, five each
  std::vector<int> expected = from_to(0, 5);
  expected.push_back(100);
  CHECK(got == expected);
}

TEST_CASE("a process that sends and receives many at a time does not keep its thread") {
  int turns = 0;
  bool is_over = false;  // the other process reads it when this one has ended
  schedule([&turns, &is_over]() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(
        [](int& n, bool& over) -> program {
          while (!over) {
            ++n;
            co_await proc::yield{};
          }
        },
        std::ref(turns), std::ref(is_over));
    std::array<int, 64> some{};
    for (int i = 0; i != 100; ++i) {
      co_await to.send_many(some);
      co_await in.receive_many(some);
    }
    is_over = true;
  });
  CHECK(turns >= 90);  // 128 messages in a step, which are sent and received twice
}

constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

/// Sends `first` to `end`, so many at a time.
program sends_many(address<int> to, int first, int end, std::size_t at_once) {
  dice random(static_cast<unsigned>(first));
  std::vector<int> all = from_to(first, end);
  for (std::span<int> left = all; !left.empty();) {
    std::size_t const n = co_await to.send_many(left.first(std::min(at_once, left.size())));
    if (n == 0) break;
    left = left.subspan(n);
    if (random(4) == 0) co_await proc::yield{};
  }
}

// ---- laws, on every backend

struct counted {
  explicit counted(std::size_t senders) : next(senders) {}
  void add(int m) {
    ++count;
    in_order &= next[static_cast<std::size_t>(m / 10'000)]++ == m % 10'000;
  }
  std::vector<int> next;
  int count = 0;
  bool in_order = true;
};

BACKENDS_TEST_CASE("each sender's messages come in its order, each once, many at a time", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  constexpr int senders = 6;
  int const each = rounds(2000);
  for (std::size_t const capacity : {std::size_t{1}, std::size_t{3}, std::size_t{100}, unbounded}) {
    every_frame_dies const check;
    counted got(senders);
    run_on(chosen, [&got, capacity, each]() -> program {
      auto [in, to] = co_await open<int>({.capacity = capacity});
      for (int s = 0; s != senders; ++s)
        co_await spawn(sends_many, to, 10'000 * s, 10'000 * s + each,
                       static_cast<std::size_t>(1 + 7 * s));
      {
        auto const last = std::move(to);
      }
      std::array<int, 32> some{};
      dice random(static_cast<unsigned>(each));
      for (;;) {
        if (random(3) == 0) {
          auto const m = co_await in.next();
          if (!m) break;
          got.add(*m);
          continue;
        }
        std::size_t const n = co_await in.receive_many(some);
        if (n == 0) break;
        for (int const m : std::span(some).first(n)) got.add(m);
      }
    });
    CHECK(got.in_order);
    CHECK(got.count == senders * each);
  }
}

using task = eff<void, proc, mail>;
using tasks = eff<void, tasking<proc, mail>, proc, mail>;

task sends_for_ever(address<int> to, std::atomic<std::size_t>& sent) {
  std::array<int, 7> some{};
  for (;;) sent += co_await to.send_many(some);
}
task receives_a_while(inbox<int>& in, std::size_t& got, unsigned seed) {
  std::array<int, 3> some{};
  dice random(seed);
  while (random(20) != 0) {
    got += co_await in.receive_many(some);
    if (random(3) == 0) co_await proc::yield{};
  }
}

// A sender that is cancelled while it waits has sent none of the batch, and one that is not knows
// how many it has sent; a receiver has what it was told of.  So the sums agree, but for what is in
// the mailbox at the end, which the receiver then empties.
BACKENDS_TEST_CASE("cancellation loses no message, and sends none twice", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  seeds::as_many_as(rounds(200)).for_each([chosen](unsigned seed) {
    every_frame_dies const check;
    std::atomic<std::size_t> sent = 0;
    std::size_t got = 0;
    run_on(chosen, [&sent, &got, seed]() -> tasks {
      auto [in, to] = co_await open<int>({.capacity = 1 + seed % 5});
      (void)co_await when_any(sends_for_ever(to, sent), receives_a_while(in, got, seed));
      {
        auto const last = std::move(to);
      }
      std::array<int, 3> some{};
      for (std::size_t n = co_await in.receive_many(some); n != 0;
           n = co_await in.receive_many(some))
        got += n;
    });
    if (sent != got) FAIL("seed " << seed << ": " << sent << " sent, " << got << " received");
  });
}

// ---- explored

TEST_CASE("in every schedule the batches hold all messages in order, and differ in length") {
  every_frame_dies const check;
  auto const found = explore([] { return std::string(); },
                             [](std::string& got) -> program {
                               auto [in, to] = co_await open<int>({.capacity = 2});
                               co_await spawn(
                                   [](address<int> a) -> program {
                                     std::array<int, 3> all{1, 2, 3};
                                     for (std::span<int> left = all; !left.empty();)
                                       left = left.subspan(co_await a.send_many(left));
                                   },
                                   std::move(to));
                               co_await proc::yield{};  // either process is first
                               std::array<int, 3> some{};
                               for (std::size_t n = co_await in.receive_many(some); n != 0;
                                    n = co_await in.receive_many(some)) {
                                 for (int const m : std::span(some).first(n))
                                   got += std::to_string(m);
                                 got += ' ';
                               }
                             },
                             [](std::string const& s) { return s; });
  CHECK(found.ok());
  std::set<std::string> names;
  for (auto const& o : found.outcomes) {
    std::string all = o.result.text;
    names.insert(all);
    std::erase(all, ' ');
    CHECK(all == "123");
  }
  CHECK(names == std::set<std::string>{"1 23 ", "123 "});
}

// ---- by id

TEST_CASE("an inbox that is opened for the id of a process receives many at a time") {
  std::vector<int> got;
  schedule([&got]() -> eff<void, spawning<proc, mail, routing>, proc, mail, routing> {
    process_id const child = co_await spawn(
        [](std::vector<int>& all) -> eff<void, proc, mail, routing> {
          auto in = co_await open_inbox<int>();
          co_await proc::yield{};
          std::array<int, 8> some{};
          std::size_t const n = co_await in.receive_many(some);
          all.assign(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
        },
        std::ref(got));
    co_await proc::yield{};
    for (int i = 0; i != 3; ++i) co_await send(child, i);
  });
  CHECK(got == from_to(0, 3));
}
