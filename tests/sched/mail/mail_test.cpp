// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/ports.hpp"

/// Ports on one thread: the effect of each operation, its order, and which process continues.

using children = spawning<proc, console, syncing, mail, timing>;
using program = eff<void, children, proc, console, syncing, mail, timing>;
using weft::tests::text;
std::string text(bool b) { return b ? "true " : "false "; }
template <class T>
std::string text(std::optional<T> const& m) {
  return m ? text(*m) : "nothing ";
}
std::string text(std::variant<int, std::string> const& m) {
  return m.index() == 0 ? "i" + text(std::get<0>(m)) : "s" + std::get<1>(m) + ' ';
}

// ---- one sender, one receiver

TEST_CASE("a message that is sent is received, by its own sender too") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<std::string>();
    bool const was_sent = co_await to.send("hello");
    co_await say(text(was_sent));
    std::string const m = co_await in.receive();
    co_await say(m);
  };
  CHECK(printed_by(p) == "true hello");
}

TEST_CASE("messages of one sender arrive in order, whether they wait in the queue or not") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(receives_all, std::move(in));
    for (int i = 0; i != 30; ++i) {
      co_await to.send(i);
      if (i % 7 == 3) co_await proc::yield{};
    }
  };
  std::string all;
  for (int i = 0; i != 30; ++i) all += text(i);
  CHECK(printed_by(p) == all + "end ");
}

TEST_CASE("each sender's messages come in its order, and each message once") {
  every_frame_dies const check;
  constexpr int senders = 5;
  constexpr int each = 40;
  std::vector<int> got;
  using row = eff<void, spawning<proc, mail>, proc, mail>;
  schedule([&got]() -> row {
    auto [in, to] = co_await open<int>();
    for (int s = 0; s != senders; ++s)
      co_await spawn(
          [](address<int> a, int from) -> row {
            for (int i = 0; i != each; ++i) {
              co_await a.send(from + i);
              if ((from / 100 + i) % 3 == 0) co_await proc::yield{};
            }
          },
          to, 100 * s);
    {
      auto const last = std::move(to);
    }
    for (auto m = co_await in.next(); m; m = co_await in.next()) got.push_back(*m);
  });
  std::vector<int> next(senders);
  bool in_order = true;
  for (int const m : got) in_order &= m % 100 == next[static_cast<std::size_t>(m / 100)]++;
  CHECK(in_order);
  CHECK(next == std::vector<int>(senders, each));
}

TEST_CASE("a sender hands over to a waiting receiver, and continues after it; then it goes on") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(receives_all, std::move(in));
    co_await spawn([]() -> program { co_await say("third "); });
    co_await proc::yield{};  // the receiver waits, and the third process has run
    co_await spawn([]() -> program { co_await say("queued "); });
    co_await to.send(1);
    co_await say("sent ");
    co_await to.send(2);
    co_await say("sent again ");
  };
  CHECK(printed_by(p) == "third 1 queued sent sent again 2 end ");
}

TEST_CASE("a sender to a receiver that runs or is ready continues at once") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(receives_all, std::move(in));
    co_await to.send(1);
    co_await say("sent ");
    co_await to.send(2);
    co_await say("sent again ");
  };
  CHECK(printed_by(p) == "sent sent again 1 2 end ");
}

program sends(address<int> to, int from, int n) {
  for (int i = 0; i != n; ++i) co_await to.send(from + i);
}

TEST_CASE("try_receive takes a message that is there, and lets no other process run") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(sends, to, 7, 1);
    for (int i = 0; i != 2; ++i) {
      auto const none = co_await in.try_receive();
      co_await say(text(none));
    }
    co_await proc::yield{};
    for (int i = 0; i != 2; ++i) {
      auto const one = co_await in.try_receive();
      co_await say(text(one));
    }
    {
      auto const last = std::move(to);
    }
    auto const nobody = co_await in.try_receive();
    co_await say(text(nobody));
  };
  CHECK(printed_by(p) == "nothing nothing 7 nothing nothing ");
}

