// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/small_stack.hpp"

// Every member compiles for move-only elements, and for elements whose move may throw.
template class weft::persistent_deque<std::unique_ptr<int>>;
template class weft::persistent_deque<tracked<moves::may_throw>>;

namespace {

/// Leaves of four elements, so that a few hundred elements have shapes of several tiers.
template <class T>
using tiny = persistent_deque<T, deque_policy<plain_counts, fallible_memory, 4 * sizeof(T)>>;

using safe_element = tracked<moves::safely>;
using brittle_element = tracked<moves::may_throw>;

std::vector<int> elements(auto const& d) {
  std::vector<int> all;
  for (auto const& e : d) {
    if constexpr (requires { e.value(); })
      all.push_back(e.value());
    else
      all.push_back(e);
  }
  return all;
}

std::vector<int> count_up(int from, int to) {
  std::vector<int> all;
  for (int i = from; i < to; ++i) all.push_back(i);
  return all;
}

template <class D>
concept can_be_split = requires(D const& d) { d.split_at(1); };

/// A deque whose size and shape depend on the seed.
template <class D>
D some_deque(unsigned seed) {
  dice random(seed);
  D d;
  int value = 0;
  for (unsigned i = 0, steps = random(7); i != steps; ++i) {
    unsigned const n = random(seed % 5 == 0 ? 700 : 40);
    unsigned const what = random(5);
    D const before = d;  // so that some of it is shared
    for (unsigned k = 0; k != n; ++k) {
      if (what == 0 || what == 1) d.push_back(value++);
      if (what == 2) d.push_front(value++);
      if (what == 3) d.try_pop_front();
      if (what == 4) d.try_pop_back();
    }
    if (random(4) == 0) d = d.drop(random(10)).concat(before.take(random(50)));
  }
  return d;
}

}  // namespace

TEST_CASE("a new deque is empty and allocates nothing") {
  long const before = fallible_memory::allocations;
  tiny<int> const d;
  CHECK(d.empty());
  CHECK(d.size() == 0);
  CHECK(d.begin() == d.end());
  CHECK(fallible_memory::allocations == before);
  CHECK(sizeof d == 56);
}

TEST_CASE("a copy is a snapshot, and allocates nothing") {
  tiny<int> d(count_up(0, 500));
  long const before = fallible_memory::allocations;
  auto const snapshot = d;
  CHECK(fallible_memory::allocations == before);
  d.push_back(500);
  d.pop_front();
  CHECK(elements(snapshot) == count_up(0, 500));
  CHECK(elements(d) == count_up(1, 501));
}

TEST_CASE("an element that is pushed at an end is popped at that end") {
  auto const seed = GENERATE(range(0u, 40u));
  auto const d = some_deque<tiny<int>>(seed);
  auto at_front = d.pushed_front(-1);
  CHECK(at_front.front() == -1);
  CHECK(at_front.pop_front() == -1);
  CHECK(at_front == d);
  auto at_back = d.pushed_back(-1);
  CHECK(at_back.back() == -1);
  CHECK(at_back.pop_back() == -1);
  CHECK(at_back == d);
}

TEST_CASE("indices, iterators in both directions and segments visit the same elements") {
  auto const seed = GENERATE(range(0u, 40u));
  auto const d = some_deque<tiny<int>>(seed);
  std::vector<int> by_index, by_segment;
  for (std::size_t i = 0; i != d.size(); ++i) by_index.push_back(d[i]);
  d.for_each_segment(
      [&](auto run) { by_segment.insert(by_segment.end(), run.begin(), run.end()); });
  std::vector<int> const by_iterator(d.begin(), d.end());
  std::vector<int> backwards(d.rbegin(), d.rend());
  std::reverse(backwards.begin(), backwards.end());
  CHECK(by_index == by_iterator);
  CHECK(by_segment == by_iterator);
  CHECK(backwards == by_iterator);
}

