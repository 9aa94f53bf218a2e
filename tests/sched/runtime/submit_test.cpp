// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"
#include "weft/sched/runtime/submitter.hpp"

/// Processes that are submitted from outside.

step counts(std::reference_wrapper<counter> n, lives) {
  co_await proc::yield{};
  ++n.get();
}

TEMPLATE_TEST_CASE(
    "processes that are submitted before the run, during it and by a process run once", "",
    on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(150); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter n = 0;
    {
      auto s = scheduler_on<TestType>();
      std::optional<submitter<typename TestType::backend, proc, syncing>> own;
      s.start(TestType::how(), [&]() -> program {
        for (int i = 0; i != 10; ++i) {
          own->submit(counts, std::ref(n), lives(alive));
          co_await proc::yield{};
        }
        own.reset();
      });
      auto outside = s.template submitter<proc, syncing>();
      own.emplace(outside);
      for (int i = 0; i != 10; ++i) outside.submit(counts, std::ref(n), lives(alive));
      std::thread other([&n, &alive, outside = std::move(outside)] {
        for (int i = 0; i != 10; ++i) outside.submit(counts, std::ref(n), lives(alive));
      });
      s.run();
      other.join();
      CHECK(s.alive() == 0);
    }
    if (n != 30 || alive != 0) FAIL("round " << round << ": " << n << " have run");
  }
}

TEST_CASE("two threads that submit the same row at once look up its handlers correctly") {
  every_frame_dies const check;
  for (int round = 0; round != rounds(1000); ++round) {
    counter n = 0;
    auto s = scheduler_on<on_one_thread>();
    // Another row: the handlers of the submitted one have not been looked up yet.
    s.start(on_one_thread::how(), []() -> eff<void, proc, syncing, timing> { co_return; });
    auto const outside = s.submitter<proc, syncing>();
    counter here = 0;
    auto const submits = [&] {
      ++here;
      until([&here] { return here == 2; });
      outside.submit(
          [](std::reference_wrapper<counter> c) -> eff<void, proc, syncing> {
            co_await proc::yield{};
            ++c.get();
          },
          std::ref(n));
    };
    std::thread other(submits);
    submits();
    other.join();
    s.shut_down(far_away);
    CHECK(n == 0);  // no process ran
  }
}

program does_nothing() { co_return; }

TEMPLATE_TEST_CASE("several threads submit, to one submitter and to copies", "", on_one_thread,
                   on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  int const each = rounds(20'000);
  counter alive = 0;
  counter n = 0;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), does_nothing);
  std::optional outside(s.template submitter<proc, syncing>());
  run_apart running(s);
  std::vector<std::thread> others;
  for (int i = 0; i != 2; ++i) {
    auto const submits = [&n, &alive, each](auto const& to) {
      for (int k = 0; k != each; ++k) to.submit(counts, std::ref(n), lives(alive));
    };
    others.emplace_back([submits, &outside] { submits(*outside); });
    others.emplace_back([submits, copy = *outside] { submits(copy); });
  }
  for (auto& t : others) t.join();
  others.clear();  // with their copies
  outside.reset();
  running.join();
  CHECK(n == 4 * each);
  CHECK(alive == 0);
  CHECK(s.alive() == 0);
}

TEMPLATE_TEST_CASE("the run continues while there is a submitter, even without a process", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(250); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter n = 0;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), does_nothing);
    std::optional outside(s.template submitter<proc, syncing>());
    run_apart running(s);
    for (int i = 1; i != 4; ++i) {
      outside->submit(counts, std::ref(n), lives(alive));
      until([&] { return n == i && alive == 0; });
      auto const copy = *outside;
      for (int k = 0; k != round % 16; ++k) std::this_thread::yield();
      outside.emplace(copy);
    }
    outside.reset();
    running.join();
    if (n != 3) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("the last submitter is destroyed at any moment, and the run ends", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(1000); ++round) {
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), does_nothing);
    std::thread other([outside = s.template submitter<proc>(), round]() mutable {
      for (int i = 0; i != round % 64; ++i) std::this_thread::yield();
    });
    s.run();
    CHECK(s.alive() == 0);
    other.join();
  }
}

