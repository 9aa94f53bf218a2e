// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The parallel granularity: each operation on shared state is a step of its own.

using weft::tests::ask;

constexpr explore_options reduced_in_parallel{
    .granularity = granularity::parallel, .reduce = true, .progress = progress::never};

std::set<std::string> texts(exploration const& e) {
  std::set<std::string> all;
  for (auto const& o : e.outcomes) all.insert(o.result.text);
  return all;
}

/// An outer handler that prints by a handler further out.
struct tells_further_out {
  int on(ask::get, outer<console> up) {
    up(console::print{"?"});
    return 1;
  }
};
using asking = eff<void, console, ask>;
eff<void, spawning<console, ask>, console, ask> one_asks_and_one_prints(std::string&) {
  co_await spawn([]() -> asking { (void)co_await ask::get{}; });
  co_await spawn([]() -> asking { co_await console::print{"."}; });
}
exploration told_further_out(explore_options const& options) {
  return explore(
      options, [] { return std::string(); }, one_asks_and_one_prints,
      [](std::string const& s) { return s; }, [](std::string&) { return tells_further_out(); },
      [](std::string& s) { return console_to_string(s); });
}

TEST_CASE("a handler outside that performs an operation further out accesses both handlers") {
  weft::tests::every_frame_dies const here;
  auto const found = GENERATE(explore_options{.reduce = true}, reduced_in_parallel);
  CHECK(texts(told_further_out(found)) == std::set<std::string>{"?.", ".?"});
  CHECK(told_further_out(found).schedules == 2);
}

constexpr explore_options in_parallel{.granularity = granularity::parallel,
                                      .progress = progress::never};

/// State that two processes share.
struct things {
  mutex key;
  semaphore seats{2};
  shared<int> value{0};
  gate at;
  int x = 0;
  std::optional<inbox<int>> in;
  std::optional<address<int>> to;
  std::string out;
  std::string saw;
  int asked = 0;
  int throws_at = 0;
};
using world = std::unique_ptr<things>;

using does_all = eff<void, spawning<proc, syncing, mail, timing, console, ask>, proc, syncing, mail,
                     timing, console, ask>;
using step = does_all (*)(std::reference_wrapper<things>);

/// Counts the questions, and throws at number `throws_at`.
struct counts_up {
  things* t;
  int on(ask::get) {
    if (++t->asked == t->throws_at) throw std::runtime_error("no answer");
    return t->asked;
  }
};

template <step... Steps>
exploration explored(explore_options const& options, unsigned times = 1) {
  weft::tests::every_frame_dies const here;
  return explore(
      options, [] { return std::make_unique<things>(); },
      [times](world& w) -> does_all {
        auto ends = co_await open<int>();
        w->in = std::move(ends.in);
        w->to = std::move(ends.to);
        for (unsigned i = 0; i != times; ++i) (co_await spawn(Steps, std::ref(*w)), ...);
      },
      [](world const& w) { return w->out + w->saw; },
      [](world& w) { return console_to_string(w->out); },
      [](world& w) { return counts_up{w.get()}; });
}
/// Schedules of two processes that both run `Step`.
template <step Step>
std::size_t schedules_of_two(explore_options const& options) {
  auto const found = explored<Step>(options, 2);
  CHECK(found.ok());
  CHECK(found.complete);
  return found.schedules;
}

/// Schedules of two processes of n steps each: (2n)! / (n!)^2.
std::size_t of_steps(std::size_t n) {
  std::size_t all = 1;
  for (std::size_t i = 1; i <= n; ++i) all = all * (n + i) / i;
  return all;
}