TEST_CASE("move-only messages are sent and received") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<std::unique_ptr<int>>({.capacity = 1});
    co_await spawn(
        [](address<std::unique_ptr<int>> a) -> program {
          for (int i = 0; i != 4; ++i) co_await a.send(std::make_unique<int>(i));
        },
        std::move(to));
    auto const first = co_await in.receive();
    auto const second = co_await in.next();
    auto const third = co_await in.receive_until(instant::max());
    co_await proc::yield{};
    auto const fourth = co_await in.try_receive();
    co_await say(text(*first) + text(**second) + text(**third) + text(**fourth));
  };
  CHECK(printed_by(p) == "0 1 2 3 ");
}

TEST_CASE("an end of a port can be sent through a port") {
  auto const p = []() -> program {
    auto [questions, to] = co_await open<address<int>>();
    co_await spawn(
        [](inbox<address<int>> in) -> program {
          int n = 0;
          for (auto back = co_await in.next(); back; back = co_await in.next())
            co_await back->send(++n);
        },
        std::move(questions));
    for (int i = 0; i != 3; ++i) {
      auto [in, back] = co_await open<int>();
      co_await to.send(std::move(back));
      int const answer = co_await in.receive();
      co_await say(text(answer));
    }
    // And an inbox, with the messages in it.
    auto [in, mine] = co_await open<int>();
    auto [boxes, post] = co_await open<inbox<int>>();
    co_await mine.send(10);
    co_await post.send(std::move(in));
    co_await mine.send(11);
    auto taken = co_await boxes.receive();
    int const a = co_await taken.receive();
    int const b = co_await taken.receive();
    co_await say(text(a) + text(b));
  };
  CHECK(printed_by(p) == "1 2 3 10 11 ");
}

// ---- destroyed ends

TEST_CASE(
    "after the last address is destroyed the sent messages are received, and then no_senders") {
  for (bool const waits : {false, true}) {
    auto const p = [waits]() -> program {
      auto [in, to] = co_await open<int>();
      auto const copy = std::make_unique<address<int>>(to);
      co_await spawn(
          [](inbox<int> mine) -> program {
            int const m = co_await mine.receive();
            co_await say(text(m));
            std::string why = "never ";
            try {
              (void)co_await mine.receive();
            } catch (no_senders const& e) {
              why = e.what();
            }
            co_await say(why);
            auto const again = co_await mine.next();
            co_await say("; " + text(again));
          },
          std::move(in));
      co_await to.send(1);
      {
        auto const first = std::move(to);
      }
      if (waits) co_await proc::yield{};
      co_await say("still one ");
    };
    CHECK(printed_by(p) ==
          (waits ? std::string("1 still one ") : std::string("still one 1 ")) +
              "weft: no message is left to receive, and no sender is left; nothing ");
  }
}

TEST_CASE("an inbox makes addresses, even when all others are destroyed") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    auto copy = to;
    co_await say(text(copy == to));
    {
      auto const a = std::move(to);
    }
    {
      auto const b = std::move(copy);
    }
    auto const none = co_await in.next();
    auto again = in.get_address();
    co_await again.send(3);
    copy = again;
    {
      auto const c = std::move(again);
    }
    int const m = co_await in.receive();
    auto const still = co_await in.try_receive();
    co_await say(text(none) + text(m) + text(still));
    auto [other, far] = co_await open<int>();
    co_await say(text(far == copy));
    copy = far;  // destroys the last address of the first port
    auto const end = co_await in.next();
    co_await say(text(end) + text(far == copy));
  };
  CHECK(printed_by(p) == "true nothing 3 nothing false nothing true ");
}

TEST_CASE("a send to a destroyed inbox yields false, and the message is destroyed") {
  every_message_dies const messages;
  auto const p = []() -> program {
    auto [in, to] = co_await open<message>();
    co_await to.send(1);
    {
      auto const mine = std::move(in);
    }
    bool const was_sent = co_await to.send(2);
    co_await say(text(was_sent));
  };
  CHECK(printed_by(p) == "false ");
}