TEST_CASE("the two parts of a split, concatenated, are the whole") {
  auto const seed = GENERATE(range(0u, 40u));
  auto const d = some_deque<tiny<int>>(seed);
  for (std::size_t n = 0; n <= d.size() + 1; n += d.size() / 13 + 1) {
    auto const [left, right] = d.split_at(n);
    CHECK(left.size() == std::min(n, d.size()));
    CHECK(left == d.take(n));
    CHECK(right == d.drop(n));
    CHECK(left.concat(right) == d);
  }
}

TEST_CASE("a deque read from the back equals the deque that was pushed at the front") {
  auto const seed = GENERATE(range(0u, 20u));
  auto const d = some_deque<tiny<int>>(seed);
  tiny<int> mirror;
  for (int const e : d) mirror.push_front(e);
  CHECK(std::equal(mirror.begin(), mirror.end(), d.rbegin(), d.rend()));
  auto rest = d;
  while (!mirror.empty()) CHECK(mirror.pop_front() == rest.pop_back());
  CHECK(rest.empty());
}

TEST_CASE("equality and order depend on elements, not on shapes") {
  tiny<int> pushed_back, pushed_front;
  for (int i = 0; i != 300; ++i) pushed_back.push_back(i);
  for (int i = 300; i-- != 0;) pushed_front.push_front(i);
  auto const joined = pushed_back.take(7).concat(pushed_front.drop(7));
  CHECK(pushed_back == pushed_front);
  CHECK(joined == pushed_back);
  CHECK((pushed_back <=> pushed_front) == std::strong_ordering::equal);
  CHECK(pushed_back.set(150, -1) < pushed_front);
  CHECK(pushed_back.take(299) < pushed_front);
  CHECK(pushed_back != pushed_front.take(299));
}

TEST_CASE("two versions made from one version are independent") {
  auto const seed = GENERATE(range(0u, 40u));
  auto const past = some_deque<tiny<int>>(seed);
  auto const before = elements(past);
  auto left = past, right = past;
  for (int i = 0; i != 100; ++i) {
    left.push_back(i);
    right.push_back(-i);
    left.push_front(2 * i);
    right.push_front(-2 * i);
  }
  CHECK(elements(past) == before);
  CHECK(left.back() == 99);
  CHECK(right.back() == -99);
  for (int i = 100; i-- != 0;) {
    REQUIRE(left.pop_back() == i);
    REQUIRE(right.pop_back() == -i);
    REQUIRE(left.pop_front() == 2 * i);
    REQUIRE(right.pop_front() == -2 * i);
  }
  CHECK(left == past);
  CHECK(right == past);
}

TEST_CASE("operations on an lvalue leave it unchanged, operations on an rvalue reuse it") {
  tiny<int> const d{1, 2, 3};
  CHECK(elements(d.pushed_front(0)) == std::vector{0, 1, 2, 3});
  CHECK(elements(d.pushed_back(4)) == std::vector{1, 2, 3, 4});
  CHECK(elements(d.set(1, 9)) == std::vector{1, 9, 3});
  CHECK(elements(d.update(2, [](int e) { return e * e; })) == std::vector{1, 2, 9});
  auto const popped = d.popped_front();
  REQUIRE(popped);
  CHECK(popped->first == 1);
  CHECK(elements(popped->second) == std::vector{2, 3});
  CHECK(d.popped_back()->first == 3);
  CHECK_FALSE(tiny<int>().popped_front());
  CHECK_FALSE(tiny<int>().popped_back());
  CHECK(elements(d) == std::vector{1, 2, 3});

  using queue = persistent_deque<int, deque_policy<plain_counts, fallible_memory>>;
  long const before = fallible_memory::allocations;
  auto chain = queue{1, 2, 3}.pushed_front(0).set(1, 7);
  auto last = std::move(chain).popped_back();
  CHECK(elements(last->second) == std::vector{0, 7, 2});
  CHECK(fallible_memory::allocations == before + 1);  // one chunk served them all
}

