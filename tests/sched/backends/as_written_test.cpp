// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/sched/backends/as_written/pencil.hpp"
#include "tests/sched/backends/as_written/scheduler.hpp"
#include "tests/sched/backends/as_written/steal_half.hpp"
#include "tests/sched/backends/as_written/thread_queue.hpp"

/// How the pseudo-code of appendix A fails as it is written.  If one of these tests fails,
/// the code in as_written/ is no longer that pseudo-code.

using namespace weft::tests::as_written;
using as_written::process;
using as_written::scheduler;
using as_written::state;

/// A thread's queue, some processes, and the pencil.
struct one_queue {
  explicit one_queue(seed s = seed::s000, bool has_d1 = true) : t(between, s) {
    for (process* const p : {&a, &b, &c}) p->has_d1 = has_d1;
  }
  void enqueue_all() {
    for (process* const p : {&a, &b, &c}) t.try_enqueue(p);
  }
  /// The queue from head to tail, by name.
  [[nodiscard]] std::string text() const {
    std::string s;
    for (process* p = t.head; p; p = p->next) s += p->name;
    return s;
  }

  pencil between;
  thread t;
  process a{"a", state::queued};
  process b{"b", state::queued};
  process c{"c", state::queued};
};

// ---- the queue

TEST_CASE("DEFECT-1: a process that is taken from a queue stays Queued") {
  one_queue q;
  q.t.try_enqueue(&q.a);
  CHECK(q.t.try_dequeue().p == &q.a);
  CHECK(q.a.state_is == state::queued);
}

TEST_CASE("DEFECT-1: ChangeState answers False for the expected state, and True for any other") {
  process p("p", state::queued);
  CHECK_FALSE(p.change_state(state::queued, state::running));
  CHECK(p.state_is == state::queued);
  CHECK(p.change_state(state::sleeping, state::running));
  CHECK(p.state_is == state::running);
}

TEST_CASE("DEFECT-1: a sender wakes a target that is already running") {
  process target("target", state::running);
  CHECK(target.change_state(state::sleeping, state::running));
}

TEST_CASE("DEFECT-1: a sender does not wait for a target that is Yielding") {
  process target("target", state::yielding);
  CHECK(target.change_state(state::sleeping, state::running));
  // The target's thread continues with its own changes of state.
  CHECK(target.change_state(state::running, state::running));
  CHECK_THROWS_AS(target.change_state(state::yielding, state::sleeping), invariant_broken);
}

TEST_CASE("DEFECT-1: a process that is taken from a queue cannot yield") {
  pencil between;
  scheduler s(1, between, [](process&) { return interrupt{interrupt::yielded}; });
  process p("p", state::queued);
  s.threads[0]->try_enqueue(&p);
  process* const taken = s.dequeue_from_thread(*s.threads[0]);
  REQUIRE(taken == &p);
  CHECK_THROWS_AS(s.execute(taken, *s.threads[0]), invariant_broken);
}

TEST_CASE("DEFECT-1: a message does not wake a target that sleeps") {
  pencil between;
  process target("target", state::sleeping);
  port to;
  to.target = &target;
  scheduler s(1, between,
              [&to](process&) { return interrupt{interrupt::target_yielded, to.send()}; });
  process sender("sender", state::running);
  CHECK(s.execute(&sender, *s.threads[0]) == nullptr);
  CHECK(target.messages == 1);
  CHECK(target.state_is == state::sleeping);
  CHECK(target.owner_thread == nullptr);
}

TEST_CASE("DEFECT-1 hides DEFECT-2: with it, no process can be taken from a queue by name") {
  one_queue q;
  q.enqueue_all();
  CHECK_FALSE(q.t.try_dequeue_entry(&q.a));
  CHECK_FALSE(q.t.try_dequeue_entry(&q.b));
  CHECK(q.text() == "abc");
}

constexpr bool d1_mended = false;

TEST_CASE("DEFECT-2: a head that is taken by name stays in the queue, and the others are lost") {
  one_queue q(seed::s000, d1_mended);
  q.enqueue_all();
  CHECK(q.t.try_dequeue_entry(&q.a));
  CHECK(q.a.state_is == state::running);
  CHECK(q.text() == "a");
  CHECK(q.t.try_dequeue().p == &q.a);  // a second time
  CHECK(q.t.is_empty());
  CHECK(q.t.tail == &q.c);
  CHECK(q.b.state_is == state::queued);
}

TEST_CASE("DEFECT-2: a single entry that is taken by name leaves a queue with a head and no tail") {
  one_queue q(seed::s000, d1_mended);
  q.t.try_enqueue(&q.a);
  CHECK(q.t.try_dequeue_entry(&q.a));
  CHECK(q.t.head == &q.a);
  CHECK(q.t.tail == nullptr);
  CHECK_THROWS_AS(q.t.try_enqueue(&q.b), invariant_broken);
}