does_all nothing(std::reference_wrapper<things>) { co_return; }
does_all yields(std::reference_wrapper<things>) { co_await proc::yield{}; }
does_all prints(std::reference_wrapper<things>) { co_await console::print{"."}; }
does_all prints_twice(std::reference_wrapper<things>) {
  co_await console::print{"."};
  co_await console::print{"."};
}
does_all asks_once(std::reference_wrapper<things>) { (void)co_await ask::get{}; }
does_all sends(std::reference_wrapper<things> t) { (void)co_await t.get().to->send(1); }
does_all looks_for_mail(std::reference_wrapper<things> t) {
  (void)co_await t.get().in->try_receive();
}
does_all touches(std::reference_wrapper<things> t) {
  co_await syncing::touch{&t.get().x, true};
  ++t.get().x;
}
does_all wakes(std::reference_wrapper<things> t) { co_await syncing::wake{t.get().at}; }
does_all sits_down(std::reference_wrapper<things> t) { (void)co_await t.get().seats.try_acquire(); }
does_all updates(std::reference_wrapper<things> t) {
  co_await t.get().value.update([](int& n) { ++n; });
}
does_all locks(std::reference_wrapper<things> t) { auto const held = co_await t.get().key.lock(); }
does_all looks_at_clock(std::reference_wrapper<things>) { (void)co_await timing::now{}; }
does_all spawns(std::reference_wrapper<things> t) { co_await spawn(nothing, t); }

TEST_CASE(
    "an operation that others can see is a step of its own in parallel, and no other one is") {
  CHECK(schedules_of_two<nothing>(in_parallel) == of_steps(1));
  CHECK(schedules_of_two<yields>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<prints>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<prints_twice>(in_parallel) == of_steps(3));
  CHECK(schedules_of_two<asks_once>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<sends>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<looks_for_mail>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<touches>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<wakes>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<sits_down>(in_parallel) == of_steps(2));
  CHECK(schedules_of_two<updates>(in_parallel) == of_steps(2));
  // The unlock is no operation but an event, which takes effect in a step of its own.
  CHECK(schedules_of_two<locks>(in_parallel) == of_steps(3));
  CHECK(schedules_of_two<looks_at_clock>(in_parallel) == of_steps(1));
  // A process of one step, after the step of its parent.
  CHECK(schedules_of_two<spawns>(in_parallel) == of_steps(2));
}

constexpr explore_options on_one_thread{.progress = progress::never};

does_all locks_and_prints(std::reference_wrapper<things> t) {
  auto const held = co_await t.get().key.lock();
  co_await console::print{"."};
}

TEST_CASE("other processes come in before the look of wait_while, and at a touch before an epoch") {
  using looking = eff<void, syncing, timing>;
  auto const looks = [](things& w) -> looking {
    co_await syncing::wake{w.at};
    w.out += "k";
    co_await w.at.wait_while([&w] { return (w.out += "l").empty(); });
  };
  auto const writes = [](things& w) -> looking {
    co_await syncing::touch{&w.at, true};
    w.out += "w";
  };
  auto const orders = explore(
      in_parallel, [] { return std::make_unique<things>(); },
      [&](world& w) -> eff<void, spawning<syncing, timing>> {
        co_await spawn(looks, std::ref(*w));
        co_await spawn(writes, std::ref(*w));
      },
      [](world& w) { return w->out; });
  CHECK(texts(orders) == std::set<std::string>{"wkl", "kwl", "klw"});

  auto const wakes_and_waits = [](things& w) -> looking {
    co_await syncing::wake{w.at, 9};
    instant const now = co_await timing::now{};
    co_await syncing::touch{&w.at, false};
    w.x += co_await syncing::wait_until(w.at, w.at.epoch(), now + 2ns);
  };
  for (bool const reduce : {false, true}) {
    auto options = in_parallel;
    options.reduce = reduce;
    auto const woken = explore(
        options, [] { return std::make_unique<things>(); },
        [&](world& w) -> eff<void, spawning<syncing, timing>> {
          co_await spawn(wakes_and_waits, std::ref(*w));
          co_await spawn(wakes_and_waits, std::ref(*w));
        },
        [](world& w) { return std::to_string(w->x); });
    CHECK(texts(woken) == std::set<std::string>{"0", "1"});
  }
}

TEST_CASE("an operation that others can see is no step of its own in cooperative schedules") {
  CHECK(schedules_of_two<prints_twice>(on_one_thread) == of_steps(1));
  CHECK(schedules_of_two<sends>(on_one_thread) == of_steps(1));
  CHECK(schedules_of_two<touches>(on_one_thread) == of_steps(1));
  CHECK(schedules_of_two<locks_and_prints>(on_one_thread) == of_steps(1));
}

