// SPDX-License-Identifier: MIT
#include "weft/adapters/execution.hpp"

#include "examples/senders.hpp"
#include "tests/prelude.hpp"

/// Senders, by the concepts of std::execution, which examples/senders.hpp writes out: the standard
/// library here has none.

using senders::names;

TEST_CASE("a process awaits a sender of a value, of several, and of none") {
  every_frame_dies const check;
  int n = 0;
  std::tuple<int, std::string> several;
  auto const program = [&]() -> eff<void, completions> {
    n = co_await await_sender<names>(senders::just(42));
    several = co_await await_sender<names>(senders::just(1, std::string("two")));
    co_await await_sender<names>(senders::just());
  };
  schedule({.forkable = false}, program);
  CHECK(n == 42);
  CHECK(several == std::tuple(1, std::string("two")));
}

template <class Sender>
std::string said_by(Sender s) {
  std::string said;
  auto const program = [&]() -> eff<void, completions> {
    try {
      (void)co_await await_sender<names>(std::move(s));
      said = "a value";
    } catch (std::exception const& e) {
      said = e.what();
    } catch (int n) {
      said = std::to_string(n);
    }
  };
  schedule({.forkable = false}, program);
  return said;
}

TEST_CASE("the error of a sender is thrown where it is awaited, and a stop as sender_stopped") {
  every_frame_dies const check;
  CHECK(said_by(senders::just_error{std::make_exception_ptr(std::runtime_error("broken"))}) ==
        "broken");
  CHECK(said_by(senders::just_error{std::make_error_code(std::errc::timed_out)}) ==
        std::make_error_code(std::errc::timed_out).message());
  CHECK(said_by(senders::just_error{7}) == "7");
  CHECK(said_by(senders::just_stopped()) ==
        "weft: the sender that was awaited has stopped, and has no value");
}

eff<void, proc> counts(int& n) {
  for (int i = 0; i != 3; ++i) {
    co_await proc::yield{};
    ++n;
  }
}
eff<void, completions> asks(senders::threads& t, std::latch& may, int& n) {
  auto const waits = [&may](std::stop_token const&) {
    may.wait();
    return 42;
  };
  n = co_await await_sender<names>(senders::on_thread(t, waits));
}
eff<void, proc> lets(std::latch& may, int& n) {
  co_await counts(n);
  may.count_down();
}
eff<void, spawning<proc, completions>> both(senders::threads& t, std::latch& may, int& sent,
                                            int& counted) {
  co_await spawn(asks, std::ref(t), std::ref(may), std::ref(sent));
  co_await spawn(lets, std::ref(may), std::ref(counted));
}

BACKENDS_TEST_CASE("other processes run while a sender is awaited that completes elsewhere", "",
                   on_one_thread, on_sharing<2>) {
  every_frame_dies const check;
  int sent = 0, counted = 0;
  std::latch may(1);
  senders::threads t;
  run_on(chosen, [&] { return both(t, may, sent, counted); });
  CHECK(sent == 42);
  CHECK(counted == 3);
}

/// Waits until a stop is requested, and sets a flag, which its destruction reports.
struct until_stopped {
  std::latch* has_begun;
  std::shared_ptr<int> lives;  // as long as the operation
  int operator()(std::stop_token const& t) const {
    std::latch stopped(1);
    auto const counts = [&stopped] { stopped.count_down(); };
    std::stop_callback const on_stop(t, counts);
    if (has_begun) has_begun->count_down();
    stopped.wait();
    return 0;
  }
};
eff<void, completions> asks_in_vain(senders::threads& t, until_stopped u, bool& was_cancelled) {
  try {
    (void)co_await await_sender<names>(senders::on_thread(t, std::move(u)));
  } catch (cancelled const&) {
    was_cancelled = true;
    throw;
  }
}

eff<void, proc> fails(std::latch& when) {
  when.wait();
  throw std::runtime_error("enough");
  co_return;
}

TEST_CASE("a cancelled wait requests a stop of the sender") {
  every_frame_dies const check;
  auto const lives = std::make_shared<int>();
  std::latch begun(1);
  bool was_cancelled = false;
  {
    senders::threads t;
    auto const program = [&]() -> eff<void, spawning<proc, completions>> {
      until_stopped waits{&begun, lives};
      co_await spawn(asks_in_vain, std::ref(t), std::move(waits), std::ref(was_cancelled));
      co_await spawn(fails, std::ref(begun));
    };
    CHECK_THROWS_WITH(schedule({.forkable = false}, program), "enough");
  }
  CHECK(was_cancelled);
  CHECK(lives.use_count() == 1);
}

