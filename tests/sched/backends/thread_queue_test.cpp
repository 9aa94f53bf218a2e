// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// sched/backends/detail/thread_queue.hpp on one thread: each operation by itself, its result while
/// another thread has claimed the queue, and the equivalence to a std::deque.

/// The actions of another thread at the next of these moments.
struct meanwhile {
  static inline std::function<void()> before_claim;  // the head is read, and not yet swapped
  static inline std::function<void()> under_claim;   // everything is done except storing the head
  static void now(std::function<void()>& f) {
    if (auto const act = std::exchange(f, nullptr)) act();
  }
};
/// Memory orders that report when they are used.
struct watched_orders {
  struct claiming {
    operator std::memory_order() const {
      meanwhile::now(meanwhile::before_claim);
      return detail::queue_orders::claims;
    }
  };
  struct giving_back {
    operator std::memory_order() const {
      meanwhile::now(meanwhile::under_claim);
      return detail::queue_orders::gives_back;
    }
  };
  static constexpr claiming claims{};
  static constexpr giving_back gives_back{};
  static constexpr auto looks = detail::queue_orders::looks;
};
using queue = detail::basic_thread_queue<watched_orders>;
using removal = queue::removal;

struct entry : detail::queue_entry {
  std::size_t id = 0;
};

/// QUEUE-2, QUEUE-3: these entries and no others are in q, in that order.
bool holds(queue const& q, std::vector<detail::queue_entry*> const& all) {
  bool right = q.length() == all.size() && q.is_empty() == all.empty();
  for (std::size_t i = 0; i != all.size(); ++i)
    right &= all[i]->owner.load() == &q && all[i]->state.now() == detail::sharing_state::queued &&
             all[i]->previous == (i == 0 ? nullptr : all[i - 1]) &&
             all[i]->next == (i + 1 == all.size() ? nullptr : all[i + 1]);
  return right;
}

TEST_CASE("an empty queue says that it is empty, and has no entry to take, to share or to claim") {
  queue q;
  entry e;
  CHECK(q.is_empty());
  CHECK(q.length() == 0);
  auto const found = q.try_dequeue();
  CHECK(found.is_empty());
  CHECK_FALSE(found.is_locked());
  CHECK(q.try_dequeue_entry(e) == removal::not_here);
  detail::entry_chain chain;
  CHECK(q.try_share(3, chain));
  CHECK(chain.length == 0);
  CHECK(chain.first == nullptr);
  CHECK(holds(q, {}));
}

using entered = queue::entered;

/// Makes e ready to be put.
entry& ready(entry& e) {
  e.state.move(detail::sharing_state::queued);
  return e;
}

template <std::size_t N>
struct some_entries : std::array<entry, N> {
  some_entries() {
    for (std::size_t i = 0; i != N; ++i) (*this)[i].id = i;
  }
};

TEST_CASE("an entry goes to the end, and the result says whether there were others") {
  queue q;
  some_entries<3> e;
  CHECK(q.try_enqueue(ready(e[0])) == entered::was_empty);
  CHECK(holds(q, {&e[0]}));
  CHECK(q.try_enqueue(ready(e[1])) == entered::had_some);
  CHECK(q.try_enqueue(ready(e[2])) == entered::had_some);
  CHECK(holds(q, {&e[0], &e[1], &e[2]}));
}

bool is_out(detail::queue_entry const& e,
            detail::sharing_state s = detail::sharing_state::running) {
  return !e.owner.load() && !e.next && !e.previous && e.state.now() == s;
}

/// Puts the first `n` entries into q.
template <std::size_t N>
void fill(queue& q, some_entries<N>& all, std::size_t n) {
  for (std::size_t i = 0; i != n; ++i) (void)q.try_enqueue(ready(all[i]));
}

TEST_CASE("the first entry is taken first, and is then running and in no queue") {
  queue q;
  some_entries<3> e;
  fill(q, e, 3);
  for (std::size_t i = 0; i != 3; ++i) {
    auto const found = q.try_dequeue();
    REQUIRE_FALSE((found.is_empty() || found.is_locked()));
    CHECK(&found.entry() == &e[i]);
    CHECK(is_out(e[i]));
  }
  CHECK(q.try_dequeue().is_empty());
  CHECK(q.try_enqueue(ready(e[1])) == entered::was_empty);  // and the tail is right again
  CHECK(q.try_enqueue(ready(e[0])) == entered::had_some);
  CHECK(holds(q, {&e[1], &e[0]}));
}

