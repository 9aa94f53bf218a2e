// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/incoming/admission.hpp"

#include "tests/prelude.hpp"
#include "tests/support/parts.hpp"

using weft::detail::admission;

/// The processes that wait for room, in order.
std::vector<process const*> waiting(admission const& a) {
  std::vector<process const*> all;
  a.for_each_waiter([&all](process const& p) { all.push_back(&p); });
  return all;
}

// ---- the limit

TEST_CASE("an admission without a limit has no waiters, and is not shut to threads outside") {
  admission room;
  room.limit(0, overflow_policy::wait);
  room.begin(7);
  CHECK_FALSE(room.is_limited());
  CHECK(room.most() == 0);
  room.close();
  CHECK_FALSE(room.is_shut_to_outside());
  CHECK_FALSE(room.has_waiters());
  CHECK(waiting(room).empty());
  CHECK(room.turn_away(every_process) == nullptr);
}

/// Room for `most` processes, of which so many are alive.
struct limited : admission {
  explicit limited(std::size_t most, std::size_t alive = 0,
                   overflow_policy when_full = overflow_policy::wait) {
    limit(most, when_full);
    begin(alive);
  }
};

TEST_CASE("the limit says what happens when it is reached") {
  limited const waits_then(3);
  CHECK(waits_then.is_limited());
  CHECK(waits_then.most() == 3);
  CHECK(waits_then.waits_when_full());
  limited const fails_then(4, 0, overflow_policy::fail);
  CHECK(fails_then.most() == 4);
  CHECK_FALSE(fails_then.waits_when_full());
}

TEST_CASE("as many processes are admitted as the limit says, and one more when one has ended") {
  limited room(3, 1);
  CHECK(room.try_enter());
  CHECK_FALSE(room.is_shut_to_outside());
  CHECK(room.try_enter());
  CHECK(room.is_shut_to_outside());
  CHECK_FALSE(room.try_enter());
  CHECK(room.leave() == nullptr);
  CHECK_FALSE(room.is_shut_to_outside());
  CHECK(room.try_enter());
  CHECK_FALSE(room.try_enter());
}

using entry = admission::outcome;

/// A process, and its place in the queue.
struct applicant {
  thunk is = suspended_process();
  admission::ticket place{*is.get()};
};

bool waits(admission& a, applicant& p) {
  return a.enter_or_wait(p.place, none_refused) == entry::waits;
}

TEST_CASE("a process that is counted anyway takes the room of another") {
  every_frame_dies const check;
  limited room(2, 2);
  room.enter_anyway();
  applicant late;
  CHECK(waits(room, late));
  CHECK(room.leave() == nullptr);  // now two are alive
  CHECK(room.next() == nullptr);
  CHECK(room.has_waiters());
  CHECK(room.leave() == &late.place);
}

// ---- processes that wait

TEST_CASE(
    "a process for which there is room does not wait, and is not asked whether it is to end") {
  every_frame_dies const check;
  limited room(1);
  applicant p;
  bool was_asked = false;
  auto const asks = [&was_asked](process const&) { return was_asked = true; };
  CHECK(room.enter_or_wait(p.place, asks) == entry::admitted);
  CHECK_FALSE(was_asked);
  CHECK_FALSE(room.has_waiters());
  CHECK_FALSE(room.try_enter());
}

TEST_CASE("a process that is to end is refused when there is no room, and does not wait") {
  every_frame_dies const check;
  limited room(1, 1);
  applicant p;
  applicant other;
  CHECK(room.enter_or_wait(p.place, only(p.is)) == entry::refused);
  CHECK_FALSE(room.has_waiters());
  CHECK(room.enter_or_wait(other.place, only(p.is)) == entry::waits);
  CHECK(waiting(room) == std::vector<process const*>{other.is.get()});
  CHECK(room.leave() == &other.place);
}