TEST_CASE("the reduction visits one order of steps that access nothing in common") {
  CHECK(schedules_of_two<yields>(reduced_in_parallel) == 1);
  CHECK(schedules_of_two<prints>(reduced_in_parallel) == 2);
  auto const apart = explored<prints, sends>(reduced_in_parallel);
  CHECK(apart.ok());
  CHECK(apart.schedules == 1);
}

// Processes that read, and then act on what they have read.

does_all counts_on_shared(std::reference_wrapper<things> t) {
  int const seen = co_await t.get().value.get();
  co_await t.get().value.set(seen + 1);
  t.get().saw = std::to_string(seen + 1);
}
does_all leaves_unless_locked(std::reference_wrapper<things> t) {
  auto const held = co_await t.get().key.try_lock();
  co_await console::print{held ? "held " : "not "};
}
does_all first_says_so(std::reference_wrapper<things>) {
  int const n = co_await ask::get{};
  co_await console::print{std::to_string(n)};
}
does_all takes_if_there(std::reference_wrapper<things> t) {
  bool const one = co_await t.get().seats.try_acquire();
  bool const two = co_await t.get().seats.try_acquire();
  t.get().saw += std::to_string(one + two);
}

template <step Step>
std::pair<std::set<std::string>, std::set<std::string>> texts_of_two() {
  auto const coarse = explored<Step>(on_one_thread, 2);
  auto const fine = explored<Step>(in_parallel, 2);
  auto const less = explored<Step>(reduced_in_parallel, 2);
  CHECK(coarse.ok());
  CHECK(fine.ok());
  CHECK(less.ok());
  CHECK(texts(less) == texts(fine));
  CHECK(less.schedules <= fine.schedules);
  return {texts(coarse), texts(fine)};
}

TEST_CASE(
    "a read followed by an act on it is caught in parallel schedules, not in cooperative ones") {
  using all = std::set<std::string>;
  auto const counting = texts_of_two<counts_on_shared>();
  CHECK(counting.first == all{"2"});
  CHECK(counting.second == all{"1", "2"});
  auto const trying = texts_of_two<leaves_unless_locked>();
  CHECK(trying.first == all{"held held "});
  CHECK(trying.second == all{"held held ", "held not ", "not held "});
  auto const saying = texts_of_two<first_says_so>();
  CHECK(saying.first == all{"12"});
  CHECK(saying.second == all{"12", "21"});
  auto const taking = texts_of_two<takes_if_there>();
  CHECK(taking.first == all{"20"});
  CHECK(taking.second == all{"11", "20"});
}

// Processes that are replayed after a fork.

does_all forks_between(std::reference_wrapper<things> t) {
  int const before = co_await ask::get{};
  co_await syncing::touch{&t.get().x, false};
  bool const first = co_await proc::fork{};
  int const after = co_await ask::get{};
  co_await console::print{(first ? "a" : "b") + std::to_string(before) + std::to_string(after) +
                          ' '};
}
does_all starts_a_forkable(std::reference_wrapper<things> t) {
  co_await spawn(forkable, [t] { return forks_between(t); });
}
does_all forks_and_sends(std::reference_wrapper<things> t) {
  bool const first = co_await proc::fork{};
  bool const second = co_await t.get().to->send(1);
  co_await console::print{std::string(first ? "a" : "b") + (second ? "+ " : "- ")};
}
does_all starts_one_that_sends(std::reference_wrapper<things> t) {
  co_await spawn(forkable, [t] { return forks_and_sends(t); });
}
/// Of the two processes after a fork, the first keeps the suspended frames, the other is replayed.
does_all forks_thrice(std::reference_wrapper<things> t) {
  std::string s;
  for (int i = 0; i != 2; ++i) {
    bool const first = co_await proc::fork{};
    int const n = co_await ask::get{};
    s += (first ? "a" : "b") + std::to_string(n);
  }
  t.get().saw += s + ' ';
}
does_all starts_one_that_forks_thrice(std::reference_wrapper<things> t) {
  co_await spawn(forkable, [t] { return forks_thrice(t); });
}

