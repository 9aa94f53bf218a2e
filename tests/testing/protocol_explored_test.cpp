// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/protocol_idle.hpp"
#include "tests/support/protocol_parking.hpp"
#include "tests/support/protocol_queue.hpp"
#include "tests/support/protocol_steal.hpp"

/// The protocol of a work-sharing scheduler in every schedule; and, with each error of the
/// pseudo-code of appendix A put in, a schedule in which it goes wrong.

using namespace weft::tests::protocol;
using threads = eff<void, spawning<proc, syncing>>;

template <class State, class Defects>
auto with(Defects d) {
  return [d] { return State(d); };
}

/// The program is right in each of its `schedules` schedules.
template <class State, class Defects>
void is_right(threads (*program)(State&), void (*check)(State const&), Defects d,
              std::size_t schedules) {
  weft::tests::every_frame_dies const here;
  auto const found = explore(with<State>(d), program, check);
  INFO(found.report());
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.schedules == schedules);
}

// ---- a process is woken while its worker lets go of it, and a worker sleeps until one is ready

TEST_CASE("a process woken at any moment of its wait is put once, and a sleeping worker is told") {
  is_right(wakes_and_parks, ran_once, parking_defects(), 657);
}

// ---- a process is handed off while other threads take it

/// A queue with two entries and an empty one.  The sender runs, and sends to one of the two
/// entries.
struct two_queued {
  explicit two_queued(defects put_in) : d(put_in) {
    for (entry* const e : {&first, &second}) e->owner = &q;
    first.next = &second;
    second.previous = &first;
    q.head = &first;
    q.tail = &second;
  }
  defects d;
  queue q;
  queue other;
  entry first{status::queued};
  entry second{status::queued};
  entry sender{status::running};
};

does<> takes_all(two_queued& w) {
  for (;;) {
    entry* const e = co_await dequeue(w.d, w.q);
    if (!e) co_return;
    run(*e);
    co_await proc::yield{};
  }
}
does<> takes_one(two_queued& w) {
  entry* const e = co_await dequeue(w.d, w.q);
  if (e) run(*e);
}
/// Takes the target if it can.
does<bool> takes(two_queued& w, entry& target) {
  bool const slept = co_await change(w.d, target, status::sleeping, status::running);
  if (slept) co_return true;
  co_await proc::yield{};
  queue* const owner = target.owner;
  if (!owner) co_return false;
  co_await proc::yield{};
  bool const taken = co_await dequeue_entry(w.d, *owner, target);
  co_return taken;
}
/// Then the target runs in place of the sender, which is queued.
does<> hands_off(two_queued& w, entry& target) {
  bool const mine = co_await takes(w, target);
  co_await settle(w.sender, status::running, status::queued);
  co_await proc::yield{};
  co_await enqueue(w.q, w.sender);
  if (mine) run(target);
}

using target = entry two_queued::*;
template <target Target>
threads taken_and_handed_off(two_queued& w) {
  co_await spawn(takes_all, std::ref(w));
  co_await spawn(hands_off, std::ref(w), std::ref(w.*Target));
}
template <target Target>
threads taken_by_two_and_handed_off(two_queued& w) {
  co_await spawn(takes_one, std::ref(w));
  co_await spawn(takes_one, std::ref(w));
  co_await spawn(hands_off, std::ref(w), std::ref(w.*Target));
}

void each_ran_or_is_queued(two_queued const& w) {
  for (entry const* const e : {&w.first, &w.second, &w.sender})
    if (e->runs + places_of(*e, w.q) + places_of(*e, w.other) != 1)
      throw goes_wrong("a process is lost");
}

// Targets of the sender; the first is the head of the queue.
constexpr auto head = &two_queued::first;
constexpr auto tail = &two_queued::second;

/// Threads with a queue each; the first is busy until the processes that it has published have run.
struct working_threads {
  explicit working_threads(idle_defects put_in) : d(put_in) {}
  idle_defects d;
  struct one : idler {
    int queued = 0;  // processes in its queue
  };
  std::vector<std::unique_ptr<one>> all;
  idle_list idle;
  int to_run = 0;
  gate all_ran;
  bool over = false;
  bool ends_when_all_are_idle = false;

  [[nodiscard]] bool is_quiescent() const {
    return std::ranges::all_of(all, [](auto const& t) { return t->listed && t->queued == 0; });
  }
};