/// Calls `does` the n-th time that the pencil is at that line.
auto when(std::string_view line, int n, auto does) {
  return [=, seen = 0](std::string_view at) mutable {
    if (at == line && ++seen == n) does();
  };
}

TEST_CASE("DEFECT-2: a thread that takes a head by name opens the queue too early for others") {
  one_queue q(seed::s000, d1_mended);
  q.t.try_enqueue(&q.a);
  q.between.moves = when("Head <- Head.Next", 1, [&q] {
    auto const [success, was_empty] = q.t.try_enqueue(&q.b);
    CHECK(success);
    CHECK(was_empty);
  });
  CHECK(q.t.try_dequeue_entry(&q.a));
  CHECK(q.text() == "a");  // b's TryEnqueue succeeded, and b is lost
  CHECK(q.b.owner_thread == &q.t);
}

TEST_CASE("an entry that is not the head can be taken by name, in version 000") {
  one_queue q(seed::s000, d1_mended);
  q.enqueue_all();
  CHECK(q.t.try_dequeue_entry(&q.b));
  CHECK(q.b.state_is == state::running);
  CHECK(q.text() == "ac");
  CHECK(q.t.try_dequeue_entry(&q.c));
  CHECK(q.text() == "a");
  CHECK(q.t.tail == &q.a);
}

TEST_CASE("DEFECT-3: version 001 marks the head as Running, leaves it, and takes another entry") {
  one_queue q(seed::s001, d1_mended);
  q.enqueue_all();
  CHECK(q.t.try_dequeue_entry(&q.b));
  CHECK(q.text() == "ac");
  CHECK(q.a.state_is == state::running);
  CHECK(q.b.state_is == state::queued);
  // No other process can be taken from there by name.
  CHECK_FALSE(q.t.try_dequeue_entry(&q.c));
}

/// Ends a test that has seen enough.
struct enough {};

interrupt ends(process&) { return {}; }

// ---- the threads

TEST_CASE("DEFECT-4: a thread loops for ever when no work is left") {
  pencil between;
  scheduler s(1, between, ends);
  process p("p", state::queued);
  s.processes = 1;
  s.threads[0]->try_enqueue(&p);
  int rounds = 0;
  between.moves = [&](std::string_view line) {
    if (line != "DequeueFromThread(T)") return;
    if (++rounds == 1) return;
    // From the second round on, nothing changes any more.
    CHECK(s.processes == 0);
    CHECK(s.threads[0]->is_empty());
    if (rounds == 5) throw enough();
  };
  CHECK_THROWS_AS(s.run_thread(*s.threads[0]), enough);
}

TEST_CASE("DEFECT-5: a thread whose queue is empty finds nothing, while another thread's is full") {
  pencil between;
  scheduler s(2, between, ends);
  process p("p", state::queued);
  s.threads[1]->try_enqueue(&p);
  CHECK(s.dequeue_from_thread(*s.threads[0]) == nullptr);
  CHECK(s.threads[1]->head == &p);
}

TEST_CASE("DEFECT-5: a thread looks at the others' queues only while its own is locked") {
  pencil between;
  scheduler s(2, between, ends);
  process mine("mine", state::queued);
  process others("others", state::queued);
  s.threads[0]->try_enqueue(&mine);
  s.threads[1]->try_enqueue(&others);
  process* found = nullptr;
  between.moves =
      when("TryDequeue has the sentinel", 1, [&] { found = s.dequeue_from_thread(*s.threads[0]); });
  CHECK(s.threads[0]->try_dequeue().p == &mine);  // in the middle of that
  CHECK(found == &others);
}

TEST_CASE("DEFECT-6: an idle thread whose queue is locked is forgotten, asleep") {
  pencil between;
  scheduler s(2, between, ends);
  thread& sleeper = *s.threads[1];
  process first("first", state::queued);
  process second("second", state::queued);
  sleeper.try_enqueue(&first);
  s.idle.push(&sleeper);
  bool on_idle = true;
  between.moves =
      when("TryDequeue has the sentinel", 1, [&] { on_idle = s.enqueue_on_any_thread(&second); });
  CHECK(sleeper.try_dequeue().p == &first);  // another thread takes it, meanwhile:
  CHECK_FALSE(on_idle);
  CHECK(s.idle.top == nullptr);          // it has been popped,
  CHECK(s.threads[0]->head == &second);  // the work is elsewhere,
  process third("third", state::queued);
  CHECK_FALSE(s.enqueue_on_any_thread(&third));  // and no thread will look for it again
}

TEST_CASE(
    "DEFECT-7: a thread that is woken by its queue stays on the list, and becomes its own next") {
  pencil between;
  scheduler s(1, between, ends);
  thread& t = *s.threads[0];
  process p("p", state::queued);
  s.processes = 1;
  int waits = 0;
  between.moves = [&](std::string_view line) {
    if (line != "IdleMonitor.Wait()" || ++waits != 1) return;
    CHECK(t.try_enqueue(&p).was_empty);  // by a thread that looked for idle threads too early,
    t.wakeup();
    CHECK(t.try_dequeue().p == &p);  // and another thread was faster
  };
  CHECK_THROWS_AS(s.run_thread(t), monitor::sleeps_for_ever);
  CHECK(waits == 2);
  CHECK(s.idle.top == &t);
  CHECK(t.next_idle == &t);
  for (int i = 0; i != 3; ++i) CHECK(s.idle.pop() == &t);
}