TEST_CASE("misuse throws an exception that names the operation") {
  using Catch::Matchers::Message;
  tiny<int> d;
  CHECK_THROWS_MATCHES(d.pop_front(), std::out_of_range,
                       Message("weft::persistent_deque::pop_front: the deque is empty"));
  CHECK_THROWS_MATCHES(d.pop_back(), std::out_of_range,
                       Message("weft::persistent_deque::pop_back: the deque is empty"));
  CHECK_THROWS_AS(d.front(), std::out_of_range);
  CHECK_THROWS_AS(d.back(), std::out_of_range);
  CHECK_FALSE(d.try_pop_front());
  CHECK_FALSE(d.try_pop_back());
  d = {1, 2};
  CHECK_THROWS_AS(d[2], std::out_of_range);
  CHECK_THROWS_MATCHES(d.at(2), std::out_of_range,
                       Message("weft::persistent_deque::operator[] or at: there is no element 2"));
  CHECK_THROWS_AS(d.set(2, 0), std::out_of_range);
  CHECK_THROWS_AS(std::move(d).set(2, 0), std::out_of_range);
  CHECK(elements(d) == std::vector{1, 2});
  CHECK(d.drop(5).empty());
  CHECK(d.take(5) == d);
  d.pop_back();
  d.pop_front();
  CHECK_THROWS_AS(d.pop_back(), std::out_of_range);
}

TEST_CASE("a unique deque of steady size copies nothing and rarely allocates") {
  auto const size = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{100}, std::size_t{5000});
  using queue = persistent_deque<safe_element, deque_policy<plain_counts, fallible_memory>>;
  queue d;
  for (std::size_t i = 0; i != size; ++i) d.push_front(static_cast<int>(i));
  long const copies = safe_element::copies;
  long const allocations = fallible_memory::allocations;
  for (int i = 0; i != 3200; ++i) d.push_front(d.pop_back());
  CHECK(safe_element::copies == copies);
  // A new leaf for 32 elements and at most two new nodes for 8 leaves; none if no leaf fills up.
  CHECK(fallible_memory::allocations - allocations <=
        (size <= 2 ? 0 : 3200 / 32 + 2 * 3200 / 256 + 8));
}

TEST_CASE("a deque that goes round for ever takes no more memory") {
  using queue = persistent_deque<int, deque_policy<plain_counts, fallible_memory, 16>>;
  long const before = fallible_memory::blocks;
  queue d;
  for (int i = 0; i != 1000; ++i) d.push_front(i);
  long const blocks = fallible_memory::blocks - before;
  for (int i = 0; i != 100'000; ++i) {
    d.push_front(d.pop_back());
    REQUIRE(fallible_memory::blocks - before <= blocks + 8);
  }
  CHECK(d.size() == 1000);
}

TEMPLATE_TEST_CASE("a snapshot before every step copies popped elements and nothing else", "",
                   plain_counts, atomic_counts) {
  using queue = persistent_deque<safe_element, deque_policy<TestType, fallible_memory>>;
  queue d;
  for (int i = 0; i != 1000; ++i) d.push_front(i);
  std::vector<queue> kept;
  long const copies = safe_element::copies;
  for (int i = 0; i != 1000; ++i) {
    kept.push_back(d);
    d.emplace_front(d.pop_back().value());  // may throw, which is no reason to copy a leaf
  }
  CHECK(safe_element::copies - copies == 1000);  // slot claims: no push has copied a leaf
  CHECK(kept.front().back().value() == 0);
}

