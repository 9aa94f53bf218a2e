// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/reports/failure_log.hpp"

#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/parts.hpp"

using weft::detail::failure_log;

TEST_CASE("an empty log throws nothing") {
  failure_log log;
  CHECK(log.all().empty());
  CHECK_NOTHROW(log.throw_all());
}

/// The exceptions of this test that are alive.
counter alive = 0;

/// The failure of process "1.n".
struct failed {
  explicit failed(int of) noexcept : n(of) {}
  int n;
  lives counts = lives(alive);
};
/// No allocation fails meanwhile.
exceptions::failure failure_of(int n) {
  return {process_id().child(static_cast<std::uint64_t>(n)), std::make_exception_ptr(failed(n))};
}

/// Checks that each exception was destroyed.
struct every_exception_dies {
  every_exception_dies() = default;
  every_exception_dies(every_exception_dies const&) = delete;
  every_exception_dies& operator=(every_exception_dies const&) = delete;
  ~every_exception_dies() { CHECK(alive == 0); }
};

TEST_CASE("a log with one failure throws it, and is empty after that") {
  every_exception_dies const check;
  failure_log log;
  log.add(failure_of(1));
  CHECK(log.all().size() == 1);
  CHECK_THROWS_AS(log.throw_all(), failed);
  CHECK(log.all().empty());
  CHECK(alive == 0);
  CHECK_NOTHROW(log.throw_all());
}

exceptions::failure cancellation(int n) {
  return {process_id().child(static_cast<std::uint64_t>(n)),
          std::make_exception_ptr(cancelled("cancelled"))};
}

/// The number of that failure; -1 for a cancellation.
int number(std::exception_ptr const& e) {
  try {
    std::rethrow_exception(e);
  } catch (failed const& f) {
    return f.n;
  } catch (cancelled const&) {
    return -1;
  }
}
/// The numbers of the failures that throw_all() throws.
std::vector<int> thrown_by(failure_log& log) {
  try {
    log.throw_all();
  } catch (exceptions const& several) {
    CHECK(several.all.size() > 1);
    std::vector<int> numbers;
    for (auto const& f : several.all) {
      numbers.push_back(number(f.error));
      if (numbers.back() >= 0)
        CHECK(f.process == process_id().child(static_cast<std::uint64_t>(numbers.back())));
    }
    return numbers;
  } catch (...) {
    return {number(std::current_exception())};
  }
  return {};
}

TEST_CASE("a log with several failures throws them all in order, with their processes") {
  every_exception_dies const check;
  failure_log log;
  for (int const n : {3, 1, 2}) log.add(failure_of(n));
  log.add(cancellation(4));
  std::vector<int> kept;
  for (auto const& f : log.all()) kept.push_back(number(f.error));
  CHECK(kept == std::vector{3, 1, 2, -1});
  CHECK(thrown_by(log) == std::vector{3, 1, 2, -1});
  CHECK(log.all().empty());
  CHECK(alive == 0);
  // The log can be used again.
  log.add(failure_of(7));
  CHECK(thrown_by(log) == std::vector{7});
}

TEST_CASE("the failures of another run replace those of a log") {
  every_exception_dies const check;
  failure_log log;
  log.add(failure_of(1));
  log.assign({failure_of(2), failure_of(3)});
  CHECK(log.all().size() == 2);
  CHECK(thrown_by(log) == std::vector{2, 3});
  log.add(failure_of(1));
  log.assign({});
  CHECK(thrown_by(log).empty());
}

TEST_CASE("a log that is destroyed destroys its failures") {
  every_exception_dies const check;
  failure_log log;
  log.add(failure_of(1));
  log.add(failure_of(2));
  CHECK(alive == 2);
}

TEST_CASE("adding a failure writes to the location of the log") {
  failure_log log;
  accesses watched;
  log.add(failure_of(1));
  CHECK(watched.take() == std::vector<accesses::access>{{&log, true}});
  CHECK(thrown_by(log).size() == 1);
}

/// Adds a failure when there is no memory.
void add_without_memory(failure_log& log, exceptions::failure f) {
  until_failure = 0;
  log.add(std::move(f));
  bool const has_failed = until_failure < 0;
  until_failure = -1;
  CHECK(has_failed);
}

// ---- without memory

TEST_CASE("the first failure is kept when there is no memory for it") {
  every_exception_dies const check;
  failure_log log;
  add_without_memory(log, failure_of(1));
  CHECK(log.all().empty());
  SECTION("and is thrown alone") { CHECK(thrown_by(log) == std::vector{1}); }
  SECTION("and comes before those that are added when there is memory again") {
    log.add(failure_of(2));
    SECTION("of which there is one") { CHECK(thrown_by(log) == std::vector{1, 2}); }
    SECTION("of which there are two") {
      log.add(failure_of(3));
      CHECK(thrown_by(log) == std::vector{1, 2, 3});
    }
  }
  SECTION("and no later failure replaces it") {
    add_without_memory(log, failure_of(2));
    add_without_memory(log, cancellation(3));
    CHECK(thrown_by(log) == std::vector{1});
  }
  CHECK(thrown_by(log).empty());
}

TEST_CASE("a cancellation that is kept without memory gives way to the next failure") {
  every_exception_dies const check;
  failure_log log;
  add_without_memory(log, cancellation(1));
  SECTION("if there is none, it is thrown itself") { CHECK(thrown_by(log) == std::vector{-1}); }
  SECTION("if there is one without memory either, that is thrown") {
    add_without_memory(log, failure_of(2));
    CHECK(thrown_by(log) == std::vector{2});
  }
  SECTION("if there is one with memory, both are thrown") {
    log.add(failure_of(2));
    CHECK(thrown_by(log) == std::vector{-1, 2});
  }
  CHECK(thrown_by(log).empty());
}

TEST_CASE("a failure for which there is no memory is lost when others are in the log") {
  every_exception_dies const check;
  failure_log log;
  do {  // until the next one takes an allocation
    log.add(failure_of(1));
  } while (log.all().size() != log.all().capacity());
  auto const before = log.all().size();
  add_without_memory(log, failure_of(2));
  CHECK(log.all().size() == before);
  CHECK(thrown_by(log) == std::vector<int>(before, 1));
  CHECK(alive == 0);
}

// ---- threads

TEST_CASE("a log that several threads add to has each of their failures, in their order") {
  every_exception_dies const check;
  constexpr int threads = 3;
  constexpr int each = 100;
  for (int round = 0; round != rounds(20); ++round) {
    failure_log log;
    counter come = 0;
    std::vector<std::thread> all;
    for (int i = 0; i != threads; ++i)
      all.emplace_back([&, i] {
        ++come;
        until([&] { return come == threads; });
        for (int n = 0; n != each; ++n) log.add(failure_of(i * each + n));
      });
    for (auto& t : all) t.join();
    std::vector<int> found = thrown_by(log);
    for (int i = 0; i != threads; ++i) {
      std::vector<int> of_one;
      std::ranges::copy_if(found, std::back_inserter(of_one), [i](int n) { return n / each == i; });
      CHECK(of_one.size() == each);
      CHECK(std::ranges::is_sorted(of_one));
    }
    CHECK(found.size() == threads * each);
  }
}