TEST_CASE("a replayed process performs no operation twice, also where its operations wait") {
  auto const once = explored<starts_a_forkable>(in_parallel);
  CHECK(once.ok());
  CHECK(once.complete);
  CHECK(texts(once) == std::set<std::string>{"a12 b13 ", "a13 b12 ", "b12 a13 ", "b13 a12 "});
  // Each process asks once and prints once: outcomes differ in which is first at either.
  CHECK(texts(explored<starts_a_forkable>(reduced_in_parallel)) == texts(once));
  auto const sending = explored<starts_one_that_sends>(in_parallel);
  CHECK(sending.ok());
  CHECK(texts(sending) == std::set<std::string>{"a+ b+ ", "b+ a+ "});
  auto const thrice = explored<starts_one_that_forks_thrice>(in_parallel);
  CHECK(thrice.ok());
  CHECK(thrice.complete);
  CHECK(texts(explored<starts_one_that_forks_thrice>(reduced_in_parallel)) == texts(thrice));
  CHECK(texts(explored<starts_one_that_forks_thrice>(on_one_thread)).size() <=
        texts(thrice).size());
}

// Handlers inside the processes, and further out.

/// Forwards each question to the outer handler, in a clause that is a coroutine.
struct asks_and_tells {
  eff<void, ask, console, proc> on(ask::get, resumption<int, void> k) {
    int const n = co_await ask::get{};
    co_await console::print{"<" + std::to_string(n) + ">"};
    co_await std::move(k)(10 * n);
  }
};
/// Adds a mark to each text that is printed inside, in an ordinary function, which cannot yield.
struct shouts {
  void on(console::print p, outer<console> up) { up(console::print{p.text + "!"}); }
  void on(console::print_line p, outer<console> up) { up(console::print{p.text + "!\n"}); }
};
using inside = eff<void, console, ask, proc>;
inside asks_and_prints() {
  int const n = co_await ask::get{};
  co_await proc::yield{};
  co_await console::print{std::to_string(n)};
}
does_all under_handlers(std::reference_wrapper<things>) {
  co_await handle<ask>(asks_and_tells(), handle<console>(shouts(), asks_and_prints()));
}

TEST_CASE("an operation that a coroutine clause inside a process performs is a step as well") {
  auto const once = explored<under_handlers>(in_parallel);
  CHECK(once.ok());
  CHECK(texts(once) == std::set<std::string>{"<1>10!"});
  auto const two = explored<under_handlers>(in_parallel, 2);
  CHECK(two.ok());
  CHECK(texts(two).contains("<2><1>10!20!"));
  CHECK(texts(two).contains("<2><1>20!10!"));
  CHECK_FALSE(texts(explored<under_handlers>(on_one_thread, 2)).contains("<2><1>10!20!"));
  CHECK(texts(explored<under_handlers>(reduced_in_parallel, 2)) == texts(two));
}

inside asks_the_outer() {
  int const n = co_await outer_of<ask>(ask::get{});
  co_await console::print{std::to_string(n) + ' '};
}
does_all under_one_that_is_passed_by(std::reference_wrapper<things>) {
  co_await handle<ask>(weft::tests::answers{7}, asks_the_outer());
}

TEST_CASE("an operation that bypasses a handler inside its process is a step as well") {
  auto const found = explored<under_one_that_is_passed_by>(in_parallel, 2);
  CHECK(found.ok());
  CHECK(found.schedules == of_steps(3));
  CHECK(texts(found) == std::set<std::string>{"1 2 ", "2 1 "});
}

// Handlers that throw, and processes that are unwound.

does_all asks_and_catches(std::reference_wrapper<things> t) {
  t.get().throws_at = 1;
  std::string said;
  try {
    int const n = co_await ask::get{};
    said = std::to_string(n);
  } catch (std::runtime_error const& e) {
    said = e.what();
  }
  co_await console::print{said + ' '};
}
does_all starts_one_that_catches(std::reference_wrapper<things> t) {
  co_await spawn(forkable, [t]() -> does_all {
    co_await asks_and_catches(t);
    bool const first = co_await proc::fork{};
    co_await console::print{first ? "a" : "b"};
  });
}
does_all asks_and_does_not(std::reference_wrapper<things> t) {
  t.get().throws_at = 1;
  (void)co_await ask::get{};
}

