// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/join_table.hpp"

#include "tests/prelude.hpp"
#include "tests/support/parts.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/tasks/detail/task.hpp"

using weft::detail::task_waiter;

TEST_CASE("a waiter that has moved before it waits stays if it did before") {
  task_waiter stays(true);
  task_waiter goes(false);
  CHECK(task_waiter(std::move(stays)).stays());
  CHECK_FALSE(task_waiter(std::move(goes)).stays());
  CHECK(task_waiter().stays());
}

using weft::detail::join_table;

/// The waits for tasks of a scheduler, without the scheduler.
struct joins_alone {
  explicit joins_alone(bool several_threads = false) noexcept : table(ready, several_threads) {}
  keeping<> ready;
  join_table table;
};
/// A process that is about to wait for tasks.
struct owner {
  explicit owner(bool stays = false) : here(stays) { hold(); }
  owner(owner const&) = delete;
  owner& operator=(owner const&) = delete;
  void hold() noexcept {
    is.get()->keep();
    here.parked.hold(*is.get());
  }
  /// Another party takes the process, such as its alarm; or it does not wait.
  bool goes_on() {
    process* const p = here.parked.take();
    (void)thunk(p);
    return p != nullptr;
  }
  thunk is = suspended_process();
  task_waiter here;
};

/// The processes that the table lists, sorted.
std::vector<process const*> waiting(joins_alone const& s) {
  std::vector<process const*> all;
  s.table.for_each_waiter([&all](process const& p) { all.push_back(&p); });
  std::ranges::sort(all);
  return all;
}
template <class... Owners>
std::vector<process const*> listed(Owners const&... of) {
  std::vector<process const*> all{of.is.get()...};
  std::ranges::sort(all);
  return all;
}

// ---- waiting for something else than tasks

TEST_CASE("a process that has entered waits until it leaves, whatever ends") {
  every_frame_dies const check;
  bool const several_threads = GENERATE(false, true);
  joins_alone s(several_threads);
  owner o(true);
  owner other(true);
  CHECK_FALSE(s.table.has_waiters());
  s.table.enter(o.here);
  s.table.enter(other.here);
  CHECK(s.table.has_waiters());
  CHECK(waiting(s) == listed(o, other));
  auto const place = o.is.get()->current_wait_place();
  CHECK(place == (several_threads ? process::wait_place::none : process::wait_place::task_end));
  {
    thunk const t(s.table.leave(o.here));
    CHECK(t.get() == o.is.get());
  }
  CHECK(waiting(s) == listed(other));
  // A waiter that is on no list leaves with its process, if no other party has it.
  CHECK(s.table.leave(o.here) == nullptr);
  o.hold();
  CHECK(thunk(s.table.leave(o.here)).get() == o.is.get());
  CHECK(other.goes_on());
  CHECK(waiting(s).empty());
  CHECK(s.table.has_waiters());
  CHECK(s.table.leave(other.here) == nullptr);
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE("a waiter without a process may stand on the list, and is not listed") {
  every_frame_dies const check;
  joins_alone s;
  task_waiter w(true);
  s.table.enter(w);
  CHECK(s.table.has_waiters());
  CHECK(waiting(s).empty());
  CHECK(s.table.leave(w) == nullptr);
  CHECK_FALSE(s.table.has_waiters());
}

using weft::detail::wait_entry;
using weft::detail::waitable_task;

/// The waiters that the end of a task, or a canceller, has put, in order.
struct put_waiters {
  std::vector<task_waiter*> all;
  std::vector<process*> processes;
  auto put() {
    return [this](task_waiter& w, process* p) {
      all.push_back(&w);
      processes.push_back(p);
      (void)thunk(p);
    };
  }
};
bool waits(joins_alone& s, owner& o, waitable_task& first) {
  return s.table.enter(o.here, &first, none_refused) == wait_entry::waits;
}

// ---- waiting for tasks

TEST_CASE("a process that waits for a task goes on when the task has ended, and not before") {
  every_frame_dies const check;
  bool const several_threads = GENERATE(false, true);
  joins_alone s(several_threads);
  waitable_task t(true);
  owner o;
  CHECK(waits(s, o, t));
  CHECK(waiting(s) == listed(o));
  auto const place = o.is.get()->current_wait_place();
  CHECK(place == (several_threads ? process::wait_place::none : process::wait_place::task));
  if (!several_threads) CHECK(o.is.get()->wait_object() == &o.here);
  put_waiters put;
  auto const puts = put.put();
  bool const is_unreferenced = s.table.ends(t, [&](task_waiter& w, process* p) {
    CHECK(t.has_ended());                // JOIN-3
    CHECK_FALSE(s.table.has_waiters());  // the lock is free, the waiter off the list
    puts(w, p);
  });
  CHECK_FALSE(is_unreferenced);  // the handle and the scope have it
  CHECK(put.all == std::vector{&o.here});
  CHECK(put.processes == std::vector{o.is.get()});
  CHECK(t.has_ended());
  CHECK(s.ready.take().empty());
}

TEST_CASE("a task that no process waits for ends without a put") {
  joins_alone s;
  put_waiters put;
  waitable_task t(true);
  CHECK_FALSE(s.table.ends(t, put.put()));
  CHECK(t.has_ended());
  CHECK(put.all.empty());
}

TEST_CASE("the end of a task says whether its handle and its scope have let go of it") {
  every_frame_dies const check;
  joins_alone s;
  bool const is_waited_for = GENERATE(false, true);
  bool const in_a_scope = GENERATE(false, true);
  waitable_task t(in_a_scope);
  owner o;
  put_waiters put;
  if (is_waited_for) CHECK(waits(s, o, t));
  if (in_a_scope) CHECK_FALSE(t.state.let_go());
  CHECK_FALSE(t.state.drop_handle());
  CHECK(s.table.ends(t, put.put()));
  CHECK(put.all.size() == (is_waited_for ? 1 : 0));
  o.goes_on();
}

/// The tasks of a handle, linked in order.
template <std::size_t N>
struct linked_tasks {
  linked_tasks() {
    for (std::size_t i = 0; i != N; ++i) {
      all.emplace_back(true);
      if (i != 0) all[i - 1].next = &all[i];
    }
  }
  waitable_task& operator[](std::size_t i) { return all[i]; }
  std::deque<waitable_task> all;
};

TEST_CASE("a process does not wait for tasks that have ended") {
  every_frame_dies const check;
  joins_alone s;
  linked_tasks<3> h;
  owner o;
  put_waiters put;
  for (std::size_t i = 0; i != 3; ++i) (void)s.table.ends(h[i], put.put());
  CHECK(s.table.enter(o.here, &h[0], none_refused) == wait_entry::answered);
  CHECK_FALSE(s.table.enter_for_one(o.here, h[1]));
  CHECK_FALSE(s.table.has_waiters());
  CHECK(put.all.empty());
  CHECK(o.goes_on());
}

TEST_CASE("a process that is to end is refused, and no task has a waiter by that") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  owner o;
  CHECK(s.table.enter(o.here, &t, only(o.is)) == wait_entry::refused);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(t.first_here == nullptr);
  CHECK(t.state.end() == weft::detail::task_state<>::after::nothing);
  CHECK(o.goes_on());
}