TEST_CASE("elements that no version holds are soon destroyed, except for two leaves at most") {
  using queue = tiny<safe_element>;  // leaves of four
  auto const alive = [] { return safe_element::births - safe_element::deaths; };
  auto const filled = [] {
    queue d;
    for (int i = 0; i != 5000; ++i) d.push_back(i);
    return d;
  };
  long const before = alive();

  SECTION("a split drops most of the elements") {
    auto d = filled();
    d = d.take(3000).drop(2000);
    CHECK(alive() - before < 1000 + 8);
  }
  SECTION("elements are popped from a version that was shared") {
    auto d = filled();
    {
      auto const snapshot = d;
      while (d.size() != 1000) d.pop_front();
    }
    CHECK(alive() - before < 1000 + 8);
  }
  SECTION("a version that has pushed many elements is dropped") {
    auto const d = filled();
    {
      auto branch = d;
      for (int i = 0; i != 5000; ++i) branch.push_back(i);
    }
    CHECK(alive() - before < 5000 + 8);
  }
}

TEST_CASE("an element may own a version of the deque that holds it, if the policy says so") {
  using versions = deque_policy<plain_counts, heap_memory, 512, true>;
  static int alive = 0;
  struct holder {
    std::shared_ptr<void> version;
    explicit holder(std::shared_ptr<void> v) : version(std::move(v)) { ++alive; }
    holder(holder const& other) : version(other.version) { ++alive; }
    ~holder() { --alive; }
  };
  using queue = persistent_deque<holder, versions>;
  {
    queue d;
    for (int i = 0; i != 200; ++i) d.push_back(holder(std::make_shared<queue>(d)));
    CHECK(alive >= 200);
  }
  CHECK(alive == 0);
}

TEST_CASE("a constructor of an element may push to another version of the deque") {
  struct meddler {
    int value;
    explicit meddler(int v) : value(v) {}
    meddler(int v, std::function<void()> const& meanwhile) : value(v) { meanwhile(); }
  };
  persistent_deque<meddler> a;
  a.emplace_back(1);
  auto b = a;
  a.emplace_back(2, [&] { b.emplace_back(3); });
  CHECK(a.back().value == 2);
  CHECK(b.back().value == 3);
  CHECK_THROWS_AS(a.emplace_back(4, [&] { throw planned_failure(); }), planned_failure);
  a.emplace_back(5);
  CHECK(a.size() == 3);
  CHECK(a.back().value == 5);
}

TEMPLATE_TEST_CASE("the function of update() may copy the deque", "", safe_element,
                   brittle_element) {
  tiny<TestType> d;
  for (int i = 0; i != 1000; ++i) d.push_back(i);
  tiny<TestType> snapshot;
  for (std::size_t const i : {0u, 500u, 999u}) {
    d = std::move(d).update(i, [&](TestType const&) {
      snapshot = d;
      return -1;
    });
    CHECK(snapshot[i].value() == static_cast<int>(i));
    CHECK(d[i].value() == -1);
  }
}

TEST_CASE("a deque of move-only elements is move-only") {
  using queue = persistent_deque<std::unique_ptr<int>>;
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<queue>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<queue>);
  STATIC_REQUIRE_FALSE(can_be_split<queue>);
  STATIC_REQUIRE(can_be_split<persistent_deque<int>>);
  queue d;
  for (int i = 0; i != 200; ++i) d.push_front(std::make_unique<int>(i));
  queue e = std::move(d);
  CHECK(d.empty());  // a moved-from deque is empty
  for (int i = 0; i != 200; ++i) CHECK(*e.pop_back() == i);
  CHECK_FALSE(e.try_pop_back());
}