/// Searches the threads, beginning with `me`, for the first with a non-empty queue.  An empty queue
/// of the thread itself stays empty: only the thread itself adds to it (PROTOCOL-4).
does<working_threads::one*> finds(working_threads& w, std::size_t me, std::size_t most) {
  for (std::size_t i = 0; i != most; ++i) {
    if (i > 1) co_await proc::yield{};
    auto& t = *w.all[(me + i) % w.all.size()];
    if (t.queued != 0) co_return &t;
  }
  co_return nullptr;
}
/// Runs processes until it finds no more.
does<> takes(working_threads& w, std::size_t me) {
  for (;;) {
    auto* const t = co_await finds(w, me, w.all.size());
    if (!t) co_return;
    --t->queued;
    co_await proc::yield{};
    if (--w.to_run == 0) co_await syncing::wake{w.all_ran};
  }
}

TEST_CASE("a process that is handed off while other threads dequeue runs once, in every schedule") {
  is_right(taken_and_handed_off<head>, each_ran_or_is_queued, defects(), 2'249);
  is_right(taken_and_handed_off<tail>, each_ran_or_is_queued, defects(), 1'790);
  is_right(taken_by_two_and_handed_off<head>, each_ran_or_is_queued, defects(), 14'902);
  is_right(taken_by_two_and_handed_off<tail>, each_ran_or_is_queued, defects(), 17'132);
}

/// Then the sender goes on after the target has run.
does<> takes_and_runs(two_queued& w, entry& target) {
  bool const mine = co_await takes(w, target);
  if (mine) run(target);
  run(w.sender);
}

/// Moves the first entry to another thread's queue, and then takes it from there.
does<> steals(two_queued& w) {
  co_await move_first(w.d, w.q, w.other);
  co_await proc::yield{};
  entry* const e = co_await dequeue(w.d, w.other);
  if (e) run(*e);
}
template <target Target>
threads stolen_and_taken(two_queued& w) {
  co_await spawn(steals, std::ref(w));
  co_await spawn(takes_and_runs, std::ref(w), std::ref(w.*Target));
}

TEST_CASE("a process that is handed off while it moves between queues runs once") {
  is_right(stolen_and_taken<head>, each_ran_or_is_queued, defects(), 1'348);
  is_right(stolen_and_taken<tail>, each_ran_or_is_queued, defects(), 20'465);
}

/// The program goes wrong as `how` says in some schedule, and again when that one is followed.
template <class State, class Defects>
void goes_wrong_by(threads (*program)(State&), void (*check)(State const&), Defects d,
                   std::string const& how) {
  weft::tests::every_frame_dies const here;
  auto const found = explore({.max_schedules = 20'000}, with<State>(d), program, check);
  CHECK_FALSE(found.nondeterminism);
  exploration::outcome const* wrong = nullptr;
  for (auto const& o : found.outcomes)
    if (o.result.text.starts_with(how)) wrong = &o;
  INFO(found.report());
  REQUIRE(wrong);
  CHECK(wrong->result.verdict != verdict::ok);

  auto const again = follow(wrong->path.text(), with<State>(d), program, check);
  CHECK_FALSE(again.nondeterminism);
  REQUIRE(again.outcomes.size() == 1);
  CHECK(again.outcomes[0].result == wrong->result);
  CHECK(again.outcomes[0].path == wrong->path);
}

TEST_CASE("a process whose owner is not cleared while it moves between queues breaks the queue") {
  defects d;
  d.owner_kept = true;
  goes_wrong_by(stolen_and_taken<head>, each_ran_or_is_queued, d, "null is followed");
}

TEST_CASE("D1: with the test of ChangeState inverted, a process runs twice") {
  defects d;
  d.test_inverted = true;
  goes_wrong_by(taken_and_handed_off<head>, each_ran_or_is_queued, d, "a process runs twice");
  goes_wrong_by(taken_and_handed_off<tail>, each_ran_or_is_queued, d, "a process runs and is not");
}

TEST_CASE("D2: a head that is put back runs twice, or is in a queue without a tail") {
  defects d;
  d.head_put_back = true;
  goes_wrong_by(taken_and_handed_off<head>, each_ran_or_is_queued, d, "a process runs twice");
  goes_wrong_by(taken_and_handed_off<tail>, each_ran_or_is_queued, d, "null is followed");
}

TEST_CASE("D3: if the head is changed in place of the target, the target runs and is queued") {
  defects d;
  d.head_is_changed = true;
  goes_wrong_by(taken_and_handed_off<tail>, each_ran_or_is_queued, d,
                "a process runs and is not Running");
}

// ---- a process goes to sleep while others send to it

struct going_to_sleep {
  explicit going_to_sleep(defects put_in) : d(put_in) {}
  defects d;
  queue q;
  entry receiver{status::running};
};

does<> receives(going_to_sleep& w) {
  entry& me = w.receiver;
  co_await settle(me, status::running, status::yielding);
  co_await proc::yield{};
  bool const nothing = me.messages == 0;
  co_await proc::yield{};
  co_await settle(me, status::yielding, nothing ? status::sleeping : status::queued);
  if (nothing) co_return;
  co_await proc::yield{};
  co_await enqueue(w.q, me);
}
does<> sends(going_to_sleep& w) {
  ++w.receiver.messages;
  co_await proc::yield{};
  bool const woken = co_await change(w.d, w.receiver, status::sleeping, status::queued);
  if (!woken) co_return;
  co_await proc::yield{};
  co_await enqueue(w.q, w.receiver);
}
threads one_sender(going_to_sleep& w) {
  co_await spawn(receives, std::ref(w));
  co_await spawn(sends, std::ref(w));
}
threads two_senders(going_to_sleep& w) {
  co_await spawn(sends, std::ref(w));
  co_await one_sender(w);
}
void receiver_is_queued(going_to_sleep const& w) {
  if (places_of(w.receiver, w.q) != 1) throw goes_wrong("a message wakes nobody");
}

TEST_CASE("a process that goes to sleep while others send to it is queued once") {
  is_right(one_sender, receiver_is_queued, defects(), 28);
  is_right(two_senders, receiver_is_queued, defects(), 3'358);
}

TEST_CASE(
    "D1: a sender that does not wait for a Yielding receiver leaves it asleep with a message") {
  defects d;
  d.passes_yielding = true;
  goes_wrong_by(one_sender, receiver_is_queued, d, "a message wakes nobody");
}

TEST_CASE("D1: a sender that follows the pseudo-code changes the state of a running process") {
  defects d;
  d.passes_yielding = true;
  d.test_inverted = true;
  goes_wrong_by(one_sender, receiver_is_queued, d, "the state of a process that runs");
}

// ---- the list of idle threads

/// One of the two threads is idle.
struct an_idle_list {
  explicit an_idle_list(idle_defects put_in) : d(put_in) {
    list.top = &first;
    first.listed = true;
  }
  idle_defects d;
  idle_list list;
  idler first;
  idler second;
};

does<> pops(an_idle_list& w) { co_await pop(w.d, w.list); }
/// Then the popped thread is pushed again.
does<> pops_and_pushes(an_idle_list& w) {
  idler* const t = co_await pop(w.d, w.list);
  if (!t) co_return;
  co_await proc::yield{};
  co_await push(w.d, w.list, *t);
}
does<> pushes(an_idle_list& w) { co_await push(w.d, w.list, w.second); }

threads popped_by_two(an_idle_list& w) {
  co_await spawn(pops, std::ref(w));
  co_await spawn(pops_and_pushes, std::ref(w));
  co_await spawn(pushes, std::ref(w));
}
void each_is_where_it_says(an_idle_list const& w) {
  for (idler const* const t : {&w.first, &w.second})
    if (places_of(*t, w.list) != t->listed) throw goes_wrong("an idle thread is lost");
}

TEST_CASE("an idle thread is on the list until it is popped, in every schedule") {
  is_right(popped_by_two, each_is_where_it_says, idle_defects(), 11);
}

TEST_CASE("D7: a pop that reads and then swaps loses an idle thread pushed in between") {
  idle_defects d;
  d.no_lock = true;
  goes_wrong_by(popped_by_two, each_is_where_it_says, d, "an idle thread is lost");
}

// ---- threads become idle, and are woken

does<> wakes_one(working_threads& w) {
  idler* const t = co_await pop(w.d, w.idle);
  if (!t) co_return;
  co_await proc::yield{};
  co_await notify(*t);
}
does<> ends(working_threads& w) {
  w.over = true;
  for (auto const& t : w.all) co_await notify(*t);
}
does<> publishes(working_threads& w, int n) {
  w.to_run = n;
  for (int i = 0; i != n; ++i) {
    if (i != 0) co_await proc::yield{};
    if (w.d.publishes_late) {
      co_await wakes_one(w);
      co_await proc::yield{};
    }
    ++w.all[0]->queued;
    if (!w.d.publishes_late) {
      co_await proc::yield{};
      co_await wakes_one(w);
    }
  }
  while (w.to_run != 0) co_await syncing::wait{w.all_ran};
  co_await ends(w);
}

does<> works(working_threads& w, std::size_t me) {
  auto& t = *w.all[me];
  auto const most = w.d.looks_at_own ? 1 : w.all.size();
  for (;;) {
    co_await takes(w, me);
    co_await proc::yield{};
    t.notified = false;
    if (!w.d.announces_late) {
      co_await push(w.d, w.idle, t);
      if (w.ends_when_all_are_idle && w.is_quiescent())
        co_await ends(w);  // also under the list's lock
      co_await proc::yield{};
    }
    bool const sees_some = co_await finds(w, me, most);
    co_await proc::yield{};
    if (w.d.announces_late) {
      co_await push(w.d, w.idle, t);
      co_await proc::yield{};
    }
    if (!sees_some)
      while (!t.notified && !w.over) co_await syncing::wait{t.woken};
    if (!w.d.pushed_twice) withdraw(w.idle, t);
    if (w.over) co_return;
    co_await proc::yield{};
  }
}

template <int Workers, int Processes>
threads share(working_threads& w) {
  for (int i = 0; i <= Workers; ++i) w.all.push_back(std::make_unique<working_threads::one>());
  co_await spawn(publishes, std::ref(w), Processes);
  for (std::size_t i = 1; i <= Workers; ++i) co_await spawn(works, std::ref(w), i);
}

void nobody_is_idle_twice(working_threads const& w) {
  for (auto const& t : w.all)
    if (places_of(*t, w.idle) > 1) throw goes_wrong("an idle thread is on the list twice");
}

TEST_CASE("a published process is found, or a thread is woken for it, in every schedule") {
  is_right(share<1, 1>, nobody_is_idle_twice, idle_defects(), 137);
  is_right(share<1, 2>, nobody_is_idle_twice, idle_defects(), 10'171);
}

/// The first thread runs a process that spawns another; both threads end when all are idle.
does<> spawns_and_works(working_threads& w) {
  ++w.all[0]->queued;
  co_await proc::yield{};
  co_await wakes_one(w);
  co_await proc::yield{};
  co_await works(w, 0);
}
threads two_work_and_end(working_threads& w) {
  for (int i = 0; i != 2; ++i) w.all.push_back(std::make_unique<working_threads::one>());
  w.ends_when_all_are_idle = true;
  w.to_run = 1;
  co_await spawn(spawns_and_works, std::ref(w));
  co_await spawn(works, std::ref(w), std::size_t{1});
}
void all_ran_and_nobody_is_idle(working_threads const& w) {
  if (w.to_run != 0) throw goes_wrong("the threads ended, and not all has run");
  if (w.idle.top) throw goes_wrong("a thread ended, and is on the list");
}

TEST_CASE("threads that work until all of them are idle run everything, and all of them end") {
  is_right(two_work_and_end, all_ran_and_nobody_is_idle, idle_defects(), 11'931);
}

TEST_CASE("D7: a thread that is pushed while it is on the list becomes its own successor") {
  idle_defects d;
  d.pushed_twice = true;
  goes_wrong_by(share<1, 2>, nobody_is_idle_twice, d, "an idle thread follows itself");
}

TEST_CASE("D8: an idle thread that checks only its own queue sleeps beside another thread's work") {
  idle_defects d;
  d.looks_at_own = true;
  goes_wrong_by(share<1, 1>, nobody_is_idle_twice, d, "weft: deadlock");
}

TEST_CASE(
    "D8: an idle thread that checks before it announces itself is not seen, and does not see") {
  idle_defects d;
  d.announces_late = true;
  goes_wrong_by(share<1, 1>, nobody_is_idle_twice, d, "weft: deadlock");
}

TEST_CASE(
    "D8: a publisher that looks for idle threads too early misses a thread that becomes idle") {
  idle_defects d;
  d.publishes_late = true;
  goes_wrong_by(share<1, 1>, nobody_is_idle_twice, d, "weft: deadlock");
}

TEST_CASE(
    "a waker that does not check whether the process still runs makes it run on two threads") {
  parking_defects d;
  d.no_flag = true;
  goes_wrong_by(wakes_and_parks, ran_once, d, "a process runs on two threads");
}

TEST_CASE("a thread that ignores the wake-up flag leaves a woken process asleep") {
  parking_defects d;
  d.flag_unseen = true;
  goes_wrong_by(wakes_and_parks, ran_once, d, "weft: deadlock");
}

TEST_CASE("a waker that sets the flag and also puts the process puts it twice") {
  parking_defects d;
  d.put_by_both = true;
  goes_wrong_by(wakes_and_parks, ran_once, d, "a process is put twice");
  goes_wrong_by(wakes_and_parks, ran_once, d, "a process runs on two threads");
}

TEST_CASE("a worker that checks before it announces its sleep is not told of a woken process") {
  parking_defects d;
  d.announces_late = true;
  goes_wrong_by(wakes_and_parks, ran_once, d, "weft: deadlock");
}

TEST_CASE(
    "a worker that announces its sleep after the waker's check is not told of a woken process") {
  parking_defects d;
  d.publishes_late = true;
  goes_wrong_by(wakes_and_parks, ran_once, d, "weft: deadlock");
}

// ---- half is stolen

TEST_CASE("a thief that steals half of four items at once takes one that the owner has taken") {
  goes_wrong_by(owner_and_thieves, each_item_once, steal_options{.items = 4},
                "item 1 is taken twice");
  goes_wrong_by(owner_and_thieves, each_item_once, steal_options{.items = 3, .acts = "+"},
                "item 1 is taken twice");
}

TEST_CASE(
    "a thief that steals one by one but reads the bottom once takes one that the owner has taken") {
  goes_wrong_by(owner_and_thieves, each_item_once, steal_options{4, takes_half::with_one_look},
                "item 1 is taken twice");
}

TEST_CASE("a steal of half of three items or fewer takes one item, and each is taken once") {
  is_right(owner_and_thieves, each_item_once, steal_options{.items = 0}, 15);
  is_right(owner_and_thieves, each_item_once, steal_options{.items = 1}, 137);
  is_right(owner_and_thieves, each_item_once, steal_options{.items = 2}, 451);
  is_right(owner_and_thieves, each_item_once, steal_options{.items = 3}, 1'078);
}

/// Checks that no schedule with at most three preemptions goes wrong.
template <class State, class Defects>
void is_right_in_few(threads (*program)(State&), void (*check)(State const&), Defects d,
                     std::size_t schedules) {
  weft::tests::every_frame_dies const here;
  auto const found = explore({.max_preemptions = 3}, with<State>(d), program, check);
  INFO(found.report());
  CHECK(found.ok());
  CHECK(found.schedules == schedules);
}

TEST_CASE("a thief that reads the bottom again for each item steals each item once") {
  steal_options o{4, takes_half::one_by_one};
  is_right(owner_and_thieves, each_item_once, o, 8'362);
  o.items = 8;
  is_right_in_few(owner_and_thieves, each_item_once, o, 2'773);
}

TEST_CASE("each item is taken once while the owner pops and pushes, and two thieves steal") {
  steal_options o{1, takes_half::one_by_one, "-+"};
  is_right(owner_and_thieves, each_item_once, o, 1'336);
  o = {4, takes_half::one_by_one, "--++"};
  is_right_in_few(owner_and_thieves, each_item_once, o, 1'113);
  o = {2, takes_half::one_by_one, "++-+"};
  is_right_in_few(owner_and_thieves, each_item_once, o, 899);
  o = {4, takes_half::one_by_one, "-+", 2};
  is_right_in_few(owner_and_thieves, each_item_once, o, 21'780);
}

TEST_CASE("a thief may steal half at once if the owner takes at the top too, by compare-and-swap") {
  steal_options o{4, takes_half::from_the_head};
  is_right(owner_and_thieves, each_item_once, o, 2'202);
  o.acts = "+-+";
  is_right_in_few(owner_and_thieves, each_item_once, o, 775);
  o = {4, takes_half::from_the_head, "", 2};
  is_right_in_few(owner_and_thieves, each_item_once, o, 6'744);
  o = {8, takes_half::from_the_head};
  is_right_in_few(owner_and_thieves, each_item_once, o, 1'044);
}
