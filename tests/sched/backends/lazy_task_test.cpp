// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The laws of lazy tasks (BACKEND-6 and BACKEND-7 of sched/base/backend.hpp), for every backend
/// that keeps them.

template <class Backend>
class numbered_lazy_task final : public lazy_task {
 public:
  explicit numbered_lazy_task(std::uint64_t n) : number(n) {}
  thunk promote() noexcept override {
    ++begun;
    if (when_begun) when_begun();
    return fails ? thunk(thunk::reason::quiescent) : numbered<Backend>(number);
  }
  std::uint64_t const number;
  int begun = 0;
  bool fails = false;
  std::function<void()> when_begun;
};

template <class Backend>
std::vector<std::unique_ptr<numbered_lazy_task<Backend>>> lazy_tasks(std::uint64_t n) {
  std::vector<std::unique_ptr<numbered_lazy_task<Backend>>> all;
  for (std::uint64_t i = 0; i != n; ++i)
    all.push_back(std::make_unique<numbered_lazy_task<Backend>>(i));
  return all;
}

/// Pushes n tasks from number `from` on, and announces none.
template <class Worker, class Offers>
lazy_push put_silently(Worker& w, Offers const& all, std::size_t from, std::size_t n) {
  return w.push_lazy(
      n, [at = all.begin() + static_cast<std::ptrdiff_t>(from)]() mutable -> lazy_task* {
        return (at++)->get();
      });
}

/// Takes until nothing comes.  Returns the numbers, in their order.
template <class Worker>
std::vector<std::uint64_t> all_from(Worker& w) {
  std::vector<std::uint64_t> all;
  for (;;) {
    thunk const t = w.take(instant::max(), quiescence_test());
    if (!t) return all;
    all.push_back(t.answer());
  }
}

TEMPLATE_TEST_CASE("a lazy task is reclaimed, the newest first, and no process is made", "",
                   one_thread, sharing_alone, stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  auto const all = lazy_tasks<TestType>(1000);
  for (std::size_t i = 0; i != all.size(); i += 4) {
    w.reserve_lazy(4);
    REQUIRE(put_silently(w, all, i, 4) == lazy_push::done);
  }
  for (std::size_t i = all.size(); i-- != 0;) REQUIRE(w.reclaim() == all[i].get());
  CHECK(w.reclaim() == nullptr);
  CHECK(all_from(w).empty());
  CHECK(std::ranges::all_of(all, [](auto const& o) { return o->begun == 0; }));
}

template <class Worker>
void put(Worker& w, lazy_task& o) {
  detail::push_lazy_tasks(w, 1, [&] { return &o; });
}

TEMPLATE_TEST_CASE("each lazy task is either reclaimed or promoted by a take, once", "", one_thread,
                   sharing_alone, stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  auto const all = lazy_tasks<TestType>(3000);
  std::vector<std::uint64_t> seen;
  for (std::size_t i = 0; i != all.size(); ++i) {
    put(w, *all[i]);
    if (i % 3 == 0)
      if (auto const* const o = static_cast<numbered_lazy_task<TestType>*>(w.reclaim()))
        seen.push_back(o->number);
    if (i % 7 == 1)  // then there is one
      if (thunk const t = w.take(instant::max(), quiescence_test())) seen.push_back(t.answer());
  }
  auto const rest = all_from(w);
  seen.insert(seen.end(), rest.begin(), rest.end());
  std::ranges::sort(seen);
  bool each_once = seen.size() == all.size();
  for (std::size_t i = 0; i != seen.size(); ++i) each_once &= seen[i] == i;
  CHECK(each_once);
  CHECK(std::ranges::all_of(all, [](auto const& o) { return o->begun <= 1; }));
}

TEMPLATE_TEST_CASE(
    "a take promotes the worker's own lazy tasks, the oldest first, behind the ready processes", "",
    one_thread, sharing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  auto const all = lazy_tasks<TestType>(3);
  w.put(numbered<TestType>(10), put_reason::yielded);
  for (auto const& o : all) put(w, *o);
  CHECK(all_from(w) == std::vector<std::uint64_t>{10, 0, 1, 2});
}

TEST_CASE("a stealing worker promotes its own newest lazy task when its deque is empty") {
  every_frame_dies const check;
  stealing_alone b;
  stealing::worker w(b, 0);
  auto const all = lazy_tasks<stealing>(3);
  w.put(numbered<stealing>(10), put_reason::yielded);
  w.put(numbered<stealing>(11), put_reason::started);
  for (auto const& o : all) put(w, *o);
  CHECK(all_from(w) == std::vector<std::uint64_t>{11, 2, 1, 0, 10});
}

TEMPLATE_TEST_CASE("another worker takes the oldest lazy task", "", sharing_among<2>,
                   stealing_among<2>) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker busy(b, 0);
  typename TestType::worker other(b, 1);
  auto const all = lazy_tasks<TestType>(4);
  for (auto const& o : all) put(busy, *o);
  CHECK(other.take(instant::max(), quiescence_test()).answer() == 0);
  CHECK(other.take(instant::max(), quiescence_test()).answer() == 1);
  CHECK(busy.reclaim() == all[3].get());
  CHECK(other.take(instant::max(), quiescence_test()).answer() == 2);
  CHECK(busy.reclaim() == nullptr);
}

