// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/testing/detail/every_schedule.hpp"

/// The laws of sched/base/backend.hpp, for every backend, with one worker.

/// The backend that explore uses, in the first of all schedules.
class first_schedule {
 public:
  static constexpr unsigned wakes = weft::detail::controlled_backend::wakes;

  class worker : public weft::detail::controlled_backend::worker {
   public:
    worker(first_schedule& home, unsigned index)
        : weft::detail::controlled_backend::worker(home.backend_, index) {}
  };
  void put(thunk&& t, put_reason w) { backend_.put(std::move(t), w); }
  thunk claim(process* p) noexcept { return backend_.claim(p); }
  void stop() { backend_.stop(); }

 private:
  weft::detail::every_schedule choices_{{}};
  weft::detail::run_log log_;
  weft::detail::controlled_backend backend_{choices_, log_, {1'000'000, granularity::cooperative}};
};
static_assert(backend<first_schedule>);

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> v) {
  std::ranges::sort(v);
  return v;
}
std::vector<std::uint64_t> up_to(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  for (std::uint64_t i = 0; i != n; ++i) all[i] = i;
  return all;
}

TEMPLATE_TEST_CASE("each put is answered by one take", "", one_thread, locked_queue, locked_stack,
                   first_schedule, random_order, sharing_alone, stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  std::vector<process*> processes;
  for (std::uint64_t n = 0; n != 1000; ++n) {
    thunk t = numbered<TestType>(n);
    processes.push_back(t.get());
    if (n % 3 == 0)
      b.put(std::move(t), put_reason::woken);
    else
      w.put(std::move(t), n % 3 == 1 ? put_reason::started : put_reason::yielded);
  }
  std::vector<std::uint64_t> all;
  bool same = true;
  for (;;) {
    thunk const t = w.take(instant::max(), quiescence_test());
    if (!t) break;
    same &= t.get() == processes[t.answer()];
    all.push_back(t.answer());
  }
  CHECK(same);
  CHECK(sorted(all) == up_to(1000));
}

instant const passed{};  // long ago

/// Takes until nothing comes.  Returns the numbers, in their order, and the reason of the empty
/// take.
template <class Worker>
std::pair<std::vector<std::uint64_t>, thunk::reason> all_from(
    Worker& w, quiescence_test quiescent = quiescence_test()) {
  std::vector<std::uint64_t> all;
  for (;;) {
    thunk const t = w.take(instant::max(), quiescent);
    if (!t) return {all, t.why_empty()};
    all.push_back(t.answer());
  }
}

TEMPLATE_TEST_CASE("alternating takes and puts lose no thunk and return none twice", "", one_thread,
                   locked_queue, locked_stack, first_schedule, random_order, sharing_alone,
                   stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  std::vector<std::uint64_t> all;
  std::uint64_t n = 0;
  for (unsigned round = 0; round != 500; ++round) {
    for (unsigned i = 0; i != round % 7; ++i)
      w.put(numbered<TestType>(n++), put_reason::handed_over);
    for (unsigned i = 0; i != round % 3; ++i) b.put(numbered<TestType>(n++), put_reason::woken);
    for (unsigned i = 0; i != round % 5; ++i)
      if (thunk const t = w.take(passed, quiescence_test())) all.push_back(t.answer());
  }
  auto const [rest, why] = all_from(w);
  all.insert(all.end(), rest.begin(), rest.end());
  CHECK(sorted(all) == up_to(n));
  CHECK(why == thunk::reason::quiescent);
}

instant const far = instant::max() - std::chrono::hours(24);  // still a deadline

/// Threads that put, counted while they are not done.
struct putters {
  std::atomic<int> left;
  static bool are_done(void const* p) { return static_cast<putters const*>(p)->left == 0; }
  [[nodiscard]] quiescence_test quiescence() const { return {are_done, this}; }
};

TEMPLATE_TEST_CASE("puts of other threads reach the worker, with all writes before them", "",
                   one_thread, locked_queue, locked_stack, first_schedule, random_order,
                   sharing_alone, stealing_alone) {
  every_frame_dies const check;
  constexpr std::uint64_t each = 2000;
  constexpr int threads = 3;
  TestType b;
  typename TestType::worker w(b, 0);
  std::vector<std::uint64_t> written(each * threads);
  putters p{threads};
  std::vector<std::thread> running;
  for (int i = 0; i != threads; ++i)
    running.emplace_back([&b, &written, &p, first = each * static_cast<std::uint64_t>(i)] {
      for (std::uint64_t n = first; n != first + each; ++n) {
        written[n] = n + 1;  // no atomic: BACKEND-1
        b.put(numbered<TestType>(n), put_reason::woken);
      }
      --p.left;
    });
  std::vector<std::uint64_t> all;
  bool seen = true;
  for (;;) {
    thunk const t = w.take(far, p.quiescence());
    if (!t && t.why_empty() == thunk::reason::quiescent) break;
    if (!t) continue;
    seen &= written[t.answer()] == t.answer() + 1;
    all.push_back(t.answer());
    if (all.size() == each * threads) break;  // a decrement after the last put wakes no worker
  }
  for (auto& t : running) t.join();
  CHECK(seen);
  CHECK(sorted(all) == up_to(each * threads));
  CHECK(all_from(w, p.quiescence()).second == thunk::reason::quiescent);
}

