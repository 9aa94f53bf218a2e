// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/task_words.hpp"

#include "tests/prelude.hpp"

/// The words of sched/tasks/detail/task_words.hpp: the number of their atomic steps, and their
/// results.

using weft::detail::task_count;
using weft::detail::task_state;
using after = task_state<>::after;

/// The steps since the last query: l(oad), s(tore), m(odify).
std::string& steps() {
  static std::string done;
  return done;
}
std::string steps_since() { return std::exchange(steps(), {}); }

/// An atomic that notes its steps.
template <class T>
class counted {
 public:
  counted(T v) noexcept : value_(v) {}
  T load(std::memory_order m) const noexcept { return steps() += 'l', value_.load(m); }
  void store(T v, std::memory_order m) noexcept { steps() += 's', value_.store(v, m); }
  T fetch_add(T v, std::memory_order m) noexcept { return steps() += 'm', value_.fetch_add(v, m); }
  T fetch_sub(T v, std::memory_order m) noexcept { return steps() += 'm', value_.fetch_sub(v, m); }
  T fetch_or(T v, std::memory_order m) noexcept { return steps() += 'm', value_.fetch_or(v, m); }
  bool compare_exchange_weak(T& found, T v, std::memory_order yes, std::memory_order no) noexcept {
    return steps() += 'm', value_.compare_exchange_strong(found, v, yes, no);
  }

 private:
  std::atomic<T> value_;
};

TEST_CASE("a wait for an ended task is one load, and an end without a waiter is one modification") {
  (void)steps_since();
  SECTION("of a count") {
    task_count<counted> c;
    c.add_one();
    c.add_one();
    CHECK(steps_since() == "mm");
    CHECK_FALSE(c.end_one());
    CHECK(steps_since() == "lm");  // the load reads the word to be modified, as below
    CHECK_FALSE(c.is_zero());
    CHECK_FALSE(c.end_one());
    (void)steps_since();
    CHECK(c.is_zero());
    CHECK(steps_since() == "l");
  }
  SECTION("of a task") {
    task_state<counted> t(true);
    CHECK_FALSE(t.has_ended());
    (void)steps_since();
    CHECK(t.end() == task_state<counted>::after::nothing);
    // The first load reads the word that is then modified.
    CHECK(steps_since() == "lm");
    CHECK(t.has_ended());
    CHECK(steps_since() == "l");
  }
}

TEST_CASE("the last task of a count learns whether its owner waits") {
  task_count<> c;
  CHECK_FALSE(c.wait());  // there are no tasks
  c.add_one();
  c.add_one();
  CHECK(c.wait());
  CHECK_FALSE(c.is_zero());
  CHECK_FALSE(c.end_one());
  CHECK(c.end_one());
  CHECK(c.is_zero());
  // And again.
  c.add_one();
  CHECK_FALSE(c.end_one());
  CHECK_FALSE(c.wait());
  CHECK(c.is_zero());
}

TEST_CASE("a task with a waiter has ended only when that is stored under the lock") {
  task_state<> t(true);
  CHECK(t.announce_wait());
  CHECK(t.end() == after::waited_for);
  CHECK_FALSE(t.has_ended());
  CHECK(t.announce_wait());  // another waiter comes meanwhile
  CHECK(t.end_at_last() == after::nothing);
  CHECK(t.has_ended());
  CHECK_FALSE(t.announce_wait());
  CHECK_FALSE(t.drop_handle());
  CHECK(t.let_go());
}