/// Says when it is destroyed.
class local {
 public:
  explicit local(std::atomic<bool>& is_there) noexcept : is_there_(is_there) { is_there_ = true; }
  local(local const&) = delete;
  local& operator=(local const&) = delete;
  ~local() { is_there_ = false; }

 private:
  std::atomic<bool>& is_there_;
};
/// Awaits a sender that refers to a local object: after a stop was requested it looks whether that
/// is there, and says so.
eff<void, completions> lends(senders::threads& t, std::latch& begun, std::atomic<bool>& is_there,
                             std::atomic<bool>& was_there) {
  local const here(is_there);
  auto const looks = [&](std::stop_token const& token) {
    (void)until_stopped{&begun, nullptr}(token);
    bool b = true;
    for (int i = 0; i != 1000; ++i) {
      b = b && is_there;
      std::this_thread::yield();
    }
    was_there = b;
    return 0;
  };
  (void)co_await await_sender<names>(senders::on_thread(t, looks));
}

TEST_CASE("a cancelled process ends after the sender that refers to its objects") {
  every_frame_dies const check;
  std::atomic<bool> is_there = false;
  std::atomic<bool> was_there = false;
  std::latch begun(1);
  std::stop_source stop;
  senders::threads t;
  std::jthread const other([&] {
    begun.wait();
    stop.request_stop();
  });
  schedule({.forkable = false}, [&]() -> eff<void, tasking<>, completions> {
    auto const body = [&](auto&) { return lends(t, begun, is_there, was_there); };
    try {
      co_await with_scope(stop.get_token(), body);
    } catch (cancelled const&) {
      CHECK_FALSE(is_there);
    }
  });
  CHECK(was_there);
}

TEST_CASE("no frame ends before the sender that it awaits, even if all processes are cancelled") {
  every_frame_dies const check;
  std::atomic<bool> is_there = false;
  std::atomic<bool> was_there = false;
  std::latch begun(1);
  {
    senders::threads t;
    auto const program = [&]() -> eff<void, spawning<proc, completions>> {
      co_await spawn(lends, std::ref(t), std::ref(begun), std::ref(is_there), std::ref(was_there));
      co_await spawn(fails, std::ref(begun));
    };
    CHECK_THROWS_WITH(schedule({.forkable = false}, program), "enough");
  }
  CHECK(was_there);
  CHECK_FALSE(is_there);
}

/// Sends 7 when a stop is requested.
struct value_at_stop {
  using sender_concept = senders::sender_t;
  using completion_signatures = senders::completion_signatures<senders::set_value_t(int)>;
  template <class R>
  struct operation {
    using operation_state_concept = senders::operation_state_t;
    struct sends {
      operation* to;
      void operator()() const noexcept { names::set_value(std::move(to->receiver), 7); }
    };
    using token = decltype(names::get_stop_token(names::get_env(std::declval<R const&>())));
    R receiver;
    std::optional<names::stop_callback<token, sends>> on_stop;
    void start() & noexcept {
      on_stop.emplace(names::get_stop_token(names::get_env(receiver)), sends{this});
    }
  };
  template <class R>
  operation<R> connect(R r) const {
    return {std::move(r), {}};
  }
};

TEST_CASE("a value that a sender sends although it was asked to stop is delivered") {
  every_frame_dies const check;
  int when_cancelled = 0;
  std::optional<int> when_late;
  std::stop_source stop;
  stop.request_stop();
  schedule({.forkable = false}, [&]() -> eff<void, tasking<>, completions, timing> {
    auto const body = [&](auto&) -> eff<void, completions> {
      when_cancelled = co_await await_sender<names>(value_at_stop());
    };
    try {
      co_await with_scope(stop.get_token(), body);
    } catch (cancelled const&) {
    }
    auto const now = co_await timing::now{};
    when_late = co_await await_sender_until<names>(value_at_stop(), now);
  });
  CHECK(when_cancelled == 7);
  CHECK(when_late == 7);
}