TEST_CASE("each process that ends admits the longest waiting one") {
  every_frame_dies const check;
  limited room(2, 2);
  std::array<applicant, 3> all;
  for (auto& p : all) CHECK(waits(room, p));
  CHECK(waiting(room) ==
        std::vector<process const*>{all[0].is.get(), all[1].is.get(), all[2].is.get()});
  for (auto& p : all) {
    CHECK(room.has_waiters());
    CHECK_FALSE(room.try_enter());
    CHECK(room.leave() == &p.place);
    CHECK(room.next() == nullptr);  // there is room for one only
  }
  CHECK_FALSE(room.has_waiters());
  CHECK(room.leave() == nullptr);
  CHECK(room.leave() == nullptr);
  // The queue is as at the beginning.
  CHECK(room.try_enter());
  CHECK(room.try_enter());
  all[1].place.next = nullptr;
  CHECK(waits(room, all[1]));
  CHECK(room.leave() == &all[1].place);
}

TEST_CASE("a ticket comes back with the process that its owner has made") {
  every_frame_dies const check;
  limited room(1, 1);
  applicant p;
  thunk const made = suspended_process();
  p.place.spawned = made.get();
  p.place.answer = 7;
  p.place.owner_goes_first = true;
  CHECK(waits(room, p));
  auto const* const t = room.leave();
  REQUIRE(t == &p.place);
  CHECK(t->owner == p.is.get());
  CHECK(t->spawned == made.get());
  CHECK(t->answer == 7);
  CHECK(t->owner_goes_first);
}

/// The processes of a list of tickets.
std::vector<process const*> owners(admission::ticket const* t) {
  std::vector<process const*> all;
  for (; t; t = t->next) all.push_back(t->owner);
  return all;
}

TEST_CASE("processes that are turned away leave the queue in order, and the others stay in order") {
  // Of four processes every subset is turned away.
  for (unsigned subset = 0; subset != 16; ++subset) {
    CAPTURE(subset);
    every_frame_dies const check;
    limited room(1, 1);
    std::array<applicant, 4> all;
    std::vector<process const*> gone;
    std::vector<process const*> left;
    for (unsigned i = 0; i != 4; ++i) {
      REQUIRE(waits(room, all[i]));
      (subset >> i & 1 ? gone : left).push_back(all[i].is.get());
    }
    auto const is_meant = [&gone](process const& p) {
      return std::ranges::find(gone, &p) != gone.end();
    };
    CHECK(owners(room.turn_away(is_meant)) == gone);
    CHECK(waiting(room) == left);
    // A process that comes later stands at the end.
    applicant late;
    REQUIRE(waits(room, late));
    left.push_back(late.is.get());
    CHECK(waiting(room) == left);
    for (auto const* const p : left) {
      auto const* const t = room.leave();
      REQUIRE(t);
      CHECK(t->owner == p);
    }
    CHECK(room.leave() == nullptr);
  }
}

// ---- threads outside

TEST_CASE("a thread outside puts its process at once if there is room") {
  limited room(1);
  int puts = 0;
  room.enter_from_outside(false, [&puts] { ++puts; });
  CHECK(puts == 1);
  CHECK(room.is_shut_to_outside());
  CHECK_FALSE(room.try_enter());
}

TEST_CASE("a put that throws gives its room back") {
  limited room(1);
  CHECK_THROWS_AS(room.enter_from_outside(true, [] { throw std::runtime_error("put"); }),
                  std::runtime_error);
  CHECK_FALSE(room.is_shut_to_outside());
  CHECK(room.try_enter());
}

TEST_CASE("a thread outside that may not wait, or need not, is told that there is no room") {
  int puts = 0;
  auto const put = [&puts] { ++puts; };
  SECTION("as the limit says that this fails") {
    limited room(2, 2, overflow_policy::fail);
    CHECK_THROWS_AS(room.enter_from_outside(true, put), too_many_processes);
    CHECK_THROWS_WITH(room.enter_from_outside(true, put),
                      "weft: submit: there are as many processes as .max_processes allows, 2");
  }
  SECTION("as its thread would stand still") {
    limited room(2, 2);
    CHECK_THROWS_AS(room.enter_from_outside(false, put), too_many_processes);
    CHECK_THROWS_WITH(room.enter_from_outside(false, put),
                      "weft: submit, by a process of the same scheduler, whose thread would be "
                      "blocked: there are as many processes as .max_processes allows, 2");
    CHECK_FALSE(room.has_waiters());
    CHECK(room.leave() == nullptr);
    room.enter_from_outside(false, put);
    CHECK(puts == 1);
    return;
  }
  CHECK(puts == 0);
}