TEST_CASE("an entry is removed from any position, and the others close up") {
  auto const at = GENERATE(range(std::size_t{0}, std::size_t{5}));
  auto const of = GENERATE(range(std::size_t{1}, std::size_t{6}));
  if (at >= of) return;
  queue q;
  some_entries<6> e;
  fill(q, e, of);
  std::vector<detail::queue_entry*> left;
  for (std::size_t i = 0; i != of; ++i)
    if (i != at) left.push_back(&e[i]);
  CHECK(q.try_dequeue_entry(e[at]) == removal::removed);
  CHECK(is_out(e[at]));
  CHECK(holds(q, left));
  CHECK(q.try_dequeue_entry(e[at]) == removal::not_here);
  CHECK(q.try_enqueue(ready(e[5])) != entered::locked);  // the tail is right
  left.push_back(&e[5]);
  CHECK(holds(q, left));
}

TEST_CASE("an entry of another queue, of none, or in a chain is not removed") {
  queue q;
  queue other;
  some_entries<4> e;
  fill(q, e, 2);
  (void)other.try_enqueue(ready(e[2]));
  CHECK(q.try_dequeue_entry(e[2]) == removal::not_here);
  CHECK(q.try_dequeue_entry(e[3]) == removal::not_here);
  detail::entry_chain chain;
  REQUIRE(other.try_share(1, chain));
  CHECK(q.try_dequeue_entry(e[2]) == removal::not_here);
  CHECK(other.try_dequeue_entry(e[2]) == removal::not_here);
  CHECK(e[2].state.now() == detail::sharing_state::queued);
  CHECK(holds(q, {&e[0], &e[1]}));
}

TEST_CASE(
    "an exchange appends an entry and takes the first, or returns an entry that would be alone") {
  queue q;
  some_entries<3> e;
  auto const alone = q.try_exchange(ready(e[0]));
  CHECK(&alone.entry() == &e[0]);
  CHECK(is_out(e[0]));
  CHECK(holds(q, {}));

  (void)q.try_enqueue(ready(e[1]));
  auto const first = q.try_exchange(ready(e[0]));
  CHECK(&first.entry() == &e[1]);
  CHECK(is_out(e[1]));
  CHECK(holds(q, {&e[0]}));

  (void)q.try_enqueue(ready(e[2]));
  CHECK(&q.try_exchange(ready(e[1])).entry() == &e[0]);
  CHECK(holds(q, {&e[2], &e[1]}));
}

std::vector<detail::queue_entry*> in(detail::entry_chain const& c) {
  std::vector<detail::queue_entry*> all;
  for (auto* e = c.first; e; e = e->next) all.push_back(e);
  return all;
}

TEST_CASE("shared entries come from the front, are still queued, and have no owner") {
  auto const most = GENERATE(1u, 2u, 4u, 5u, 9u);
  queue q;
  some_entries<5> e;
  fill(q, e, 5);
  detail::entry_chain chain;
  REQUIRE(q.try_share(most, chain));
  std::size_t const n = std::min<std::size_t>(most, 5);
  CHECK(chain.length == n);
  CHECK(chain.last == &e[n - 1]);
  std::vector<detail::queue_entry*> shared;
  std::vector<detail::queue_entry*> left;
  for (std::size_t i = 0; i != 5; ++i) (i < n ? shared : left).push_back(&e[i]);
  CHECK(in(chain) == shared);
  CHECK(chain.last->next == nullptr);
  for (auto* s : shared) CHECK(s->owner.load() == nullptr);
  for (auto* s : shared) CHECK(s->state.now() == detail::sharing_state::queued);
  CHECK(holds(q, left));
}

TEST_CASE("a chain that is prepended to another queue comes before all entries there") {
  auto const there = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{3});
  queue from;
  queue to;
  some_entries<4> mine;
  some_entries<4> e;
  fill(from, e, 4);
  fill(to, mine, there);
  detail::entry_chain chain;
  REQUIRE(from.try_share(3, chain));
  CHECK(&chain.pop() == &e[0]);
  CHECK(e[0].next == nullptr);
  CHECK(chain.length == 2);
  REQUIRE(to.try_prepend(chain));
  std::vector<detail::queue_entry*> all{&e[1], &e[2]};
  for (std::size_t i = 0; i != there; ++i) all.push_back(&mine[i]);
  CHECK(holds(to, all));
  CHECK(holds(from, {&e[3]}));
  e[0].state.move(detail::sharing_state::running);
  CHECK(to.try_enqueue(ready(e[0])) == entered::had_some);
  all.push_back(&e[0]);
  CHECK(holds(to, all));
}

TEST_CASE("a chain of one entry is empty after a pop") {
  queue q;
  some_entries<1> e;
  fill(q, e, 1);
  detail::entry_chain chain;
  REQUIRE(q.try_share(7, chain));
  CHECK(&chain.pop() == &e[0]);
  CHECK(chain.length == 0);
  CHECK(chain.first == nullptr);
}