/// Waits at each of its operations, and notes how it is unwound.
does_all is_unwound(std::reference_wrapper<things> t) {
  std::string how = "not at all";
  try {
    co_await console::print{"."};
    auto const held = co_await t.get().key.lock();
    bool const sent = co_await t.get().to->send(1);
    if (sent) co_await syncing::wait{t.get().at};
  } catch (cancelled const&) {
    how = "cancelled";
  }
  // Nothing waits any more once all are cancelled.
  if (how == "cancelled") co_await console::print{"not printed"};
}

std::size_t failures(exploration const& e, std::string const& text) {
  std::size_t n = 0;
  for (auto const& o : e.outcomes)
    if (o.result.verdict == verdict::failed && o.result.text == text) n += o.schedules;
  return n;
}

TEST_CASE("an exception of a handler outside arises at the operation, in its turn") {
  using all = std::set<std::string>;
  auto const caught = explored<asks_and_catches>(in_parallel, 2);
  CHECK(caught.ok());
  CHECK(texts(caught) == all{"2 no answer ", "no answer 2 "});
  CHECK(texts(explored<asks_and_catches>(reduced_in_parallel, 2)) == texts(caught));
  auto const recorded = explored<starts_one_that_catches>(in_parallel);
  CHECK(recorded.ok());
  CHECK(texts(recorded) == all{"no answer ab", "no answer ba"});
  auto const uncaught = explored<asks_and_does_not, is_unwound>(in_parallel);
  CHECK(uncaught.complete);
  CHECK(failures(uncaught, "no answer") == uncaught.schedules);
  CHECK(uncaught.leaked == 0);
}

does_all throws(std::reference_wrapper<things>) {
  co_await proc::yield{};
  throw std::runtime_error("boom");
}

does_all starts_one_that_is_unwound(std::reference_wrapper<things> t) {
  co_await spawn(forkable, [t] { return is_unwound(t); });
}
does_all asks_under_a_handler(std::reference_wrapper<things> t) {
  co_await handle<ask>(weft::tests::answers{3}, [](std::reference_wrapper<things> to) -> does_all {
    (void)co_await ask::get{};
    co_await syncing::wait{to.get().at};
  }(t));
}

TEST_CASE("a process that waits for its turn is cancelled when another process throws") {
  for (auto const& found : {explored<throws, is_unwound>(in_parallel),
                            explored<throws, starts_one_that_is_unwound>(in_parallel),
                            explored<throws, asks_under_a_handler>(in_parallel)}) {
    CHECK(found.complete);
    CHECK(found.schedules > 3);
    CHECK(failures(found, "boom") == found.schedules);
    CHECK(found.leaked == 0);
    CHECK_FALSE(found.nondeterminism);
  }
  auto const less = explored<throws, is_unwound>(reduced_in_parallel);
  CHECK(less.complete);
  CHECK(failures(less, "boom") == less.schedules);
}

TEST_CASE("a deadlock is found after the last processes that waited for their turn have run") {
  auto const found = explored<is_unwound, asks_under_a_handler>(in_parallel);
  CHECK(found.complete);
  CHECK(found.deadlocks == found.schedules);
  CHECK(found.leaked == 0);
  REQUIRE(found.outcomes.size() == 1);
  auto const& text = found.outcomes[0].result.text;
  CHECK(text.find("process 1.1 (is_unwound) in weft::syncing::wait") != text.npos);
  CHECK(text.find("process 1.2 (asks_under_a_handler) in weft::syncing::wait") != text.npos);
  auto const path = found.outcomes[0].path.text();
  CHECK(path.starts_with("2p:"));
}

TEST_CASE("a parallel schedule that is cut or abandoned leaks nothing") {
  auto const cut = explored<is_unwound, starts_a_forkable>(
      {.max_schedules = 10, .max_steps = 5, .granularity = granularity::parallel});
  CHECK(cut.cut == 10);
  CHECK(cut.leaked == 0);
  auto const less = explored<prints_twice, is_unwound, starts_a_forkable>(reduced_in_parallel);
  CHECK(less.complete);
  CHECK(less.deadlocks == less.schedules);
  CHECK(less.leaked == 0);
}