TEST_CASE(
    "an inbox destroys its messages with it, each once, and wakes the senders that wait for room") {
  every_message_dies const messages;
  auto const p = []() -> program {
    auto [in, to] = co_await open<message>({.capacity = 2});
    for (int i = 0; i != 3; ++i)
      co_await spawn(
          [](address<message> a, int n) -> program {
            for (int k = 0; k != 2; ++k) {
              bool const was_sent = co_await a.send(n + k);
              co_await say(text(n + k) + text(was_sent));
            }
          },
          to, 10 * i);
    co_await proc::yield{};
    co_await say("| ");
    {
      auto const mine = std::move(in);
    }
    co_await proc::yield{};
  };
  CHECK(printed_by(p) == "0 true 1 true | 10 false 11 false 20 false 21 false ");
}

TEST_CASE(
    "ends are destroyed in any order, in the frame that ends or before, with messages or without") {
  every_message_dies const messages;
  for (int order = 0; order != 6; ++order)
    for (bool const filled : {false, true}) {
      auto const p = [order, filled]() -> program {
        auto [in, to] = co_await open<message>();
        auto mine = std::make_unique<inbox<message>>(std::move(in));
        auto a = std::make_unique<address<message>>(to);
        auto b = std::make_unique<address<message>>(std::move(to));
        if (filled)
          for (int i = 0; i != 3; ++i) co_await a->send(i);
        std::function<void()> const drops[] = {[&] { mine.reset(); }, [&] { a.reset(); },
                                               [&] { b.reset(); }};
        int const first = order % 3;
        int const second = (first + 1 + order / 3) % 3;
        drops[first]();
        co_await proc::yield{};
        drops[second]();
        if (a) {
          bool const was_sent = co_await a->send(4);
          co_await say(text(was_sent == (mine != nullptr)));
        }
      };
      std::string const said = printed_by(p);
      CHECK((said.empty() || said == "true "));
    }
  // An end of a port lies in its own inbox.
  auto const q = []() -> program {
    struct letter {
      letter(address<letter> a, int n) : back(std::move(a)), m(n) {}  // g++ 12: no aggregate
      address<letter> back;
      message m;
    };
    auto [in, to] = co_await open<letter>();
    co_await to.send(letter(to, 1));
    co_await to.send(letter(to, 2));
    {
      auto const last = std::move(to);
    }
    auto const one = co_await in.receive();
    co_await say(text(one.m.value()));
  };
  CHECK(printed_by(q) == "1 ");
}

TEST_CASE("an end that was moved from is refused") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    inbox<int> mine = std::move(in);
    address<int> const a = std::move(to);
    std::vector<std::function<void()>> const uses = {
        [&] { (void)in.receive(); },         [&] { (void)in.next(); },
        [&] { (void)in.try_receive(); },     [&] { (void)in.receive_until(instant()); },
        [&] { (void)select(mine, in); },     [&] { (void)in.get_address(); },
        [&] { (void)select_until({}, in); }, [&] { (void)to.send(1); },
    };
    for (std::size_t i = 0; i != uses.size(); ++i)
      co_await say(text_of<std::logic_error>(uses[i]) ==
                           (i + 1 == uses.size()
                                ? "weft: an address was used after it was moved from"
                                : "weft: an inbox was used after it was moved from")
                       ? "refused "
                       : "used ");
    in = std::move(mine);
    co_await a.send(5);
    int const m = co_await in.receive();
    co_await say(text(m));
  };
  CHECK(printed_by(p) == "refused refused refused refused refused refused refused refused 5 ");
}

TEST_CASE("a process that receives from an inbox gets an error when another process destroys it") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    auto mine = std::make_unique<inbox<int>>(std::move(in));
    co_await spawn(
        [](inbox<int>& of_another) -> program {
          std::string why = "never ";
          try {
            (void)co_await of_another.receive();
          } catch (std::logic_error const& e) {
            why = e.what();
          }
          co_await say(why);
        },
        std::ref(*mine));
    co_await proc::yield{};
    mine.reset();
    co_await proc::yield{};
  };
  CHECK(printed_by(p) == "weft: an inbox was destroyed while a process received from it");
}