TEST_CASE(
    "DEFECT-7: pop may take a thread that was popped and pushed since, and lose the one below") {
  pencil between;
  scheduler s(2, between, ends);
  thread& x = *s.threads[0];
  thread& z = *s.threads[1];
  s.idle.push(&x);
  between.moves = when("Pop has read", 1, [&] {  // x, with no thread below
    CHECK(s.idle.pop() == &x);                   // another thread pops it,
    s.idle.push(&z);                             // z goes idle,
    s.idle.push(&x);                             // and x does, again
  });
  CHECK(s.idle.pop() == &x);
  CHECK(s.idle.top == nullptr);  // z sleeps, and is on no list
}

TEST_CASE("DEFECT-8: a thread goes to sleep while there is work that it could take") {
  pencil between;
  scheduler s(2, between, ends);
  process p("p", state::queued);
  s.processes = 1;
  between.moves = when("T.IsEmpty", 1, [&] {
    // No thread is idle yet, so p goes to the first thread, which is busy and stays so.
    CHECK_FALSE(s.enqueue_on_any_thread(&p));
  });
  CHECK_THROWS_AS(s.run_thread(*s.threads[1]), monitor::sleeps_for_ever);
  CHECK(s.threads[0]->head == &p);
  CHECK(s.idle.top == s.threads[1].get());
}

TEST_CASE(
    "DEFECT-8: a thread that enqueues looks for idle threads before it publishes, not after") {
  pencil between;
  scheduler s(2, between, ends);
  process p("p", state::queued);
  between.moves = when("no thread is idle", 1, [&] { s.idle.push(s.threads[1].get()); });
  CHECK_FALSE(s.enqueue_on_any_thread(&p));
  CHECK(s.threads[0]->head == &p);
  CHECK(s.idle.top == s.threads[1].get());
}

TEST_CASE("DEFECT-9: two processes that send to each other keep a third from running") {
  pencil between;
  process a("a", state::running);
  process b("b", state::sleeping);
  process c("c", state::queued);
  for (process* const p : {&a, &b, &c}) p->has_d1 = d1_mended;
  port to_a;
  port to_b;
  to_a.target = &a;
  to_b.target = &b;
  std::set<std::string> ran;
  scheduler s(1, between, [&](process& p) {
    ran.insert(p.name);
    return interrupt{interrupt::target_yielded, (&p == &a ? to_b : to_a).send()};
  });
  thread& t = *s.threads[0];
  t.try_enqueue(&c);
  process* p = &a;
  // After two hops everything is as before, except for the messages.
  for (int hops = 0; hops != 1000; ++hops) {
    REQUIRE(p == (hops % 2 == 0 ? &a : &b));
    p = s.execute(p, t);
    CHECK(t.head == &c);
    CHECK(c.next == (hops % 2 == 0 ? &a : &b));
    CHECK(t.tail == c.next);
  }
  CHECK(ran == std::set<std::string>{"a", "b"});
}

// ---- stealing half with one compare-and-swap

/// A thief steals half of `items`, and the owner pops `pops` of them while the thief has copied
/// them.  Returns how often each item was taken, when no item is left.
std::vector<int> times_taken(int items, int pops) {
  pencil between;
  weft::tests::as_written::deque d(between);
  for (int i = 0; i != items; ++i) d.push(i);
  std::vector<int> taken(static_cast<std::size_t>(items));
  auto const pop = [&] {
    auto const item = d.pop();
    if (item) ++taken[static_cast<std::size_t>(*item)];
    return item.has_value();
  };
  between.moves = when("StealHalfInto has copied", 1, [&] {
    for (int i = 0; i != pops; ++i) (void)pop();
  });
  std::vector<int> stolen;
  (void)d.steal_half_into(stolen);
  for (int const item : stolen) ++taken[static_cast<std::size_t>(item)];
  while (d.top < d.bottom && pop()) {
  }
  return taken;
}

TEST_CASE("half of four items, stolen at once, includes one that the owner has popped meanwhile") {
  CHECK(times_taken(4, 3) == std::vector{1, 2, 1, 1});
  CHECK(times_taken(8, 7) == std::vector{1, 2, 2, 2, 1, 1, 1, 1});
}

TEST_CASE("half of three items or fewer is one item, and each item is taken once") {
  int wrong = 0;
  for (int items = 1; items != 4; ++items)
    for (int pops = 0; pops <= items; ++pops)
      for (int const times : times_taken(items, pops)) wrong += times != 1;
  CHECK(wrong == 0);
}
