// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

// Sends with a deadline, and sends that do not wait.

using program = eff<void, spawning<proc, mail, timing>, proc, mail, timing>;
using letter = std::unique_ptr<int>;

std::string text_of(send_result<letter> const& r) {
  std::string const s = r.what == delivery::sent       ? "sent"
                        : r.what == delivery::too_late ? "too late"
                                                       : "no inbox";
  return s + (r.unsent ? " " + std::to_string(**r.unsent) : "") + (bool(r) ? "!" : "");
}
using said = std::vector<std::string>;

eff<std::string, mail, timing> sends(address<letter> const& to, instant t, int n) {
  auto const r = co_await to.send_until(t, std::make_unique<int>(n));
  co_return text_of(r);
}

/// The output of the program on a backend, in virtual time.
template <class Where, class Program>
said said_by(Program p) {
  every_frame_dies const check;
  said all;
  auto how = Where::how();
  how.virtual_time = true;
  run_on<Where>(how, [&] { return p(all); });
  return all;
}

TEMPLATE_TEST_CASE(
    "a send with a deadline reports the fate of the message, and returns an unsent one", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  auto const all = said_by<TestType>([](said& s) -> program {
    std::optional<inbox<letter>> in;
    std::optional<address<letter>> to;
    {
      auto both = co_await open<letter>({.capacity = 1});
      in.emplace(std::move(both.in));
      to.emplace(std::move(both.to));
    }
    instant const start = co_await timing::now{};
    s.push_back(co_await sends(*to, start, 1));  // there is room: sent, though the deadline is past
    s.push_back(co_await sends(*to, start + 5ms, 2));  // no room
    instant const then = co_await timing::now{};
    s.push_back(std::to_string((then - start) / 1ms));
    auto const now = co_await to->try_send(std::make_unique<int>(3));
    s.push_back(text_of(now));
    auto const first = co_await in->receive();
    s.push_back(std::to_string(*first));
    auto const nothing = co_await in->try_receive();
    s.push_back(nothing ? "more" : "no more");
    auto const room = co_await to->try_send(std::make_unique<int>(4));
    s.push_back(text_of(room));
    in.reset();
    s.push_back(co_await sends(*to, instant::max(), 5));
    auto const gone = co_await to->try_send(std::make_unique<int>(6));
    s.push_back(text_of(gone));
  });
  CHECK(all == said{"sent!", "too late 2", "5", "too late 3", "1", "no more", "sent!", "no inbox 5",
                    "no inbox 6"});
}

using step = eff<void, proc, mail, timing>;

TEMPLATE_TEST_CASE("a sender with a deadline is let in before it, and in its turn", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  auto const all = said_by<TestType>([](said& s) -> program {
    auto [in, to] = co_await open<letter>({.capacity = 1});
    instant const start = co_await timing::now{};
    (void)co_await to.send(std::make_unique<int>(0));
    auto const waits = [](address<letter> at, int n, instant until, said& out) -> step {
      co_await timing::sleep_for{n * 1ms};  // so the senders wait in this order
      std::string const text = co_await sends(at, until, n);
      out.push_back(std::to_string(n) + " " + text);
    };
    auto const waits_for_ever = [](address<letter> at, int n) -> step {
      co_await timing::sleep_for{n * 1ms};
      (void)co_await at.send(std::make_unique<int>(n));
    };
    said results[4];
    co_await spawn(waits, to, 1, start + 100ms, std::ref(results[0]));
    co_await spawn(waits, to, 2, start + 10ms, std::ref(results[1]));  // its deadline is the first
    co_await spawn(waits_for_ever, to, 3);
    co_await spawn(waits, to, 4, instant::max(), std::ref(results[2]));
    co_await spawn(waits, to, 5, start + 100ms, std::ref(results[3]));
    {
      auto const gone = std::move(to);
    }
    co_await timing::sleep_for{50ms};
    for (int i = 0; i != 5; ++i) {
      auto const m = co_await in.receive();
      s.push_back(std::to_string(*m));
    }
    co_await timing::sleep_for{1ms};
    for (auto const& r : results)
      for (auto const& text : r) s.push_back(text);
  });
  CHECK(all == said{"0", "1", "3", "4", "5", "1 sent!", "2 too late 2", "4 sent!", "5 sent!"});
}

TEMPLATE_TEST_CASE("a sender that waits with a deadline learns that the inbox was destroyed", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  auto const all = said_by<TestType>([](said& s) -> program {
    std::optional<inbox<letter>> in;
    auto both = co_await open<letter>({.capacity = 1});
    in.emplace(std::move(both.in));
    instant const start = co_await timing::now{};
    (void)co_await both.to.send(std::make_unique<int>(0));
    co_await spawn([](address<letter> at, instant until,
                      said& out) -> step { out.push_back(co_await sends(at, until, 7)); },
                   both.to, start + 10ms, std::ref(s));
    co_await timing::sleep_for{5ms};
    in.reset();
    co_await timing::sleep_for{20ms};
  });
  CHECK(all == said{"no inbox 7"});
}