TEST_CASE("a process that selects gets an error when another process destroys one of the inboxes") {
  auto const p = []() -> program {
    auto [kept, to_kept] = co_await open<int>();
    auto gone = co_await open<int>();
    auto mine = std::make_unique<inbox<int>>(std::move(gone.in));
    std::optional<address<int>> its(std::move(gone.to));
    std::optional<address<int>> last(std::move(to_kept));
    co_await spawn(
        [](inbox<int>& x, inbox<int>& y) -> program {
          std::string why = "never ";
          try {
            (void)co_await select(x, y);
          } catch (std::logic_error const& e) {
            why = e.what();
          }
          co_await say(why);
        },
        std::ref(*mine), std::ref(kept));
    co_await proc::yield{};
    its.reset();
    mine.reset();
    last.reset();  // destroys the mailbox of the first inbox
    co_await proc::yield{};
    co_await proc::yield{};
  };
  CHECK(printed_by(p) == "weft: an inbox was destroyed while a process received from it");
}

TEST_CASE("one process at a time receives from an inbox, and the second gets an error") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(
        [](inbox<int>& of_another) -> program {
          int const m = co_await of_another.receive();
          co_await say("first " + text(m));
        },
        std::ref(in));
    co_await proc::yield{};
    auto [empty, other] = co_await open<int>();
    for (bool const several : {false, true}) {
      std::string why = "never ";
      try {
        if (several)
          (void)co_await select(empty, in);
        else
          (void)co_await in.receive_until(instant::max());
      } catch (std::logic_error const& e) {
        why = std::string(e.what()) + ' ';
      }
      co_await say(why);
    }
    co_await to.send(1);
    co_await other.send(2);
    int const m = co_await empty.receive();
    co_await say(text(m));
  };
  std::string const refused = "weft: another process receives from this inbox: one at a time may ";
  CHECK(printed_by(p) == refused + refused + "first 1 2 ");
}

program sends_and_says(address<int> to, int from, int n) {
  for (int i = from; i != from + n; ++i) {
    bool const was_sent = co_await to.send(i);
    std::string const what = was_sent ? '+' + text(i) : "refused ";
    co_await say(what);
  }
}

// ---- bounded inboxes

TEST_CASE("a sender to a full inbox waits until there is room, the longest waiter first") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>({.capacity = 2});
    co_await spawn(sends_and_says, to, 0, 4);
    co_await spawn(sends_and_says, to, 10, 2);
    co_await spawn(sends_and_says, std::move(to), 20, 2);
    co_await proc::yield{};
    for (auto m = co_await in.next(); m; m = co_await in.next()) {
      co_await say(text(*m));
      co_await proc::yield{};
    }
  };
  CHECK(printed_by(p) == "+0 +1 0 +2 1 +10 2 +20 10 +3 20 +11 3 +21 11 21 ");
}

TEST_CASE("every way of receiving makes room, and lets the next sender in") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>({.capacity = 1});
    co_await spawn(sends_and_says, std::move(to), 1, 6);
    co_await proc::yield{};
    auto const a = co_await in.try_receive();
    co_await proc::yield{};
    auto const b = co_await in.receive_until(instant());
    co_await proc::yield{};
    auto const c = co_await select(in);
    co_await proc::yield{};
    auto const d = co_await select_until(instant(), in);
    co_await proc::yield{};
    auto const e = co_await in.next();
    co_await proc::yield{};
    int const f = co_await in.receive();
    co_await say(text(a) + text(b) + text(std::get<0>(c)) + text(std::get<0>(*d)) + text(e) +
                 text(f));
  };
  CHECK(printed_by(p) == "+1 +2 +3 +4 +5 +6 1 2 3 4 5 6 ");
}

TEST_CASE("a bounded inbox holds as many messages as its capacity, and no more") {
  for (std::size_t const n : {1U, 2U, 7U, 8U, 9U, 100U}) {
    auto const p = [n]() -> program {
      auto [in, to] = co_await open<int>({.capacity = n});
      co_await spawn(sends_and_says, std::move(to), 0, 200);
      co_await proc::yield{};
      std::size_t count = 0;
      for (auto m = co_await in.try_receive(); m; m = co_await in.try_receive()) ++count;
      // The sender whose message took the room no longer waits, but its message is in.
      co_await say("=" + std::to_string(count) + ' ');
    };
    CHECK_THAT(printed_by(p), Contains("=" + std::to_string(n + 1) + ' '));
  }
}