TEST_CASE("a process that waits for several tasks goes on when all have ended, in any order") {
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    every_frame_dies const check;
    joins_alone s;
    linked_tasks<3> h;
    owner o;
    put_waiters put;
    CHECK(waits(s, o, h[0]));
    for (std::size_t i = 0; i != 3; ++i) {
      CHECK(put.all.empty());
      // JOIN-2: the process stands at the first task that has not ended.
      std::size_t first = 0;
      while (h[first].has_ended()) ++first;
      for (std::size_t k = 0; k != 3; ++k) CHECK((h[k].first_here == &o.here) == (k == first));
      CHECK_FALSE(s.table.ends(h[order[i]], put.put()));
    }
    CHECK(put.processes == std::vector{o.is.get()});
    CHECK_FALSE(s.table.has_waiters());
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("a process that waits for one task goes on when it has ended, whatever comes behind it") {
  every_frame_dies const check;
  joins_alone s;
  linked_tasks<2> h;
  owner of_one;
  owner of_all;
  put_waiters put;
  CHECK(s.table.enter_for_one(of_one.here, h[0]));
  CHECK(waits(s, of_all, h[0]));
  CHECK_FALSE(s.table.ends(h[0], put.put()));
  CHECK(put.processes == std::vector{of_one.is.get()});
  CHECK(h[0].first_here == nullptr);
  CHECK_FALSE(s.table.ends(h[1], put.put()));
  CHECK(put.processes == std::vector{of_one.is.get(), of_all.is.get()});
}

TEST_CASE("all processes that wait for a task go on when it ends") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  std::array<owner, 3> all;
  put_waiters put;
  for (auto& o : all) CHECK(waits(s, o, t));
  CHECK(waiting(s) == listed(all[0], all[1], all[2]));
  CHECK(all[1].goes_on());  // taken by another party
  CHECK(waiting(s) == listed(all[0], all[2]));
  CHECK_FALSE(s.table.ends(t, put.put()));
  std::ranges::sort(put.processes);
  std::vector<process*> expected{all[0].is.get(), all[2].is.get()};
  std::ranges::sort(expected);
  CHECK(put.processes == expected);
  CHECK_FALSE(s.table.has_waiters());
}