TEMPLATE_TEST_CASE("a receiver that waits gets the message of a send with a deadline at once", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  auto const all = said_by<TestType>([](said& s) -> program {
    auto [in, to] = co_await open<letter>();
    auto const receives = [](inbox<letter> from, said& out) -> step {
      for (int i = 0; i != 2; ++i) {
        auto const m = co_await from.receive();
        out.push_back(std::to_string(*m));
      }
    };
    co_await spawn(receives, std::move(in), std::ref(s));
    co_await timing::sleep_for{1ms};
    (void)co_await sends(to, instant::min(), 1);
    co_await timing::sleep_for{1ms};
    (void)co_await to.try_send(std::make_unique<int>(2));
    co_await timing::sleep_for{1ms};
  });
  CHECK(all == said{"1", "2"});
}

BACKENDS_TEST_CASE("a send by id may have a deadline, too", "", on_one_thread, in_random_order,
                   on_sharing<2>, on_stealing<2>) {
  using routed = eff<void, spawning<mail, routing, timing>, mail, routing, timing>;
  every_frame_dies const check;
  std::vector<std::string> s;
  auto how = options();
  how.virtual_time = true;
  run_on(chosen, how, [&]() -> routed {
    auto const receives = []() -> eff<void, mail, routing, timing> {
      auto in = co_await open_inbox<letter>({.capacity = 1});
      co_await timing::sleep_for{10ms};
      (void)co_await in.receive();
      co_await timing::sleep_for{10ms};
    };
    process_id const id = co_await spawn(receives);
    co_await timing::sleep_for{1ms};
    instant const start = co_await timing::now{};
    for (auto const t : {start + 1ms, start + 2ms, start + 100ms, start + 100ms}) {
      auto const r = co_await send_until(t, id, std::make_unique<int>(1));
      s.push_back(text_of(r));
    }
    auto const r = co_await try_send(id, std::make_unique<int>(2));
    s.push_back(text_of(r));
    auto const other = co_await try_send(id, 2);
    s.push_back(other.what == delivery::no_inbox && other.unsent == 2 ? "another type" : "?");
  });
  CHECK(s == std::vector<std::string>{"sent!", "too late 1", "sent!", "no inbox 1", "no inbox 2",
                                      "another type"});
}

TEMPLATE_TEST_CASE("a sender with a deadline that is cancelled has not sent", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  auto const all = said_by<TestType>([](said& s) -> eff<void, tasking<mail, timing>, mail, timing> {
    auto [in, to] = co_await open<letter>({.capacity = 1});
    (void)co_await to.send(std::make_unique<int>(0));
    instant const start = co_await timing::now{};
    auto const body = [&](auto&) { return sends(to, start + 100ms, 1); };
    try {
      s.push_back(co_await with_scope({.timeout = 5ms}, body));
    } catch (cancelled const&) {
      s.push_back("cancelled");
    }
    (void)co_await in.receive();
    auto const m = co_await in.try_receive();
    s.push_back(m ? "sent all the same" : "not sent");
  });
  CHECK(all == said{"cancelled", "not sent"});
}

TEST_CASE("a receiver that comes just after the deadline of the waiting sender finds one message") {
  every_frame_dies const check;
  int had = 0;
  bool was_late = false;
  schedule({.forkable = false, .virtual_time = true}, [&]() -> program {
    auto [in, to] = co_await open<letter>({.capacity = 1});
    (void)co_await to.send(std::make_unique<int>(0));
    instant const until = co_await timing::now{} + 1ms;
    auto const waits = [](address<letter> at, instant t, bool& late) -> step {
      late = !co_await at.send_until(t, std::make_unique<int>(1));
    };
    co_await spawn(waits, std::move(to), until, std::ref(was_late));
    // Its alarm comes first, so the sender is still on the list, and no longer waits.
    co_await timing::sleep_until{until};
    for (auto m = co_await in.next(); m; m = co_await in.next()) had += *m ? 1 : 100;
  });
  CHECK(had == 1);
  CHECK(was_late);
}

