// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// scheduler::dump: by its own process, by another thread while it runs, and while it does not.

constexpr int reads_at = __LINE__ + 1;
eff<void, mail> reads(inbox<int> in) { (void)co_await in.receive(); }
std::string line_of_reads() { return "dump_test.cpp:" + std::to_string(reads_at); }

TEST_CASE("a process can describe the processes that wait, and itself") {
  scheduler<> s;
  std::string text;
  auto const program = [&]() -> eff<void, spawning<mail>, mail, proc> {
    auto [in, to] = co_await open<int>();
    co_await spawn(reads, std::move(in));
    co_await proc::yield{};
    text = s.dump();
    co_await to.send(1);
  };
  s.start({.forkable = false}, program).run();
  CHECK(text.starts_with("1 process waits\n  process 1.1 (reads) in weft::mail::receive at "));
  CHECK(text.find(line_of_reads()) != text.npos);
  CHECK(text.ends_with("\nprocess 1 runs here\n"));
}

TEST_CASE("between two steps and after the run, any thread can describe the processes") {
  scheduler<> s;
  auto const program = []() -> eff<void, spawning<mail>, mail, proc> {
    auto [in, to] = co_await open<int>();
    co_await spawn(reads, std::move(in));
    co_await proc::yield{};
    co_await to.send(1);
  };
  s.start({.forkable = false}, program);
  CHECK(s.dump() == "0 processes wait\n");
  CHECK(s.step());
  CHECK(s.step());
  CHECK(s.dump().starts_with("1 process waits\n  process 1.1 (reads) in weft::mail::receive at "));
  s.run();
  CHECK(s.dump() == "0 processes wait\n");
}

template <class Backend>
void check_from_another_thread(scheduler<Backend>& s, typename scheduler<Backend>::options how) {
  std::atomic<bool> is_enough = false;
  auto const program = [&]() -> eff<void, spawning<mail, proc>, mail, proc> {
    auto [in, to] = co_await open<int>();
    co_await spawn(reads, std::move(in));
    while (!is_enough) co_await proc::yield{};
    co_await to.send(1);
  };
  s.start(how, program);
  std::thread other([&] {
    for (int found = 0; found != 20;) {
      std::string const text = s.dump();
      // The process may not have begun to wait yet.
      found +=
          text.starts_with("1 process waits\n  process 1.1 (reads) in weft::mail::receive at ");
    }
    is_enough = true;
  });
  s.run();
  other.join();
  CHECK(s.dump() == "0 processes wait\n");
}

TEMPLATE_LIST_TEST_CASE("another thread can describe the processes of a scheduler that runs", "",
                        all_backends) {
  using backend = typename TestType::backend;
  if constexpr (configurable_backend<backend>) {
    scheduler<backend> s(TestType::how());
    check_from_another_thread(s, TestType::how());
  } else {
    scheduler<backend> s;
    check_from_another_thread(s, TestType::how());
  }
}