TEST_CASE("after the admission is closed no thread outside is admitted, and processes are") {
  every_frame_dies const check;
  limited room(2, 1);
  applicant before;
  applicant after;
  int puts = 0;
  CHECK(room.enter_or_wait(before.place, none_refused) == entry::admitted);
  CHECK(waits(room, before));
  room.close();
  CHECK(waits(room, after));
  CHECK_THROWS_AS(room.enter_from_outside(true, [&puts] { ++puts; }), scheduler_stopped);
  CHECK(room.leave() == &before.place);
  CHECK(room.leave() == &after.place);
  CHECK(room.leave() == nullptr);
  CHECK_THROWS_AS(room.enter_from_outside(true, [&puts] { ++puts; }), scheduler_stopped);
  CHECK(puts == 0);
  CHECK(room.try_enter());
}

/// Two processes that end in turn: before one ends, the other waits for its room.  So there is
/// never any room to be seen, and a thread outside is admitted only if it sleeps in the queue.
class taking_turns {
 public:
  explicit taking_turns(admission& a) : room_(a) { enqueue(*first_); }
  /// A process ends.  Whether a thread outside was admitted in its place; then both processes wait,
  /// and no further process ends.
  bool one_ends() {
    enqueue(*second_);
    auto* const t = room_.leave();
    if (!t) return true;
    if (t != &first_->place) ++wrong_;
    std::swap(first_, second_);
    return false;
  }
  [[nodiscard]] applicant& first() noexcept { return *first_; }
  [[nodiscard]] applicant& second() noexcept { return *second_; }
  /// The number of tickets that came before the longest waiting one.
  [[nodiscard]] int wrong() const noexcept { return wrong_; }

 private:
  void enqueue(applicant& p) {
    p.place.next = nullptr;
    if (!waits(room_, p)) ++wrong_;
  }

  admission& room_;
  applicant one_;
  applicant other_;
  applicant* first_ = &one_;
  applicant* second_ = &other_;
  int wrong_ = 0;
};

TEST_CASE("a thread outside sleeps until a process has ended, and its process is put by then") {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    limited room(1, 1);
    int puts = 0;  // under the lock
    std::thread outside([&] { room.enter_from_outside(true, [&puts] { ++puts; }); });
    {
      taking_turns processes(room);
      until([&] { return processes.one_ends(); });
      CHECK(processes.wrong() == 0);
      // ADMIT-3: until the put the admission is open, although as many are alive as may be.
      until([&] { return room.is_shut_to_outside(); });
      CHECK(puts == 1);
      CHECK(owners(room.turn_away(every_process)).size() == 2);
    }
    outside.join();
    CHECK(puts == 1);
    CHECK(room.leave() == nullptr);
    CHECK(room.try_enter());
  }
}

TEST_CASE("a put that throws after its thread has slept leaves room for the next in the queue") {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    limited room(1, 1);
    bool has_thrown = false;
    std::thread outside([&] {
      try {
        room.enter_from_outside(true, [] { throw std::runtime_error("put"); });
      } catch (std::runtime_error const&) {
        has_thrown = true;
      }
    });
    taking_turns processes(room);
    until([&] { return processes.one_ends(); });
    outside.join();
    CHECK(has_thrown);
    CHECK_FALSE(room.is_shut_to_outside());
    CHECK_FALSE(room.try_enter());  // ADMIT-1: others wait
    CHECK(room.next() == &processes.first().place);
    CHECK(room.is_shut_to_outside());
    CHECK(room.next() == nullptr);
    CHECK(room.leave() == &processes.second().place);
    CHECK(room.leave() == nullptr);
    CHECK(processes.wrong() == 0);
  }
}