TEST_CASE("an inbox with capacity 0 is refused") {
  CHECK_THROWS_WITH(open<int>({.capacity = 0}), Contains("capacity"));
}

program sends_words(address<std::string> to, std::string word) { co_await to.send(word); }

// ---- several inboxes

TEST_CASE("select takes from the first inbox that has a message, or waits for any") {
  auto const p = []() -> program {
    auto [numbers, to_numbers] = co_await open<int>();
    auto [words, to_words] = co_await open<std::string>();
    co_await to_words.send("a");
    co_await to_numbers.send(1);
    for (int i = 0; i != 2; ++i) {
      auto const m = co_await select(numbers, words);
      co_await say(text(m));
    }
    co_await spawn(sends_words, to_words, "b");
    co_await spawn(sends, to_numbers, 2, 1);
    for (int i = 0; i != 2; ++i) {
      auto const m = co_await select(numbers, words);
      co_await say(text(m));
    }
    {
      auto const last = std::move(to_words);
    }
    co_await spawn(sends, std::move(to_numbers), 3, 1);
    auto const m = co_await select(numbers, words);
    co_await say(text(m));
    for (bool const in_time : {false, true}) {
      std::string why = "never ";
      try {
        if (in_time)
          (void)co_await select_until(instant::max(), numbers, words);
        else
          (void)co_await select(numbers, words);
      } catch (no_senders const&) {
        why = "nobody ";
      }
      co_await say(why);
    }
  };
  CHECK(printed_by(p) == "i1 sa sb i2 i3 nobody nobody ");
}

TEST_CASE(
    "a process that selects gets no_senders when the last address of all inboxes is destroyed") {
  for (int order = 0; order != 6; ++order) {
    auto const p = [order]() -> program {
      auto [a, to_a] = co_await open<int>();
      auto [b, to_b] = co_await open<int>();
      auto [c, to_c] = co_await open<int>();
      std::vector<std::optional<address<int>>> ends;
      ends.emplace_back(std::move(to_a));
      ends.emplace_back(std::move(to_b));
      ends.emplace_back(std::move(to_c));
      co_await spawn(
          [](inbox<int> x, inbox<int> y, inbox<int> z) -> program {
            std::string why = "never ";
            try {
              (void)co_await select(x, y, z);
            } catch (no_senders const&) {
              why = "nobody ";
            }
            co_await say(why);
          },
          std::move(a), std::move(b), std::move(c));
      co_await proc::yield{};
      auto const first = static_cast<std::size_t>(order % 3);
      auto const second = (first + 1 + static_cast<std::size_t>(order / 3)) % 3;
      ends[first].reset();
      co_await proc::yield{};
      ends[second].reset();
      co_await proc::yield{};
      co_await say("one is left ");
      ends.clear();
      for (int i = 0; i != 2; ++i) co_await proc::yield{};
      co_await say("end");
    };
    CHECK(printed_by(p) == "one is left nobody end");
  }
}

TEST_CASE("a message that is not selected stays in its inbox") {
  auto const p = []() -> program {
    auto [a, to_a] = co_await open<int>({.capacity = 1});
    auto [b, to_b] = co_await open<std::string>({.capacity = 1});
    co_await spawn(
        [](address<int> x, address<std::string> y) -> program {
          for (int i = 0; i != 3; ++i) {
            co_await x.send(i);
            co_await y.send("w" + std::to_string(i));
          }
        },
        std::move(to_a), std::move(to_b));
    for (int i = 0; i != 6; ++i) {
      auto const m = co_await select(a, b);
      co_await say(text(m));
    }
  };
  CHECK(printed_by(p) == "i0 sw0 i1 i2 sw1 sw2 ");
}