/// Runs `act` on another thread when the worker has asked whether anything is due: the worker is
/// about to park, or has parked.
class when_it_parks {
 public:
  explicit when_it_parks(std::function<void()> act)
      : thread_([this, f = std::move(act)] {
          asked_.acquire();
          f();
        }) {}
  ~when_it_parks() { thread_.join(); }
  [[nodiscard]] quiescence_test quiescence() { return {ask, this}; }

 private:
  static bool ask(void const* p) {
    auto& it = *static_cast<when_it_parks*>(const_cast<void*>(p));
    if (!it.was_asked_) it.asked_.release();
    it.was_asked_ = true;
    return false;
  }
  std::binary_semaphore asked_{0};
  bool was_asked_ = false;  // written by the worker only
  std::thread thread_;
};

TEMPLATE_TEST_CASE(
    "a put from another thread wakes a worker that waits, with a deadline and without", "",
    one_thread, locked_queue, locked_stack, first_schedule, random_order, sharing_alone,
    stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  int wrong = 0;
  for (std::uint64_t round = 0; round != 300; ++round) {
    when_it_parks other([&b, round] { b.put(numbered<TestType>(round), put_reason::woken); });
    thunk const t = w.take(round % 2 == 0 ? far : instant::max(), other.quiescence());
    wrong += !t || t.answer() != round;
  }
  CHECK(wrong == 0);
}

bool due(void const*) { return false; }
quiescence_test const never_quiescent(due, nullptr);

TEMPLATE_TEST_CASE(
    "stop from another thread wakes a worker that waits, and take says that it was stopped", "",
    one_thread, locked_queue, locked_stack, first_schedule, random_order, sharing_alone,
    stealing_alone) {
  int wrong = 0;
  for (int round = 0; round != 100; ++round) {
    TestType b;
    typename TestType::worker w(b, 0);
    when_it_parks other([&b] { b.stop(); });
    thunk const t = w.take(round % 2 == 0 ? far : instant::max(), other.quiescence());
    wrong += t || t.why_empty() != thunk::reason::stopped;
    thunk const again = w.take(instant::max(), never_quiescent);
    wrong += again || again.why_empty() != thunk::reason::stopped;
  }
  CHECK(wrong == 0);
}

/// Prepares another take after a quiescent one: several workers must have been destroyed before.
template <class Backend>
void comes_again(std::optional<typename Backend::worker>& w, Backend& b) {
  if constexpr (concurrent_backend<Backend>) w.emplace(b, 0u);
}

TEMPLATE_TEST_CASE("take returns an empty thunk when quiescent or at the deadline, and says which",
                   "", one_thread, locked_queue, locked_stack, first_schedule, random_order,
                   sharing_alone, stealing_alone) {
  every_frame_dies const check;
  TestType b;
  std::optional<typename TestType::worker> w(std::in_place, b, 0u);
  auto const why_empty = [&](instant until, quiescence_test quiescent) {
    thunk const t = w->take(until, quiescent);
    if (!t && t.why_empty() == thunk::reason::quiescent) comes_again(w, b);
    return t ? std::nullopt : std::optional(t.why_empty());
  };
  CHECK(why_empty(instant::max(), quiescence_test()) == thunk::reason::quiescent);
  CHECK(why_empty(far, quiescence_test()) == thunk::reason::quiescent);
  CHECK(why_empty(passed, never_quiescent) == thunk::reason::deadline);

  w->put(numbered<TestType>(0), put_reason::started);
  CHECK_FALSE(why_empty(instant::max(), quiescence_test()).has_value());
  CHECK(why_empty(instant::max(), quiescence_test()) == thunk::reason::quiescent);
  b.put(numbered<TestType>(0), put_reason::woken);
  CHECK_FALSE(why_empty(passed, never_quiescent).has_value());
  CHECK(why_empty(passed, never_quiescent) == thunk::reason::deadline);
}