using weft::detail::task_group;

/// A group of tasks that nothing is started in.
struct group : task_group {
  group() noexcept : task_group(true) {}
};

TEST_CASE("the party that is unwound when a task ends is told, although it has no process there") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  group g;
  task_waiter w(true);
  w.leaves = &g;
  put_waiters put;
  CHECK(s.table.enter_for_one(w, t));
  CHECK_FALSE(s.table.ends(t, put.put()));
  CHECK(put.all == std::vector{&w});
  CHECK(put.processes == std::vector<process*>{nullptr});
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE("a waiter that is put may wait again at once, and end") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task first(true);
  waitable_task second(true);
  std::optional<owner> a(std::in_place);
  owner b;
  put_waiters put;
  CHECK(waits(s, *a, first));
  CHECK(waits(s, b, first));
  CHECK_FALSE(s.table.ends(first, [&](task_waiter& w, process* p) {
    if (&w == &b.here) {
      w.parked.hold(*p);
      CHECK(s.table.enter(w, &second, none_refused) == wait_entry::waits);
    } else {
      (void)thunk(p);
      a.reset();
    }
  }));
  CHECK_FALSE(a.has_value());
  CHECK(waiting(s) == listed(b));
  CHECK_FALSE(s.table.ends(second, put.put()));
  CHECK(put.processes == std::vector{b.is.get()});
}

// ---- taking

TEST_CASE("a waiter that is taken leaves its task, which others wait for still") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  std::array<owner, 4> all;
  put_waiters put;
  for (auto& o : all) CHECK(waits(s, o, t));
  // From the middle, the end and the front.
  for (std::size_t const i : {1U, 3U, 0U}) {
    thunk const taken_one(s.table.take(all[i].here));
    CHECK(taken_one.get() == all[i].is.get());
  }
  CHECK(waiting(s) == listed(all[2]));
  CHECK_FALSE(s.table.ends(t, put.put()));
  CHECK(put.processes == std::vector{all[2].is.get()});
  // A waiter that another party has taken is left to leave by itself.
  waitable_task other(true);
  owner o;
  CHECK(waits(s, o, other));
  CHECK(o.goes_on());
  CHECK(s.table.take(o.here) == nullptr);
  CHECK(s.table.has_waiters());
  CHECK(s.table.leave(o.here) == nullptr);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(other.first_here == nullptr);
}

TEST_CASE("the processes that are meant and need not stay are put, and the others wait on") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  std::array<owner, 4> all;
  owner stays(true);
  for (auto& o : all) CHECK(waits(s, o, t));
  s.table.enter(stays.here);
  CHECK(all[3].goes_on());
  put_waiters put;
  auto const is_meant = [&](process const& p) noexcept { return &p != all[1].is.get(); };
  auto const puts = put.put();
  s.table.take_if(is_meant, [&](task_waiter& w, process* p) {
    CHECK(s.table.has_waiters());  // the lock is free
    puts(w, p);
  });
  std::ranges::sort(put.processes);
  std::vector<process*> expected{all[0].is.get(), all[2].is.get()};
  std::ranges::sort(expected);
  CHECK(put.processes == expected);
  CHECK(waiting(s) == listed(all[1], stays));
  put.processes.clear();
  CHECK_FALSE(s.table.ends(t, put.put()));
  CHECK(put.processes == std::vector{all[1].is.get()});
  CHECK(thunk(s.table.leave(stays.here)).get() == stays.is.get());
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE("the groups of the processes that stay and are meant are marked, and nothing is taken") {
  every_frame_dies const check;
  joins_alone s;
  group of_first, of_second, of_third;
  std::array<owner, 4> all{owner(true), owner(true), owner(true), owner(true)};
  all[0].here.of = &of_first;
  all[1].here.of = &of_second;
  all[2].here.of = &of_third;
  // The last one waits for no group.
  for (auto& o : all) s.table.enter(o.here);
  std::vector<task_group*> marked;
  auto const mark = [&marked](task_group& g) {
    marked.push_back(&g);
    return true;
  };
  auto const is_meant = [&](process const& p) noexcept { return &p != all[1].is.get(); };
  CHECK(s.table.mark_groups_if(is_meant, mark));
  std::ranges::sort(marked);
  std::vector<task_group*> expected{&of_first, &of_third};
  std::ranges::sort(expected);
  CHECK(marked == expected);
  // The answer says whether a mark was new, not whether a process was meant.
  CHECK_FALSE(s.table.mark_groups_if(is_meant, [](task_group&) { return false; }));
  CHECK_FALSE(s.table.mark_groups_if(none_refused, mark));
  CHECK(waiting(s) == listed(all[0], all[1], all[2], all[3]));
  for (auto& o : all) CHECK(thunk(s.table.leave(o.here)).get() == o.is.get());
}