TEST_CASE("closing turns away the threads that sleep, and processes between them stay in order") {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    constexpr int threads = 3;
    limited room(1, 1);
    counter come = 0, puts = 0, turned_away = 0;
    std::deque<applicant> all;
    std::vector<std::thread> outside;
    for (int i = 0; i != threads; ++i) {
      outside.emplace_back([&] {
        ++come;
        try {
          room.enter_from_outside(true, [&puts] { ++puts; });
        } catch (scheduler_stopped const&) {
          ++turned_away;
        }
      });
      // Most of the threads sleep by then; the result is the same if some do not.
      until([&] { return come == i + 1; });
      for (int n = 0; n != 20; ++n) std::this_thread::yield();
      if (round % 2 == 0 || i != threads - 1) {
        REQUIRE(waits(room, all.emplace_back()));
      }
    }
    room.close();
    for (auto& t : outside) t.join();
    CHECK(turned_away == threads);
    CHECK(puts == 0);
    REQUIRE(waits(room, all.emplace_back()));
    for (auto& p : all) CHECK(room.leave() == &p.place);
    CHECK(room.leave() == nullptr);
  }
}

TEST_CASE("with several threads no more processes are alive than the limit says, and each runs") {
  every_frame_dies const check;
  constexpr int outside = 2;
  constexpr int workers = 2;
  constexpr int most = 3;
  int const each = rounds(4'000);
  limited room(most);
  counter alive = 0, too_many = 0, ended = 0, wrong = 0;
  counter from_inside = 0;

  // The ready processes: of each, how many more it spawns.
  std::mutex mutex;
  std::deque<int> ready;
  auto const put = [&](int spawns) {
    if (++alive > most) ++too_many;
    std::lock_guard const lock(mutex);
    ready.push_back(spawns);
  };
  auto const take = [&](int& spawns) {
    std::lock_guard const lock(mutex);
    if (ready.empty()) return false;
    spawns = ready.front();
    ready.pop_front();
    return true;
  };
  // A spawner that has waited goes on with its child; here the child alone does.
  auto const admit = [&](admission::ticket* t) {
    for (; t; t = room.next()) put(static_cast<int>(t->answer));
  };

  std::vector<std::thread> all;
  counter left = outside * each;
  std::array<std::deque<applicant>, workers> spawners;
  for (int i = 0; i != outside; ++i)
    all.emplace_back([&, i] {
      dice random(static_cast<unsigned>(i));
      for (int n = 0; n != each; ++n) {
        int const spawns = static_cast<int>(random(3));
        try {
          room.enter_from_outside(true, [&] {
            put(spawns);
            --left;
          });
        } catch (...) {
          ++wrong;
        }
      }
    });
  for (int i = 0; i != workers; ++i)
    all.emplace_back([&, i] {
      for (int spawns = 0; left != 0 || alive != 0;) {
        if (!take(spawns)) {
          std::this_thread::yield();
          continue;
        }
        // The process spawns one that spawns one less, and ends.
        if (spawns != 0) {
          ++from_inside;
          auto& s = spawners[static_cast<std::size_t>(i)].emplace_back();
          s.place.answer = static_cast<std::uint64_t>(spawns - 1);
          if (room.enter_or_wait(s.place, none_refused) == entry::admitted) put(spawns - 1);
        }
        ++ended;
        --alive;
        admit(room.leave());
      }
    });
  for (auto& t : all) t.join();
  CHECK(too_many == 0);
  CHECK(wrong == 0);
  CHECK(ended == outside * each + from_inside);
  CHECK_FALSE(room.has_waiters());
  CHECK_FALSE(room.is_shut_to_outside());
  for (int i = 0; i != most; ++i) CHECK(room.try_enter());
  CHECK_FALSE(room.try_enter());
}