TEST_CASE("a queue is locked, not empty, for all operations while another thread has claimed it") {
  // The operation of the other thread, with two entries in the queue.
  auto const work = GENERATE(range(0, 6));
  queue q;
  queue other;
  some_entries<6> e;
  fill(q, e, 2);
  detail::entry_chain on_its_way;
  (void)other.try_enqueue(ready(e[5]));
  REQUIRE(other.try_share(1, on_its_way));
  ready(e[2]);
  ready(e[3]);

  int wrong = 0;
  bool was_asked = false;
  std::vector<detail::queue_entry*> gone;
  meanwhile::under_claim = [&] {
    was_asked = true;
    wrong += q.try_enqueue(e[3]) != entered::locked;
    auto const first = q.try_dequeue();
    wrong += !first.is_locked() || first.is_empty();
    wrong += q.try_dequeue_entry(e[0]) != removal::locked;
    wrong += q.try_dequeue_entry(e[1]) != removal::locked;
    wrong += q.try_dequeue_entry(e[4]) != removal::locked;
    wrong += !q.try_exchange(e[3]).is_locked();
    detail::entry_chain chain;
    wrong += q.try_share(2, chain) || chain.length != 0;
    detail::entry_chain const mine{&e[3], &e[3], 1};
    wrong += q.try_prepend(mine);
    wrong += q.is_empty();
    wrong += !is_out(e[3], detail::sharing_state::queued);
    for (auto* const x : gone) wrong += !is_out(*x);  // QUEUE-4: before the claim ends
  };
  std::vector<detail::queue_entry*> left;
  switch (work) {
    case 0:
      (void)q.try_enqueue(e[2]);
      left = {&e[0], &e[1], &e[2]};
      break;
    case 1:
      gone = {&e[0]};
      (void)q.try_dequeue();
      left = {&e[1]};
      break;
    case 2:
      gone = {&e[1]};
      (void)q.try_dequeue_entry(e[1]);
      left = {&e[0]};
      break;
    case 3:
      gone = {&e[0]};
      (void)q.try_exchange(e[2]);
      left = {&e[1], &e[2]};
      break;
    case 4: {
      detail::entry_chain chain;
      (void)q.try_share(2, chain);
      break;
    }
    case 5:
      (void)q.try_prepend(on_its_way);
      left = {&e[5], &e[0], &e[1]};
      break;
  }
  CHECK(was_asked);
  CHECK(wrong == 0);
  CHECK(holds(q, left));
}

TEST_CASE("the last entry to leave is out of the queue before the queue says that it is empty") {
  queue q;
  some_entries<1> e;
  bool was_out = false;
  meanwhile::under_claim = nullptr;
  fill(q, e, 1);
  SECTION("taken") {
    meanwhile::under_claim = [&] { was_out = is_out(e[0]); };
    (void)q.try_dequeue();
  }
  SECTION("claimed") {
    meanwhile::under_claim = [&] { was_out = is_out(e[0]); };
    CHECK(q.try_dequeue_entry(e[0]) == removal::removed);
  }
  CHECK(was_out);
  CHECK(holds(q, {}));
}

std::size_t id_of(detail::queue_entry const& e) { return static_cast<entry const&>(e).id; }

/// Takes all entries out, and returns their ids.
std::vector<std::size_t> drained(queue& q) {
  std::vector<std::size_t> all;
  for (auto f = q.try_dequeue(); !f.is_empty(); f = q.try_dequeue())
    all.push_back(id_of(f.entry()));
  return all;
}