TEMPLATE_TEST_CASE("a process that waits for one that is yet to be submitted is in no deadlock", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(250); ++round) {
    every_frame_dies const check;
    gate g;
    counter waits = 0;
    counter done = 0;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&]() -> program {
      auto const seen = g.epoch();
      ++waits;
      co_await syncing::wait{g, seen};
      ++done;
    });
    auto outside = s.template submitter<proc, syncing>();
    std::thread other([&, outside = std::move(outside)] {
      until([&] { return waits == 1; });
      outside.submit([](gate& at) -> step { co_await syncing::wake{at}; }, std::ref(g));
    });
    s.run();
    other.join();
    if (done != 1) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("a deadlock is found when the last submitter is destroyed", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(150); ++round) {
    every_frame_dies const check;
    gate g;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&g]() -> program { co_await syncing::wait{g}; });
    std::thread other([outside = s.template submitter<proc, syncing>(), &g]() mutable {
      outside.submit([](gate& at) -> step { co_await syncing::wait{at}; }, std::ref(g));
    });
    CHECK_THROWS_WITH(
        s.run(), Contains("process 1 (lambda #1) in") && Contains("process 0.1 (lambda #2) in"));
    other.join();
  }
}

TEMPLATE_TEST_CASE(
    "the id of the n-th submitted process is 0.n, and its children are 0.n.1 and so on", "",
    on_one_thread, on_locked_queue, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  findings ids;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), [&ids]() -> program {
    process_id const id = co_await syncing::own{};
    ids.add(id.text());
  });
  {
    auto const outside = s.template submitter<spawning<proc, syncing>, syncing>();
    auto const says = [](findings& to) -> eff<void, syncing> {
      process_id const id = co_await syncing::own{};
      to.add(id.text());
    };
    for (int i = 0; i != 2; ++i)
      outside.submit(
          [](findings& to, decltype(says) child) -> eff<void, spawning<proc, syncing>, syncing> {
            process_id const id = co_await syncing::own{};
            to.add(id.text());
            co_await spawn(child, std::ref(to));
            co_await spawn(child, std::ref(to));
          },
          std::ref(ids), says);
  }
  s.run();
  CHECK(ids.all() ==
        std::vector<std::string>{"0.1", "0.1.1", "0.1.2", "0.2", "0.2.1", "0.2.2", "1"});
}

TEST_CASE("ids of submitted processes print and compare like other ids") {
  CHECK(process_id::submitted(1).text() == "0.1");
  CHECK(process_id::submitted(8).text() == "0.8");
  CHECK(process_id::submitted(123456789).child(7).child(70).text() == "0.123456789.7.70");
  CHECK(process_id() < process_id::submitted(1));
  CHECK(process_id::submitted(1) < process_id::submitted(2));
  CHECK(process_id::submitted(2) < process_id::submitted(2).child(1));
  CHECK(process_id::submitted(2).child(1) < process_id().child(1));
  CHECK(process_id::internal(1) != process_id::submitted(1));
  CHECK(process_id::internal(9).is_internal());
  CHECK_FALSE(process_id::submitted(1).is_internal());
  CHECK_FALSE(process_id().is_internal());
  CHECK_FALSE(process_id().child(1).is_internal());
}

TEMPLATE_TEST_CASE("a submission after the run, or after the scheduler, throws", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  counter alive = 0;
  counter n = 0;
  std::optional<submitter<typename TestType::backend, proc, syncing>> outside;
  auto const submits = [&] { outside->submit(counts, std::ref(n), lives(alive)); };
  {
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), []() -> program {
      throw std::runtime_error("over");
      co_return;
    });
    outside.emplace(s.template submitter<proc, syncing>());
    CHECK_THROWS_WITH(s.run(), "over");
    CHECK_THROWS_AS(submits(), scheduler_stopped);
    CHECK_THROWS_AS((s.template submitter<proc>()), scheduler_stopped);
    s.run();
    CHECK(s.alive() == 0);
  }
  CHECK_THROWS_AS(submits(), scheduler_stopped);
  CHECK_THROWS_WITH(submits(), Contains("submit") && Contains("has ended"));
  {
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), does_nothing);
    outside.emplace(s.template submitter<proc, syncing>());
    submits();
    CHECK(alive == 1);
    CHECK(s.alive() == 2);
  }
  CHECK(alive == 0);
  CHECK_THROWS_AS(submits(), scheduler_stopped);
  CHECK(n == 0);
  CHECK(alive == 0);
}