BACKENDS_TEST_CASE("no message is lost or received twice when room appears at the deadline", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_sharing<4>, on_stealing<2>,
                   on_stealing<4>) {
  every_frame_dies const check;
  static constexpr int senders = 4;
  static constexpr int messages = 250;
  std::atomic<int> sent = 0;
  std::atomic<int> late = 0;
  int had = 0;
  run_on(chosen, [&]() -> program {
    auto [in, to] = co_await open<letter>({.capacity = 1});
    auto const gives = [](address<letter> at, std::atomic<int>& n, std::atomic<int>& l) -> step {
      for (int i = 0; i != messages; ++i) {
        auto const now = co_await timing::now{};
        auto r = co_await at.send_until(now + std::chrono::microseconds(i % 20),
                                        std::make_unique<int>(i));
        ++(r ? n : l);
        if (r.unsent.has_value() == bool(r)) throw std::logic_error("neither sent nor given back");
        if (!r && **r.unsent != i) throw std::logic_error("another message was given back");
        if (!r) co_await proc::yield{};
      }
    };
    for (int i = 0; i != senders; ++i) co_await spawn(gives, to, std::ref(sent), std::ref(late));
    {
      auto const gone = std::move(to);
    }
    for (;;) {
      auto const m = co_await in.next();
      if (!m) break;
      ++had;
      auto const now = co_await timing::now{};
      co_await timing::sleep_until{now + std::chrono::microseconds(had % 20)};
    }
  });
  CHECK(had == sent);
  CHECK(sent + late == senders * messages);
}

TEST_CASE(
    "in every schedule a message sent with a deadline is received, still there, or returned") {
  struct state {
    int sent = 0, back = 0, had = 0, left = 0;
  };
  auto const all = [](state& s) -> program {
    auto [in, to] = co_await open<letter>({.capacity = 1});
    instant const start = co_await timing::now{};
    auto const gives = [](address<letter> at, instant until, state& st) -> step {
      auto const r = co_await at.send_until(until, std::make_unique<int>(1));
      ++(r ? st.sent : st.back);
    };
    co_await spawn(gives, to, start + 1ms, std::ref(s));
    co_await spawn(gives, to, start + 2ms, std::ref(s));
    co_await spawn(
        [](inbox<letter>& from, state& st) -> step {
          // At the moment of a sender's deadline.
          co_await timing::sleep_for{1ms};
          auto const m = co_await from.try_receive();
          if (m) ++st.had;
        },
        std::ref(in), std::ref(s));
    co_await timing::sleep_for{5ms};
    for (;;) {
      auto const m = co_await in.try_receive();
      if (!m) break;
      ++s.left;
    }
  };
  auto const check = [](state const& s) {
    return s.sent == s.had + s.left && s.sent + s.back == 2
               ? std::to_string(s.sent) + " sent, " + std::to_string(s.had) + " had"
               : std::string();
  };
  for (bool const reduced : {false, true})
    for (auto const g : {granularity::cooperative, granularity::parallel}) {
      auto const found = explore(
          {.granularity = g, .reduce = reduced}, [] { return state(); },
          [&](state& s) { return all(s); },
          [&](state const& s) {
            auto const text = check(s);
            if (text.empty()) throw std::logic_error("a message was lost, or had twice");
            return text;
          });
      CHECK(found.ok());
      CHECK(found.complete);
      std::vector<std::string> outcomes;
      for (auto const& o : found.outcomes) outcomes.push_back(o.result.text);
      INFO(found.summary());
      CHECK_THAT(outcomes, Catch::UnorderedEquals(
                               std::vector<std::string>{"1 sent, 1 had", "2 sent, 1 had"}));
    }
}

TEST_CASE("a send until instant::max() is in a deadlock report, and in the log of a fork") {
  every_frame_dies const check;
  auto const waits = []() -> eff<void, mail> {
    auto [in, to] = co_await open<int>({.capacity = 1});
    (void)co_await to.try_send(1);
    (void)co_await to.send_until(instant::max(), 2);
  };
  CHECK_THROWS_WITH(
      schedule(waits),
      Contains(
          "process 1 (lambda) in weft::mail::send_until at tests/sched/mail/send_until_test.cpp:"));
  std::vector<std::string> told;
  std::optional<address<int>> to;
  schedule({.virtual_time = true}, [&]() -> eff<void, spawning<proc, mail>, mail, timing> {
    auto both = co_await open<int>({.capacity = 1});
    to = both.to;
    co_await spawn(forkable, [&]() -> eff<void, proc, mail> {
      auto const first = co_await to->try_send(1);
      auto const second = co_await to->try_send(2);
      bool const is_child = co_await proc::fork{};
      told.push_back((is_child ? "child " : "parent ") + std::to_string(bool(first)) +
                     std::to_string(second.unsent.value_or(0)));
    });
    co_await timing::sleep_for{1ms};
    auto const m = co_await both.in.try_receive();
    auto const none = co_await both.in.try_receive();
    told.push_back(std::to_string(m.value_or(0)) + (none ? " twice" : " once"));
  });
  std::ranges::sort(told);
  CHECK(told == std::vector<std::string>{"1 once", "child 12", "parent 12"});
  to.reset();
}