TEST_CASE("the last holder of a task is told to destroy it, in any order") {
  // The task ends, the handle is dropped, the scope lets go: in every order.
  std::array<int, 3> order = {0, 1, 2};
  do {
    for (bool const waited_for : {false, true}) {
      task_state<> t(true);
      if (waited_for) REQUIRE(t.announce_wait());
      std::vector<bool> said;
      for (int const who : order) {
        if (who == 0) {
          after a = t.end();
          REQUIRE((a == after::waited_for) == waited_for);
          if (waited_for) a = t.end_at_last();
          said.push_back(a == after::unreferenced);
        } else {
          said.push_back(who == 1 ? t.drop_handle() : t.let_go());
        }
      }
      CHECK(said == std::vector<bool>{false, false, true});
    }
  } while (std::ranges::next_permutation(order).found);
  // Without a scope there are two holders.
  task_state<> ends_first(false);
  CHECK(ends_first.end() == after::nothing);
  CHECK(ends_first.drop_handle());
  task_state<> ends_last(false);
  CHECK_FALSE(ends_last.drop_handle());
  CHECK(ends_last.end() == after::unreferenced);
}

TEST_CASE("on several threads one task is the last, and it sees the writes of all") {
  for (int round = 0; round != rounds(2000); ++round) {
    constexpr int tasks = 3;
    task_count<> c;
    std::array<int, tasks> done{};  // not atomic: ordered by the count alone
    counter told = 0;
    for (int i = 0; i != tasks; ++i) c.add_one();
    std::vector<std::jthread> threads;
    for (int i = 0; i != tasks; ++i)
      threads.emplace_back([&, i] {
        done[static_cast<std::size_t>(i)] = 1;
        if (c.end_one())
          for (int const d : done) told += d;
      });
    bool const waits = !c.is_zero() && c.wait();
    if (!waits)
      for (int const d : done) told += d;
    threads.clear();
    REQUIRE(told == tasks);
    REQUIRE(c.is_zero());
  }
}

TEST_CASE("tasks that are added while the last one ends have one last task each time") {
  for (int round = 0; round != rounds(5000); ++round) {
    task_count<> c;
    std::atomic<int> told = 0;
    std::atomic<bool> adds_no_more = false;
    int waited = 0;
    bool was_told_too_often = false;
    c.add_one();
    {
      std::jthread const last([&] { told += c.end_one(); });
      std::jthread const adds([&] {
        for (int i = 0; i != 3; ++i) {
          c.add_one();
          told += c.end_one();
        }
        adds_no_more = true;
      });
      while (!adds_no_more || !c.is_zero()) {
        if (c.is_zero() || !c.wait()) continue;
        ++waited;
        until([&] { return told >= waited; });
        was_told_too_often |= told != waited;
      }
    }
    REQUIRE_FALSE(was_told_too_often);
    REQUIRE(told == waited);
    REQUIRE(c.is_zero());
  }
}

TEST_CASE("on several threads one holder destroys a task, and its waiter is woken") {
  for (int round = 0; round != rounds(2000); ++round) {
    struct task {
      task_state<> state{true};
      int result = 0;  // not atomic: ordered by the state alone
    };
    auto* const t = new task;
    std::mutex lock;
    std::atomic<bool> woken = false;
    counter destroyed = 0;
    counter got = 0;
    auto const goes = [&](bool last) {
      if (!last) return;
      ++destroyed;
      delete t;
    };
    {
      std::jthread const ends([&] {
        t->result = 7;
        after said = t->state.end();
        if (said == after::waited_for) {
          std::lock_guard const locked(lock);
          woken = true;
          said = t->state.end_at_last();
        }
        goes(said == after::unreferenced);
      });
      std::jthread const has_it([&] {
        if (!t->state.has_ended()) {
          bool waits = false;
          {
            std::lock_guard const locked(lock);
            waits = t->state.announce_wait();
          }
          if (waits) {
            until([&] { return woken.load(); });
            until([&] { return t->state.has_ended(); });
          }
        }
        got = t->result;
        goes(t->state.drop_handle());
      });
      std::jthread const scope([&] {
        until([&] { return t->state.has_ended(); });
        goes(t->state.let_go());
      });
    }
    REQUIRE(destroyed == 1);
    REQUIRE(got == 7);
  }
}