TEMPLATE_TEST_CASE("an exception changes no version", "", safe_element, brittle_element) {
  using queue = tiny<TestType>;
  auto const seed = GENERATE(range(0u, 12u));
  TestType::births = TestType::deaths = 0;
  {
    auto const original = some_deque<queue>(seed);
    auto const before = elements(original);

    /// Makes each fallible step of `change` fail in turn.
    auto const fails_cleanly = [&](auto change) {
      for (long n = 0;; ++n) {
        queue d = original;
        if (n % 2 == 0 && !before.empty()) {  // every other time in chunks of its own
          d = queue();
          for (int const e : before) d.push_back(e);
        }
        failures::after(n);
        try {
          change(d);
          failures::none();
          return;
        } catch (planned_failure const&) {
          failures::none();
          REQUIRE(elements(d) == before);
        }
        REQUIRE(elements(original) == before);
      }
    };

    fails_cleanly([](queue& d) { d.push_front(1); });
    fails_cleanly([](queue& d) { d.emplace_back(1); });
    fails_cleanly([](queue& d) { d.try_pop_front(); });
    fails_cleanly([](queue& d) { d.try_pop_back(); });
    fails_cleanly([](queue& d) { (void)d.split_at(d.size() / 2); });
    fails_cleanly([](queue& d) { (void)d.concat(d); });
    fails_cleanly([](queue& d) { (void)d.popped_front(); });
    fails_cleanly([](queue& d) { (void)std::move(d).popped_front(); });
    fails_cleanly([](queue& d) { (void)std::move(d).popped_back(); });
    if (!before.empty()) {
      fails_cleanly([](queue& d) { d.pop_back(); });
      fails_cleanly([](queue& d) { d.push_back(d.front()); });
      fails_cleanly([](queue& d) { d = std::move(d).set(d.size() / 2, 1); });
    }
  }
  CHECK(TestType::births == TestType::deaths);
  CHECK(fallible_memory::blocks == 0);
}

TEST_CASE("an rvalue whose push fails keeps its value") {
  tiny<safe_element> d{1, 2, 3, 4, 5, 6, 7, 8};
  safe_element e = 9;
  failures::after(0);
  CHECK_THROWS_AS(d.push_back(std::move(e)), planned_failure);
  failures::none();
  CHECK(e.value() == 9);  // it has not been moved from
}

namespace {
/// Counts that run `meanwhile` after one of the looks whether there is one owner, as another thread
/// could.
struct interrupted_counts : atomic_counts {
  static inline std::function<void()> meanwhile;
  static inline int looks_before = -1;
  class owners : public atomic_counts::owners {
   public:
    [[nodiscard]] bool only_one() const noexcept {
      bool const is_only = atomic_counts::owners::only_one();
      if (looks_before >= 0 && looks_before-- == 0) meanwhile();
      return is_only;
    }
  };
};
}  // namespace

TEST_CASE("another version may be destroyed at any moment of a push or a pop") {
  bool const at_front = GENERATE(false, true);
  bool const is_push = GENERATE(false, true);
  using queue = persistent_deque<std::string, deque_policy<interrupted_counts>>;
  auto const push = [&](auto& to, char c) {
    std::string const text(40, c);
    at_front ? to.push_front(text) : to.push_back(text);
  };
  for (int looks = 0; looks != 8; ++looks) {
    queue d;
    std::deque<std::string> model;
    for (char const c : {'a', 'b'}) {
      push(d, c);
      push(model, c);
    }
    queue other = d;
    push(other, 'c');
    interrupted_counts::meanwhile = [&] { other.clear(); };
    interrupted_counts::looks_before = looks;
    if (is_push) {
      push(d, 'd');
      interrupted_counts::looks_before = -1;
      push(model, 'd');
    } else {
      (void)(at_front ? d.pop_front() : d.pop_back());
      interrupted_counts::looks_before = -1;
      at_front ? model.pop_front() : model.pop_back();
    }
    CHECK(std::ranges::equal(d, model));
  }
}

TEST_CASE("over-aligned elements are aligned") {
  using wide = tracked<moves::safely, 128>;  // aborts if misaligned
  persistent_deque<wide> d;
  for (int i = 0; i != 100; ++i) d.push_back(i);
  auto const snapshot = d;
  for (int i = 0; i != 100; ++i) CHECK(d.pop_front().value() == i);
  CHECK(snapshot.size() == 100);
}