TEMPLATE_TEST_CASE("a thunk that is put from within the quiescence test is taken", "", one_thread,
                   locked_queue, locked_stack, first_schedule, random_order, sharing_alone,
                   stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  struct last_word {
    TestType& b;
    bool said = false;
  } last{b};
  auto const says = [](void const* p) {
    auto& it = *static_cast<last_word*>(const_cast<void*>(p));
    if (!std::exchange(it.said, true)) it.b.put(numbered<TestType>(7), put_reason::woken);
    return true;
  };
  thunk const t = w.take(instant::max(), quiescence_test(says, &last));
  REQUIRE(t);
  CHECK(t.answer() == 7);
}

TEMPLATE_TEST_CASE("claim returns only ready processes, and they are not taken any more", "",
                   one_thread, locked_queue, locked_stack, first_schedule, random_order,
                   sharing_alone, stealing_alone) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  std::vector<process*> processes;
  for (std::uint64_t n = 0; n != 100; ++n) {
    thunk t = numbered<TestType>(n);
    processes.push_back(t.get());
    w.put(std::move(t), put_reason::yielded);
  }
  thunk const stranger = numbered<TestType>(0);
  CHECK_FALSE(b.claim(stranger.get()));
  thunk const taken = w.take(instant::max(), quiescence_test());
  CHECK_FALSE(b.claim(taken.get()));

  std::vector<std::uint64_t> all{taken.answer()};
  std::vector<thunk> claimed;
  for (std::uint64_t n = 0; n < 100; n += 2)
    if (thunk t = b.claim(processes[n])) {
      all.push_back(t.answer());
      claimed.push_back(std::move(t));
    }
  for (auto const& t : claimed) CHECK_FALSE(b.claim(t.get()));
  auto const [rest, why] = all_from(w);
  all.insert(all.end(), rest.begin(), rest.end());
  CHECK(sorted(all) == up_to(100));
}

TEMPLATE_TEST_CASE(
    "thunks that are left when a backend is destroyed are dropped once, stopped or not", "",
    one_thread, locked_queue, locked_stack, first_schedule, random_order, sharing_alone,
    stealing_alone) {
  every_frame_dies const check;
  for (bool const stopped : {false, true}) {
    int const before = dropped::count;
    {
      TestType b;
      typename TestType::worker w(b, 0);
      for (std::uint64_t n = 0; n != 30; ++n) {
        w.put(numbered<TestType>(n), put_reason::started);
        b.put(numbered<TestType>(n), put_reason::woken);
      }
      (void)w.take(instant::max(), quiescence_test());
      if (stopped) {
        b.stop();
        thunk const t = w.take(instant::max(), quiescence_test());
        CHECK_FALSE(t);
      }
      b.put(numbered<TestType>(0), put_reason::woken);  // too late
      CHECK(dropped::count - before == 1);
    }
    CHECK(dropped::count - before == 61);
  }
}

TEMPLATE_TEST_CASE("a first-in, first-out backend runs the longest-waiting process first", "",
                   one_thread, locked_queue, sharing_alone) {
  TestType b;
  std::optional<typename TestType::worker> w(std::in_place, b, 0u);
  for (std::uint64_t n = 0; n != 2000; ++n) w->put(numbered<TestType>(n), put_reason::yielded);
  CHECK(all_from(*w).first == up_to(2000));
  comes_again(w, b);

  std::vector<std::uint64_t> all;  // each take is followed by a put
  for (std::uint64_t n = 0; n != 10; ++n) w->put(numbered<TestType>(n), put_reason::yielded);
  for (std::uint64_t n = 10; n != 100; ++n) {
    all.push_back(w->take(instant::max(), quiescence_test()).answer());
    w->put(numbered<TestType>(n), n % 2 == 0 ? put_reason::woken : put_reason::handed_over);
  }
  auto const [rest, why] = all_from(*w);
  all.insert(all.end(), rest.begin(), rest.end());
  CHECK(all == up_to(100));
}

TEST_CASE("thunks that another thread puts into one_thread keep their order") {
  one_thread b;
  one_thread::worker w(b, 0);
  std::thread([&b] {
    for (std::uint64_t n = 0; n != 1000; ++n) b.put(numbered(n), put_reason::woken);
  }).join();
  CHECK(all_from(w).first == up_to(1000));
}

TEST_CASE("a copy of the ready queue does not change when the backend does") {
  every_frame_dies const check;
  one_thread b;
  one_thread::worker w(b, 0);
  for (std::uint64_t n = 0; n != 1500; ++n) w.put(numbered(n), put_reason::yielded);
  auto const kept = w.ready();
  (void)w.take(instant::max(), quiescence_test());
  w.put(numbered(1500), put_reason::yielded);
  CHECK(all_from(w).first.size() == 1500);
  CHECK(kept.size() == 1500);
  w.ready(kept);
  CHECK(all_from(w).first == up_to(1500));
}