TEMPLATE_TEST_CASE("another worker also takes lazy tasks that were not announced", "",
                   sharing_among<2>, stealing_among<2>) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker busy(b, 0);
  typename TestType::worker other(b, 1);
  auto const all = lazy_tasks<TestType>(2);
  busy.reserve_lazy(2);
  REQUIRE(put_silently(busy, all, 0, 2) == lazy_push::done);
  CHECK(other.take(instant::max(), quiescence_test()).answer() == 0);
  CHECK(busy.reclaim() == all[1].get());
}

TEMPLATE_TEST_CASE("of two lazy tasks that are pushed together two other threads take one each", "",
                   sharing_among<3>, stealing_among<3>) {
  every_frame_dies const check;
  constexpr std::uint64_t rounds = 200;
  TestType b;
  auto const all = lazy_tasks<TestType>(2 * rounds);
  std::barrier round(3);  // both have taken: so no thread takes two
  std::atomic<std::uint64_t> taken = 0;
  typename TestType::worker w(b, 0);
  std::vector<std::thread> others;
  for (unsigned i = 1; i != 3; ++i)
    others.emplace_back([&, i] {
      typename TestType::worker mine(b, i);
      round.arrive_and_wait();
      while (mine.take(instant::max(), quiescence_test())) {
        ++taken;
        round.arrive_and_wait();
      }
    });
  round.arrive_and_wait();
  for (std::uint64_t i = 0; i != rounds; ++i) {
    detail::push_lazy_tasks(w, 2,
                            [at = all.begin() + 2 * static_cast<std::ptrdiff_t>(i)]() mutable {
                              return static_cast<lazy_task*>((at++)->get());
                            });
    round.arrive_and_wait();
  }
  CHECK(!w.take(instant::max(), quiescence_test()));
  for (auto& t : others) t.join();
  CHECK(taken == 2 * rounds);
}

TEMPLATE_TEST_CASE("a lazy task that cannot be promoted is skipped", "", one_thread, sharing_alone,
                   stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  auto const all = lazy_tasks<TestType>(5);
  for (auto const& o : all) {
    o->fails = o->number % 2 == 0;
    put(w, *o);
  }
  auto seen = all_from(w);
  std::ranges::sort(seen);
  CHECK(seen == std::vector<std::uint64_t>{1, 3});
  CHECK(std::ranges::all_of(all, [](auto const& o) { return o->begun == 1; }));
}

TEMPLATE_TEST_CASE(
    "lazy tasks that are pushed while others are promoted are promoted as well, once", "",
    one_thread, sharing_alone, stealing_alone) {
  every_frame_dies const check;
  auto const all = lazy_tasks<TestType>(40);
  bool has_worker = true;
  {
    TestType b;
    std::optional<typename TestType::worker> place(std::in_place, b, 0);
    auto& w = *place;
    for (std::size_t i = 0; i != 20; ++i)
      all[i]->when_begun = [&, i] {
        if (has_worker) return put(w, *all[20 + i]);
        static_cast<void>(all[20 + i]->promote());  // the backend promotes what is left
      };
    for (std::size_t i = 0; i != 10; ++i) put(w, *all[i]);
    auto seen = all_from(w);
    std::ranges::sort(seen);
    CHECK(seen.size() == 20);
    CHECK(std::ranges::count_if(seen, [](auto n) { return n < 20; }) == 10);
    // These are left when the worker is destroyed.
    for (std::size_t i = 10; i != 20; ++i) put(w, *all[i]);
    place.reset();
    has_worker = false;
  }
  CHECK(std::ranges::all_of(all, [](auto const& o) { return o->begun == 1; }));
}

TEMPLATE_TEST_CASE("lazy tasks that are left when a backend is destroyed are promoted, and dropped",
                   "", one_thread, sharing_alone, stealing_alone) {
  every_frame_dies const check;
  auto const all = lazy_tasks<TestType>(5);
  {
    TestType b;
    typename TestType::worker w(b, 0);
    for (auto const& o : all) put(w, *o);
  }
  CHECK(std::ranges::all_of(all, [](auto const& o) { return o->begun == 1; }));
}

TEMPLATE_TEST_CASE("while one thread pushes and reclaims, others take, and no lazy task is lost",
                   "", sharing_among<3>, stealing_among<3>) {
  every_frame_dies const check;
  constexpr std::uint64_t many = 20'000;
  TestType b;
  auto const all = lazy_tasks<TestType>(many);
  std::vector<std::atomic<int>> seen(many);
  std::atomic<std::uint64_t> left = many;
  auto const take_all = [&](typename TestType::worker& w) {
    for (;;) {
      thunk const t = w.take(instant::max(), quiescence_test());
      if (!t) return;
      ++seen[t.answer()];
      --left;
    }
  };
  typename TestType::worker w(b, 0);
  std::vector<std::thread> others;
  std::latch begun(3);
  for (unsigned i = 1; i != 3; ++i)
    others.emplace_back([&, i] {
      typename TestType::worker mine(b, i);
      begun.arrive_and_wait();
      take_all(mine);
    });
  begun.arrive_and_wait();
  for (std::uint64_t i = 0; i != many; ++i) {
    put(w, *all[i]);
    if (i % 4 == 3)
      for (int n = 0; n != 3; ++n)
        if (auto const* const o = static_cast<numbered_lazy_task<TestType>*>(w.reclaim())) {
          ++seen[o->number];
          --left;
        }
  }
  take_all(w);
  for (auto& t : others) t.join();
  CHECK(left == 0);
  CHECK(std::ranges::all_of(seen, [](auto const& n) { return n == 1; }));
}