TEST_CASE("a million elements are destroyed on a stack of 256 KB") {
  using queue = persistent_deque<safe_element>;
  safe_element::births = safe_element::deaths = 0;
  on_small_stack(256 * 1024, [] {
    queue d;
    std::vector<queue> versions;
    for (int i = 0; i != 1'000'000; ++i) {
      d.push_back(i);
      if (i % 50'000 == 0) versions.push_back(d);
    }
  });
  CHECK(safe_element::births >= 1'000'000);
  CHECK(safe_element::births == safe_element::deaths);
}

TEST_CASE("rotate_in_place() gives the result of a push at the front and a pop at the back") {
  using weft::persistent_deque;
  for (int const n : {0, 1, 2, 7, 8, 33, 100, 1000}) {
    persistent_deque<int> queue;
    std::deque<int> model;
    for (int i = 0; i != n; ++i) {
      queue.push_front(i);
      model.push_front(i);
    }
    int in_place = 0;
    for (int step = 0; step != 500; ++step) {
      model.push_front(1000 + step);
      int const expected = model.back();
      model.pop_back();
      int got;
      if (queue.can_rotate_in_place()) {
        ++in_place;
        got = queue.rotate_in_place(1000 + step);
      } else {
        queue.push_front(1000 + step);
        got = queue.pop_back();
      }
      REQUIRE(got == expected);
      REQUIRE(std::ranges::equal(queue, model));
    }
    CHECK(in_place >= (n == 0 ? 0 : 250));
  }
}

TEST_CASE("pushes and pops in place give the result of others, and leave other versions alone") {
  using weft::persistent_deque;
  persistent_deque<int> queue;
  persistent_deque<int> snapshot;
  std::deque<int> model;
  std::deque<int> model_of_snapshot;
  unsigned random = 1;
  int in_place = 0;
  for (int step = 0; step != 20'000; ++step) {
    random = random * 1664525 + 1013904223;
    bool const is_growing = step / 500 % 2 == 0;
    if (model.empty() || random >> 24 < (is_growing ? 160U : 96U)) {
      model.push_front(step);
      if (queue.emplace_front_in_place(step))
        ++in_place;
      else
        queue.push_front(step);
    } else {
      int got = -1;
      if (queue.take_back_in_place([&](int& last) { got = last; }))
        ++in_place;
      else
        got = queue.pop_back();
      REQUIRE(got == model.back());
      model.pop_back();
    }
    if (step % 97 == 0) {
      REQUIRE(std::ranges::equal(snapshot, model_of_snapshot));
      snapshot = queue;
      model_of_snapshot = model;
    }
    if (step % 50 == 0) REQUIRE(std::ranges::equal(queue, model));
  }
  CHECK(in_place > 5'000);
}

TEST_CASE("rotations() says how often a deque can rotate without another look") {
  for (int const n : {1, 2, 7, 8, 33, 64, 100, 1000}) {
    weft::persistent_deque<int> queue;
    std::deque<int> model;
    for (int i = 0; i != n; ++i) {
      queue.push_front(i);
      model.push_front(i);
    }
    int next = n;
    std::size_t in_place = 0;
    for (int round = 0; round != 300; ++round) {
      std::size_t const promised = queue.rotations();
      CHECK((promised != 0) == queue.can_rotate_in_place());
      for (std::size_t i = 0; i != promised; ++i, ++next) {
        model.push_front(next);
        REQUIRE(queue.rotate_in_place(next) == model.back());
        model.pop_back();
      }
      in_place += promised;
      REQUIRE(std::ranges::equal(queue, model));
      queue.push_front(next);
      model.push_front(next++);
      REQUIRE(queue.pop_back() == model.back());
      model.pop_back();
    }
    CHECK(in_place >= 300);
  }
}

TEST_CASE("a deque that shares its elements with another version does not rotate in place") {
  weft::persistent_deque<int> queue;
  queue.push_front(1);
  queue.push_front(2);
  CHECK(queue.can_rotate_in_place());
  auto const snapshot = queue;
  CHECK_FALSE(queue.can_rotate_in_place());
  CHECK_FALSE(snapshot.can_rotate_in_place());
  CHECK(queue.rotations() == 0);
}