// ---- waiters that end

TEST_CASE("a waiter that ends while its process waits leaves its task, and the process is ready") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  auto cut_off = std::make_unique<owner>();
  owner other;
  thunk const is = cut_off->is;
  CHECK(waits(s, *cut_off, t));
  CHECK(waits(s, other, t));
  cut_off.reset();
  {
    auto const ready = s.ready.take();
    REQUIRE(ready.size() == 1);
    CHECK(ready[0].what.get() == is.get());
    CHECK(ready[0].what.answer() == 0);
    CHECK_FALSE(ready[0].from_outside);
  }
  CHECK(waiting(s) == listed(other));
  put_waiters put;
  CHECK_FALSE(s.table.ends(t, put.put()));
  CHECK(put.processes == std::vector{other.is.get()});
}

TEST_CASE("a waiter that ends after its process was taken leaves its task, and nothing is put") {
  every_frame_dies const check;
  joins_alone s;
  waitable_task t(true);
  {
    owner o;
    CHECK(waits(s, o, t));
    CHECK(o.goes_on());
  }
  CHECK_FALSE(s.table.has_waiters());
  CHECK(t.first_here == nullptr);
  CHECK(s.ready.take().empty());
  // The task ends as one that was waited for.
  put_waiters put;
  CHECK_FALSE(s.table.ends(t, put.put()));
  CHECK(t.has_ended());
  CHECK(put.all.empty());
}

TEST_CASE("an explorer sees the end of a task as a write, and each question for it as a read") {
  every_frame_dies const check;
  joins_alone s;
  linked_tasks<2> h;
  owner o;
  put_waiters put;
  accesses seen;
  using all = std::vector<accesses::access>;
  CHECK(waits(s, o, h[0]));
  CHECK(seen.take() == all{{&h[0], false}});
  (void)s.table.ends(h[1], put.put());
  CHECK(seen.take() == all{{&h[1], true}});
  (void)s.table.ends(h[0], put.put());
  CHECK(seen.take() == all{{&h[0], true}, {&h[1], false}});
  CHECK(h[0].has_ended());
  CHECK(seen.take() == all{{&h[0], false}});
}

// ---- threads

TEST_CASE(
    "with several threads each process goes on once, when all its tasks have ended or before") {
  constexpr std::size_t tasks = 3;
  constexpr std::size_t owners = 2;
  for (int round = 0; round != rounds(2'000); ++round) {
    every_frame_dies const check;
    joins_alone s(true);
    linked_tasks<tasks> h;
    counter come = 0, ended = 0, put = 0, refused = 0, taken = 0, early = 0, unreferenced = 0;
    std::array<std::atomic<bool>, owners> is_put{};
    std::array<std::unique_ptr<owner>, owners> all;
    std::array<process const*, owners> processes{};
    for (std::size_t i = 0; i != owners; ++i) {
      all[i] = std::make_unique<owner>();
      processes[i] = all[i]->is.get();
    }
    auto const puts = [&](task_waiter&, process* p) {
      auto const i = static_cast<std::size_t>(std::ranges::find(processes, p) - processes.begin());
      if (ended != static_cast<int>(tasks)) ++early;
      ++put;
      is_put[i] = true;  // from now on the waiter may end
      (void)thunk(p);
    };
    std::thread workers[2];
    for (std::size_t w = 0; w != 2; ++w)
      workers[w] = std::thread([&, w] {
        ++come;
        until([&] { return come == 4; });
        // The first worker ends the first task and the last one, the second worker the other one.
        for (std::size_t i = w; i < tasks; i += 2) {
          ++ended;
          if (s.table.ends(h[i], puts)) ++unreferenced;
        }
      });
    std::thread waiters[owners];
    for (std::size_t i = 0; i != owners; ++i)
      waiters[i] = std::thread([&, i] {
        ++come;
        until([&] { return come == 4; });
        owner& o = *all[i];
        if (s.table.enter(o.here, &h[0], none_refused) != wait_entry::waits) {
          ++refused;
          if (!o.goes_on()) ++early;
        } else if (i == 0) {
          until([&] { return is_put[i].load(); });
        } else if (thunk const t(s.table.take(o.here)); t) {
          ++taken;
        } else {
          until([&] { return is_put[i].load(); });
        }
        all[i].reset();
      });
    for (auto& t : workers) t.join();
    for (auto& t : waiters) t.join();
    CHECK(put + refused + taken == static_cast<int>(owners));
    CHECK(early == 0);
    CHECK(unreferenced == 0);
    CHECK_FALSE(s.table.has_waiters());
    CHECK(s.ready.take().empty());
  }
}