TEMPLATE_TEST_CASE("a failure ends the run though there is a submitter, at any moment", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(250); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter n = 0;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&]() -> program {
      while (n < round % 8) co_await proc::yield{};
      throw std::runtime_error("fails");
    });
    std::thread other([&, outside = s.template submitter<proc, syncing>()] {
      try {
        for (int i = 0;; ++i) {
          if (i > n + 100) std::this_thread::yield();  // else it has its turn too seldom
          outside.submit(counts, std::ref(n), lives(alive));
        }
      } catch (scheduler_stopped const&) {
      }
    });
    CHECK_THROWS_WITH(s.run(), "fails");
    CHECK(s.alive() == 0);
    other.join();
    if (alive != 0) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE(
    "a scheduler that is destroyed while threads submit drops the submitted processes", "",
    on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(150); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter n = 0;
    counter submitted = 0;
    auto s = std::make_unique<scheduler<typename TestType::backend>>();
    s->start(TestType::how(), does_nothing);
    std::thread other([&, outside = s->template submitter<proc, syncing>()] {
      try {
        for (;; ++submitted) outside.submit(counts, std::ref(n), lives(alive));
      } catch (scheduler_stopped const&) {
      }
    });
    until([&] { return submitted >= round % 32; });
    s.reset();
    other.join();
    if (alive != 0 || n != 0) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("the run throws an exception of a submitted process", "", on_one_thread,
                   on_locked_queue, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), does_nothing);
  {
    auto const outside = s.template submitter<proc>();
    outside.submit(
        [](std::string what) -> eff<void> {
          throw std::runtime_error(what);
          co_return;
        },
        std::string("of a submitted one"));
  }
  CHECK_THROWS_WITH(s.run(), "of a submitted one");
}

TEMPLATE_TEST_CASE("a stop request ends the run though there is a submitter", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  for (int round = 0; round != rounds(150); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter n = 0;
    std::stop_source stop;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(false, stop.get_token()), does_nothing);
    auto const outside = s.template submitter<proc, syncing>();
    outside.submit(
        [](counter& a, lives) -> step {
          ++a;
          for (;;) co_await proc::yield{};
        },
        std::ref(n), lives(alive));
    std::thread other([&] {
      until([&] { return n == 1; });
      stop.request_stop();
    });
    CHECK_THROWS_AS(s.run(), cancelled);
    other.join();
    CHECK(alive == 0);
    CHECK_THROWS_AS(outside.submit(counts, std::ref(n), lives(alive)), scheduler_stopped);
  }
}

TEST_CASE("a submitter can be made for effects that some process of the program may perform") {
  every_frame_dies const check;
  scheduler<> s;
  CHECK_THROWS_WITH((s.submitter<>()), Contains("start"));
  std::string text;
  s.start([]() -> eff<void, spawning<console>> { co_return; }, console_to_string(text));
  CHECK_THROWS_AS((s.submitter<console, timing>()), std::logic_error);
  CHECK_THROWS_WITH((s.submitter<console, timing>()), Contains("weft::timing"));
  CHECK_THROWS_WITH((s.submitter<ask>()), Contains("ask"));
  {
    auto outside = s.submitter<row<console>, spawning<console>>();
    outside.submit(
        [](std::unique_ptr<std::string> s_) -> eff<void, console> { co_await console::print{*s_}; },
        std::make_unique<std::string>("hello "));
    outside.submit([]() -> eff<void, spawning<console>, console> {
      co_await spawn([]() -> eff<void, console> { co_await console::print{"child"}; });
    });
    auto const other = std::move(outside);
    CHECK_THROWS_AS(outside.submit([]() -> eff<void> { co_return; }), std::logic_error);
    other.submit([]() -> eff<void> { co_return; });
  }
  s.run();
  CHECK(text == "hello child");
}

TEST_CASE("step by step a submitted process has its turn, and there is no checkpoint") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start([]() -> eff<void, console> { co_await console::print{"1"}; }, console_to_string(text));
  std::optional outside(s.submitter<console>());
  auto const says = [](std::string what) -> eff<void, console> { co_await console::print{what}; };
  outside->submit(says, std::string("2"));
  CHECK(s.alive() == 2);
  CHECK_THROWS_AS(s.checkpoint(), unforkable);
  CHECK(s.step());
  CHECK(s.step());
  CHECK(text == "12");
  outside->submit(says, std::string("3"));
  CHECK(s.step());
  outside.reset();
  CHECK_FALSE(s.step());
  CHECK(text == "123");
  CHECK(s.alive() == 0);
}

TEST_CASE("a scheduler that sleeps in step() wakes when the last submitter is destroyed") {
  for (int round = 0; round != rounds(250); ++round) {
    scheduler<> s;
    s.start(does_nothing);
    std::thread other([outside = s.submitter<proc>(), round] {
      for (int i = 0; i != round % 32; ++i) std::this_thread::yield();
    });
    while (s.step()) {
    }
    CHECK(s.alive() == 0);
    other.join();
  }
}

TEST_CASE("submit throws an exception of the call of its function, and no process begins") {
  every_frame_dies const check;
  scheduler<> s;
  s.start(does_nothing);
  {
    auto const outside = s.submitter<proc>();
    auto const throws = [](int) -> eff<void> { throw std::runtime_error("before it begins"); };
    CHECK_THROWS_WITH(outside.submit(throws, 1), "before it begins");
    CHECK(s.alive() == 1);
  }
  s.run();
}