TEST_CASE("the same inbox twice in one select is refused, and keeps its messages") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    std::string why = "never ";
    try {
      (void)co_await select(in, in);
    } catch (std::logic_error const&) {
      why = "refused ";
    }
    co_await say(why);
    co_await spawn(sends, std::move(to), 1, 1);
    int const m = co_await in.receive();
    co_await say(text(m));
  };
  CHECK(printed_by(p) == "refused 1 ");
}

schedule_options in_virtual_time() {
  schedule_options o;
  o.virtual_time = true;
  return o;
}

program sends_at(address<int> to, int n, instant t) {
  co_await timing::sleep_until{t};
  co_await to.send(n);
}

// ---- deadlines

TEST_CASE("a receiver with a deadline gets a message that comes before it, and nothing at it") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    auto [words, to_words] = co_await open<std::string>();
    instant const start = co_await timing::now{};
    co_await spawn(sends_at, to, 1, start + 5ms);
    co_await spawn(sends_at, to, 2, start + 30ms);
    auto const first = co_await in.receive_until(start + 10ms);
    instant const at_first = co_await timing::now{};
    auto const none = co_await in.receive_until(start + 20ms);
    instant const at_none = co_await timing::now{};
    auto const neither = co_await select_until(start + 25ms, in, words);
    instant const at_neither = co_await timing::now{};
    auto const second = co_await select_until(start + 40ms, words, in);
    instant const at_second = co_await timing::now{};
    co_await say(text(first) + text(none) + (neither ? "something " : "nothing ") +
                 text(static_cast<int>(second->index())));
    for (instant const t : {at_first, at_none, at_neither, at_second})
      co_await say(text(static_cast<int>((t - start) / 1ms)));
    {
      auto const last = std::move(to);
    }
    std::string why = "never ";
    try {
      (void)co_await in.receive_until(start + 50ms);
    } catch (no_senders const&) {
      why = "nobody";
    }
    co_await say(why);
  };
  CHECK(printed_by(in_virtual_time(), p) == "1 nothing nothing 1 5 20 25 30 nobody");
}

TEST_CASE("a past deadline gives a message that is there, or nothing after the others had a turn") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await to.send(1);
    auto const there = co_await in.receive_until(instant::min());
    co_await say(text(there));
    co_await spawn(sends_and_says, std::move(to), 2, 1);
    auto const none = co_await in.receive_until(instant::min());
    co_await say(text(none));
  };
  CHECK(printed_by(in_virtual_time(), p) == "1 2 +2 ");
  std::string const said = printed_by(p);
  CHECK((said == "1 +2 nothing " || said == "1 2 +2 "));
}

TEST_CASE("a deadline that was not reached wakes no process later") {
  auto const p = []() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(
        [](inbox<int> mine) -> program {
          for (int i = 0; i != 3; ++i) {
            auto const m = co_await mine.receive_until(instant() + 100ms * (i + 1));
            co_await say(text(m));
          }
          instant const now = co_await timing::now{};
          co_await say(text(static_cast<int>(now.time_since_epoch() / 1ms)));
          for (auto m = co_await mine.next(); m; m = co_await mine.next()) co_await say(text(*m));
        },
        std::move(in));
    for (int i = 0; i != 2; ++i) {
      co_await timing::sleep_for{10ms};
      co_await to.send(i);
    }
    co_await timing::sleep_for{400ms};
    co_await to.send(9);
  };
  CHECK(printed_by(in_virtual_time(), p) == "0 1 nothing 300 9 ");
}

TEST_CASE("of a message and a deadline at the same time one is received, and no message is lost") {
  for (int const sender_first : {0, 1}) {
    auto const p = [sender_first]() -> program {
      auto [in, to] = co_await open<int>();
      auto const receives = [](inbox<int> mine) -> program {
        auto m = co_await mine.receive_until(instant() + 10ms);
        if (!m) {
          co_await say("late ");
          m = co_await mine.next();
        }
        co_await say(text(m));
      };
      if (!sender_first) co_await spawn(receives, std::move(in));
      co_await spawn(sends_at, std::move(to), 5, instant() + 10ms);
      if (sender_first) co_await spawn(receives, std::move(in));
    };
    CHECK_THAT(printed_by(in_virtual_time(), p), Contains("5 "));
  }
}
