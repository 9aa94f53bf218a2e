// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The report of stealing about its processes, while they run.

using step = eff<void, proc, syncing, mail, timing>;
using program = eff<void, spawning<proc, syncing, mail, timing>, proc, syncing, mail, timing>;

std::string next_line(std::source_location here = std::source_location::current()) {
  return here.file_name() + (':' + std::to_string(here.line() + 1));
}
step waits_at(std::reference_wrapper<gate> g, std::reference_wrapper<std::string> line) {
  line.get() = next_line();
  co_await syncing::wait{g};
}
step waits_for_mail(std::reference_wrapper<std::string> line) {
  auto [in, to] = co_await open<int>();
  line.get() = next_line();
  int const n = co_await in.receive();
  (void)n;
}
step sleeps(std::reference_wrapper<std::string> line) {
  line.get() = next_line();
  co_await timing::sleep_for{std::chrono::hours(1)};
}

step yields(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}
step never_runs() { co_return; }

TEST_CASE("a report gives each process its state, its steps, and what it waits for, and where") {
  every_frame_dies const check;
  gate never;
  std::string gate_line;
  std::string mail_line;
  std::string sleep_line;
  std::vector<process_report> all;
  stealing_options how{.threads = 1};
  how.keep_list = true;
  scheduler<stealing> s(how);
  s.start({.forkable = false, .virtual_time = true}, [&]() -> program {
    co_await spawn(waits_at, std::ref(never), std::ref(gate_line));
    co_await spawn(waits_for_mail, std::ref(mail_line));
    co_await spawn(yields, 1000);
    co_await spawn(sleeps, std::ref(sleep_line));
    for (int i = 0; i != 10; ++i) co_await proc::yield{};
    co_await spawn(never_runs);
    all = s.base().processes();
    co_await syncing::wake{never, 1};
  });
  CHECK_THROWS_AS(s.run(), deadlock);  // of the process that waits for mail

  REQUIRE(all.size() == 6);
  CHECK(std::ranges::is_sorted(all, {}, &process_report::id));
  auto const is = [&](std::size_t i, std::string_view id, stealing_state state, auto steps,
                      std::string const& waits_for) {
    INFO(all[i].id.text() << " waits for " << all[i].waits_for);
    CHECK(all[i].id.text() == id);
    CHECK(all[i].state == state);
    CHECK(steps(all[i].steps));
    CHECK(all[i].waits_for == waits_for);
  };
  auto const just = [](std::uint32_t n) { return [n](std::uint32_t steps) { return steps == n; }; };
  is(0, "1", stealing_state::running, just(11), "");
  is(1, "1.1", stealing_state::blocked, just(1), "weft::syncing::wait at " + gate_line);
  is(2, "1.2", stealing_state::idle, just(1), "weft::mail::receive at " + mail_line);
  is(3, "1.3", stealing_state::ready, [](std::uint32_t n) { return n > 5 && n < 15; }, "");
  is(4, "1.4", stealing_state::blocked, just(1), "weft::timing::sleep_for at " + sleep_line);
  is(5, "1.5", stealing_state::ready, just(0), "");
  CHECK(s.base().processes().empty());
}

/// Waits after each message: else the next one would not be handed over.
step sends(address<int> to, int n) {
  for (int i = 0; i != n; ++i) {
    co_await to.send(i);
    co_await timing::sleep_for{std::chrono::milliseconds(1)};
  }
}

TEST_CASE("the steps of a receiver that is handed messages, and of a process alone, are counted") {
  every_frame_dies const check;
  std::vector<process_report> all;
  stealing_options how{.threads = 1};
  how.keep_list = true;
  how.virtual_time = true;
  scheduler<stealing> s(how);
  s.start({.forkable = false}, [&]() -> program {
    auto [in, to] = co_await open<int>();
    co_await spawn(sends, std::move(to), 10);
    for (int i = 0; i != 10; ++i) {
      int const n = co_await in.receive();
      (void)n;
    }
    all = s.base().processes();
  });
  s.run();
  REQUIRE(!all.empty());
  CHECK(all[0].steps == 11);
}

TEST_CASE("without .keep_list = true there is no list, and processes() throws") {
  stealing b;
  CHECK_THROWS_AS(b.processes(), std::logic_error);
}

TEST_CASE("processes() can be called from another thread while processes start, wait and end") {
  every_frame_dies const check;
  auto const threads = GENERATE(1u, 2u, 8u);
  int const all = rounds(20'000);
  gate door;
  std::string line;
  std::atomic<bool> is_over = false;
  stealing_options how{.threads = threads};
  how.keep_list = true;
  scheduler<stealing> s(how);
  s.start({.forkable = false}, [&]() -> program {
    co_await spawn(waits_at, std::ref(door), std::ref(line));
    for (int i = 0; i != all; ++i) {
      co_await spawn(yields, i % 5);
      if (i % 50 == 0) co_await proc::yield{};
    }
    co_await syncing::wake{door, 1};
  });
  int wrong = 0;
  std::size_t looks = 0;
  std::thread other([&] {
    do {
      auto const found = s.base().processes();
      ++looks;
      wrong += !std::ranges::is_sorted(found, {}, &process_report::id);
      for (auto const& r : found) {
        bool const waits = r.state == stealing_state::blocked || r.state == stealing_state::idle;
        wrong += r.waits_for.empty() == waits;
        wrong += waits && r.waits_for != "weft::syncing::wait at " + line;
        wrong += r.state == stealing_state::complete;
      }
      std::this_thread::yield();
    } while (!is_over);
  });
  s.run();
  is_over = true;
  other.join();
  CHECK(wrong == 0);
  CHECK(looks > 0);
  CHECK(s.base().processes().empty());
}

TEST_CASE("a process that is dropped with its backend was on the list, and is removed") {
  every_frame_dies const check;
  stealing_options how{.threads = 1};
  how.keep_list = true;
  scheduler<stealing> s(how);
  s.start({.forkable = false}, [&]() -> program {
    for (int i = 0; i != 3; ++i) co_await spawn(yields, 1000);
    for (int i = 0; i != 10; ++i) co_await proc::yield{};
    s.base().stop();
  });
  s.run();
  CHECK(s.base().processes().size() == 3);
}