TEST_CASE("changes between the look at the head and the claim are not lost") {
  queue q;
  some_entries<4> e;
  fill(q, e, 2);
  SECTION("if the first has been taken, the next is taken") {
    meanwhile::before_claim = [&] { (void)q.try_dequeue(); };
    CHECK(&q.try_dequeue().entry() == &e[1]);
    CHECK(holds(q, {}));
  }
  SECTION("if all have been taken, the queue is empty") {
    meanwhile::before_claim = [&] { (void)drained(q); };
    CHECK(q.try_dequeue().is_empty());
    CHECK(holds(q, {}));
  }
  SECTION("if all have been taken, an entry that enters is the first") {
    meanwhile::before_claim = [&] { (void)drained(q); };
    CHECK(q.try_enqueue(ready(e[2])) == entered::was_empty);
    CHECK(holds(q, {&e[2]}));
  }
  SECTION("if the entry to remove has been taken, it is not here") {
    meanwhile::before_claim = [&] { (void)q.try_dequeue(); };
    CHECK(q.try_dequeue_entry(e[0]) == removal::not_here);
    CHECK(holds(q, {&e[1]}));
  }
  SECTION("if the first has moved to the end, it is removed there") {
    meanwhile::before_claim = [&] {
      (void)q.try_enqueue(ready(static_cast<entry&>(q.try_dequeue().entry())));
    };
    CHECK(q.try_dequeue_entry(e[0]) == removal::removed);
    CHECK(holds(q, {&e[1]}));
  }
  SECTION("if all have been taken and the first is back, the head is as before, and right") {
    meanwhile::before_claim = [&] {
      (void)drained(q);
      (void)q.try_enqueue(ready(e[0]));
    };
    CHECK(&q.try_dequeue().entry() == &e[0]);
    CHECK(holds(q, {}));
  }
  SECTION("if all have been taken, there is nothing to share") {
    meanwhile::before_claim = [&] { (void)drained(q); };
    detail::entry_chain chain;
    CHECK(q.try_share(2, chain));
    CHECK(chain.length == 0);
  }
  SECTION("if all have been taken, an exchange returns its own entry") {
    meanwhile::before_claim = [&] { (void)drained(q); };
    CHECK(&q.try_exchange(ready(e[3])).entry() == &e[3]);
    CHECK(holds(q, {}));
  }
}

TEST_CASE("three queues and the chains between them behave like std::deques") {
  seeds(300).for_each([](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    constexpr std::size_t n = 12;
    some_entries<n> e;
    std::array<queue, 3> q;
    std::array<std::deque<std::size_t>, 3> model;
    int wrong = 0;
    /// A random entry that is in no queue.
    auto const outsider = [&]() -> entry* {
      std::vector<entry*> out;
      for (auto& x : e)
        if (x.state.now() == detail::sharing_state::running) out.push_back(&x);
      return out.empty() ? nullptr : out[random(static_cast<unsigned>(out.size()))];
    };
    auto const take_first = [&](std::deque<std::size_t>& m) {
      std::size_t const id = m.front();
      m.pop_front();
      return id;
    };
    for (int step = 0; step != 200; ++step) {
      unsigned const at = random(3);
      auto& m = model[at];
      switch (random(6)) {
        case 0:
        case 1:
          if (auto* const x = outsider()) {
            wrong += q[at].try_enqueue(ready(*x)) !=
                     (m.empty() ? entered::was_empty : entered::had_some);
            m.push_back(x->id);
          }
          break;
        case 2: {
          auto const found = q[at].try_dequeue();
          wrong += found.is_locked() || found.is_empty() != m.empty();
          if (!m.empty()) wrong += id_of(found.entry()) != take_first(m);
          break;
        }
        case 3: {
          auto& x = e[random(n)];
          auto const it = std::ranges::find(m, x.id);
          wrong +=
              q[at].try_dequeue_entry(x) != (it == m.end() ? removal::not_here : removal::removed);
          if (it != m.end()) m.erase(it);
          break;
        }
        case 4:
          if (auto* const x = outsider()) {
            m.push_back(x->id);
            wrong += id_of(q[at].try_exchange(ready(*x)).entry()) != take_first(m);
          }
          break;
        case 5: {
          unsigned const most = 1 + random(4);
          auto& from = model[(at + 1) % 3];
          detail::entry_chain chain;
          wrong += !q[(at + 1) % 3].try_share(most, chain);
          wrong += chain.length != std::min<std::size_t>(most, from.size());
          if (chain.length == 0) break;
          std::deque<std::size_t> moved(from.begin(), from.begin() + chain.length);
          from.erase(from.begin(), from.begin() + chain.length);
          if (random(2) == 0) {  // the first of them is to run
            wrong += id_of(chain.pop()) != moved.front();
            e[moved.front()].state.move(detail::sharing_state::running);
            moved.pop_front();
          }
          if (chain.length == 0) break;
          wrong += !q[at].try_prepend(chain);
          m.insert(m.begin(), moved.begin(), moved.end());
          break;
        }
      }
      std::size_t queued = 0;
      for (std::size_t i = 0; i != 3; ++i) {
        std::vector<detail::queue_entry*> all;
        for (std::size_t const id : model[i]) all.push_back(&e[id]);
        wrong += !holds(q[i], all);
        queued += all.size();
      }
      for (auto const& x : e)
        if (x.state.now() == detail::sharing_state::running) wrong += !is_out(x), ++queued;
      wrong += queued != n;
    }
    CHECK(wrong == 0);
    for (std::size_t i = 0; i != 3; ++i)
      CHECK(drained(q[i]) == std::vector<std::size_t>(model[i].begin(), model[i].end()));
  });
}
