// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

// The text of a deadlock report about each process, word for word: its function, its call, and the
// place.

std::string const first_line =
    "weft: deadlock: every process waits, and none is left to wake another";
std::string place(int line) {
  return "tests/sched/runtime/deadlock_report_test.cpp:" + std::to_string(line);
}
std::string at(std::string const& call, int line) {
  return " in weft::" + call + " at " + place(line);
}

constexpr int acquires = __LINE__ + 1;
step takes_one(semaphore& s) { co_await s.acquire(); }
program takes_more_than_there_are(semaphore& s) {
  co_await s.acquire();
  s.release(2);
  for (int i = 0; i != 5; ++i) co_await spawn(takes_one, std::ref(s));
}

/// The report of a deadlock; the object lives until all processes have ended.
template <class Backend, class Object, class... Args>
std::string deadlock_of(program (*p)(Object&), Args... args) {
  Object object(args...);
  try {
    run_on<Backend>([&] { return p(object); });
  } catch (deadlock const& e) {
    return e.what();
  }
  return "no deadlock";
}

TEMPLATE_TEST_CASE("a deadlock report says which permits a process waits for, and where", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string const text = deadlock_of<TestType>(takes_more_than_there_are, 2u);
  std::string const what = at("semaphore::acquire", acquires) +
                           ", for a permit of a semaphore, which has 0 left and was made with 2: "
                           "2 processes wait";
  // Which two of the five wait is the backend's choice.
  CHECK(text.starts_with(first_line + "\n  process 1."));
  std::size_t n = 0;
  for (std::size_t i = text.find(what); i != text.npos; i = text.find(what, i + 1)) ++n;
  CHECK(n == 2);
  CHECK(text.size() ==
        first_line.size() +
            2 * (what.size() + std::string("\n  process 1.1 (takes_one #1)").size()));
}

constexpr int writes = __LINE__ + 2;
step adds_one(shared<int>& n) {
  co_await n.update([](int& value) { ++value; });
}
constexpr int waits_for_two = __LINE__ + 2;
step waits_for_values(shared<int>& n) {
  (void)co_await n.wait_for([](int value) { return value == 2; });
}
program one_writes_too_little(shared<int>& n) {
  co_await spawn(adds_one, std::ref(n));
  co_await spawn(waits_for_values, std::ref(n));
  co_await spawn(waits_for_values, std::ref(n));
}
program nobody_writes(shared<int>& n) { co_await spawn(waits_for_values, std::ref(n)); }

TEMPLATE_TEST_CASE(
    "a deadlock report says which value processes wait for, and which process wrote it last", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string const what = at("shared::wait_for", waits_for_two) +
                           ", for a shared value to be as its predicate says; it was last written ";
  std::string const by_it = "by process 1.1 at " + place(writes) + ": ";
  CHECK(deadlock_of<TestType>(one_writes_too_little) ==
        first_line + "\n  process 1.2 (waits_for_values #1)" + what + by_it + "2 processes wait" +
            "\n  process 1.3 (waits_for_values #2)" + what + by_it + "2 processes wait");
  CHECK(deadlock_of<TestType>(nobody_writes) == first_line + "\n  process 1.1 (waits_for_values)" +
                                                    what + "when it was made: 1 process waits");
}

constexpr int meets = __LINE__ + 1;
step arrives(barrier& b) { co_await b.arrive_and_wait(); }
program one_does_not_come(barrier& b) {
  co_await spawn(arrives, std::ref(b));
  co_await spawn(arrives, std::ref(b));
}

TEMPLATE_TEST_CASE("a deadlock report says how many processes have arrived at a barrier", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string const what =
      at("barrier::arrive_and_wait", meets) + ", for the others at a barrier: 2 of 3 have arrived";
  CHECK(deadlock_of<TestType>(one_does_not_come, 3u) ==
        first_line + "\n  process 1.1 (arrives #1)" + what + "\n  process 1.2 (arrives #2)" + what);
}

constexpr int locks = __LINE__ + 2;
step locks_twice(mutex& m) {
  auto const held = co_await m.lock();
  auto const again = co_await m.lock();
}
program one_locks_twice(mutex& m) { co_await spawn(locks_twice, std::ref(m)); }

TEMPLATE_TEST_CASE("a deadlock report says which process holds a mutex, and since where", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  CHECK(deadlock_of<TestType>(one_locks_twice) ==
        first_line + "\n  process 1.1 (locks_twice)" + at("mutex::lock", locks + 1) +
            ", held by process 1.1 since " + place(locks));
}

TEST_CASE("the deadlock report about a semaphore is among the outcomes of explore") {
  auto const found =
      explore([] { return std::make_unique<semaphore>(2); },
              [](std::unique_ptr<semaphore>& s) { return takes_more_than_there_are(*s); },
              [](std::unique_ptr<semaphore> const&) { return true; });
  REQUIRE(found.first_failure());
  CHECK(found.first_failure()->result.text.find(
            at("semaphore::acquire", acquires) +
            ", for a permit of a semaphore, which has 0 left and was made with 2: 2 processes "
            "wait") != std::string::npos);
}