TEST_CASE("a sender that is late is asked to stop, and one in time gives its value") {
  every_frame_dies const check;
  auto const lives = std::make_shared<int>();
  std::optional<int> late = 1, in_time;
  bool nothing_in_time = false;
  {
    senders::threads t;
    auto const program = [&]() -> eff<void, completions, timing> {
      auto const now = co_await timing::now{};
      in_time = co_await await_sender_until<names>(senders::just(5), now);
      nothing_in_time = co_await await_sender_until<names>(senders::just(), now);
      until_stopped waits{nullptr, lives};
      late = co_await await_sender_until<names>(senders::on_thread(t, std::move(waits)), now);
    };
    schedule({.forkable = false}, program);
  }
  CHECK_FALSE(late);
  CHECK(in_time == 5);
  CHECK(nothing_in_time);
  CHECK(lives.use_count() == 1);
}

eff<int, proc, console> greets(int n) {
  co_await console::print_line{"hello"};
  co_await proc::yield{};
  co_return n;
}

TEST_CASE("a program is a sender, which runs where it is started, once for each operation") {
  every_frame_dies const check;
  std::string printed;
  auto const s = as_sender<names>([] { return greets(7); }, console_to_string(printed));
  CHECK(printed.empty());
  CHECK(senders::sync_wait<int>(s) == 7);
  CHECK(senders::sync_wait<int>(s) == 7);
  CHECK(printed == "hello\nhello\n");
}

eff<void, proc> yields_for_ever(std::latch& begun) {
  begun.count_down();
  for (;;) co_await proc::yield{};
}

TEST_CASE("a program that throws sends an error, and one that is asked to stop is stopped") {
  every_frame_dies const check;
  auto const throws = []() -> eff<int, proc> {
    co_await proc::yield{};
    throw std::runtime_error("of the program");
  };
  CHECK_THROWS_WITH(senders::sync_wait<int>(as_sender<names>(throws)), "of the program");
  std::latch begun(1);
  std::stop_source stop;
  std::jthread const other([&] {
    begun.wait();
    stop.request_stop();
  });
  auto const never_ends = [&begun]() -> eff<int, proc> {
    co_await yields_for_ever(begun);
    co_return 0;
  };
  CHECK_FALSE(senders::sync_wait<int>(as_sender<names>(never_ends), stop.get_token()));
}

TEST_CASE("a program that awaits a sender that has stopped is stopped itself") {
  every_frame_dies const check;
  auto const awaits = []() -> eff<int, completions> {
    co_await await_sender<names>(senders::just_stopped());
    co_return 1;
  };
  CHECK_FALSE(senders::sync_wait<int>(as_sender<names>(awaits)));
}

eff<int, proc> doubles(int n) {
  co_await proc::yield{};
  if (n < 0) throw std::runtime_error("negative");
  co_return 2 * n;
}
eff<int, proc> doubles_never(int n) {
  for (;;) co_await proc::yield{};
  co_return n;
}
eff<void, tasking<>, proc> ends_at_once() { co_return; }

TEST_CASE("a process of a scheduler that runs is a sender, with its value, its error or a stop") {
  every_frame_dies const check;
  scheduler<> s;
  s.start({.forkable = false}, ends_at_once);
  std::optional<int> value, stopped = 1;
  std::string error;
  {
    std::jthread const other([&, outside = s.submitter<proc, tasking<>>()] {
      value = senders::sync_wait<int>(submitted_as_sender<names>(outside, doubles, 21));
      try {
        (void)senders::sync_wait<int>(submitted_as_sender<names>(outside, doubles, -1));
      } catch (std::runtime_error const& e) {
        error = e.what();
      }
      std::stop_source stop;
      std::jthread const stops([&stop] { stop.request_stop(); });
      stopped = senders::sync_wait<int>(submitted_as_sender<names>(outside, doubles_never, 1),
                                        stop.get_token());
    });
    s.run();
  }
  CHECK(value == 42);
  CHECK(error == "negative");
  CHECK_FALSE(stopped);
}

TEST_CASE("a process that cannot be submitted any more is stopped") {
  every_frame_dies const check;
  std::optional<int> value = 1;
  auto s = std::make_optional<scheduler<>>();
  s->start({.forkable = false}, ends_at_once);
  auto const outside = s->submitter<proc>();
  s->shut_down(instant());
  s->run();
  s.reset();
  value = senders::sync_wait<int>(submitted_as_sender<names>(outside, doubles, 21));
  CHECK_FALSE(value);
}
