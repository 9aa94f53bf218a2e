// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/queue_threads.hpp"

/// The laws of sched/base/backend.hpp for several workers, each on a thread, and of
/// concurrent_backend.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

using sharing_2 = sharing_among<2>;
using sharing_8 = sharing_among<8>;
using stealing_2 = stealing_among<2>;
using stealing_8 = stealing_among<8>;
static_assert(concurrent_backend<sharing_2> && concurrent_backend<stealing_2>);

/// Runs f(worker, its number) for each worker, on a thread of its own, once all have started.
template <class Backend, class F>
void on_workers(Backend& b, F f) {
  std::atomic<unsigned> here = 0;
  on_threads(b.threads(), [&](unsigned me) {
    typename Backend::worker w(b, me);
    ++here;
    while (here != b.threads()) std::this_thread::yield();
    f(w, me);
  });
}
/// Takes and calls f(thunk) until a take is empty; returns its reason.
template <class Worker, class F>
thunk::reason until_nothing(Worker& w, quiescence_test quiescent, F f) {
  for (;;) {
    thunk t = w.take(instant::max(), quiescent);
    if (!t) return t.why_empty();
    f(std::move(t));
  }
}

TEMPLATE_TEST_CASE("each put is answered by one take, and all workers end when nothing is left", "",
                   sharing_2, sharing_8, stealing_2, stealing_8) {
  every_frame_dies const check;
  constexpr std::uint64_t n = 2000;
  int wrong = 0;
  for (unsigned round = 0; round != 30; ++round) {
    TestType b;
    std::vector<int> times(n);              // no atomics: each entry belongs to one thread
    std::vector<std::uint64_t> written(n);  // BACKEND-1
    std::atomic<std::uint64_t> left = n - 1;
    std::vector<int> bad(b.threads());
    written[1] = 1;
    b.put(numbered<TestType>(1), put_reason::started);
    on_workers(b, [&](auto& w, unsigned me) {
      dice random(round * 8 + me);
      auto const why_not = until_nothing(w, quiescence_test(), [&](thunk const& t) {
        std::uint64_t const i = t.answer();
        ++times[i];
        bad[me] += written[i] != i;
        for (std::uint64_t child = 2 * i; child != 2 * i + 2 && child < n; ++child) {
          written[child] = child;
          switch (random(3)) {
            case 0:
              b.put(numbered<TestType>(child), put_reason::woken);
              break;
            case 1:
              w.put(numbered<TestType>(child), put_reason::started);
              break;
            case 2:
              w.put(numbered<TestType>(child), put_reason::yielded);
              break;
          }
        }
        --left;
      });
      bad[me] += why_not != thunk::reason::quiescent || left != 0;
      // And it stays quiescent.
      bad[me] += w.take(instant::max(), quiescence_test()).why_empty() != thunk::reason::quiescent;
    });
    for (int const x : bad) wrong += x;
    for (std::uint64_t i = 1; i != n; ++i) wrong += times[i] != 1;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("processes that yield back and forth are each held by one worker at a time", "",
                   sharing_2, sharing_8, stealing_2, stealing_8) {
  every_frame_dies const check;
  constexpr std::size_t n = 100;
  constexpr std::uint64_t steps = 400;
  TestType b;
  std::vector<std::uint64_t> taken(n);  // no atomics: each entry belongs to the process's holder
  std::vector<int> bad(b.threads());
  for (std::size_t i = 0; i != n; ++i) b.put(numbered<TestType>(i), put_reason::started);
  on_workers(b, [&](auto& w, unsigned me) {
    bad[me] += until_nothing(w, quiescence_test(), [&](thunk t) {
                 while (++taken[t.answer()] != steps) {
                   if (!w.can_exchange()) return w.put(std::move(t), put_reason::yielded);
                   t = w.exchange(std::move(t));
                 }
               }) != thunk::reason::quiescent;
  });
  for (int const x : bad) CHECK(x == 0);
  CHECK(taken == std::vector<std::uint64_t>(n, steps));
}

/// Events that are due from outside.  A put counts its event off in the same step.
class due_things {
 public:
  explicit due_things(int n) : left_(n) {}
  template <class F>
  void one(F put) {
    std::lock_guard const lock(mutex_);
    put();
    --left_;
  }
  [[nodiscard]] quiescence_test quiescence() {
    return {[](void const* p) {
              auto& it = *static_cast<due_things*>(const_cast<void*>(p));
              std::lock_guard const lock(it.mutex_);
              ++it.asked_;
              return it.left_ == 0;
            },
            this};
  }
  [[nodiscard]] int times_asked() {
    std::lock_guard const lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  int left_;
  int asked_ = 0;
};

std::uint64_t sum_of(std::vector<std::uint64_t> const& v) {
  return std::accumulate(v.begin(), v.end(), std::uint64_t{0});
}

TEMPLATE_TEST_CASE("workers that are created before the first put wait for it, if something is due",
                   "", sharing_alone, sharing_2, sharing_8, stealing_alone, stealing_2,
                   stealing_8) {
  every_frame_dies const check;
  constexpr int senders = 2;
  constexpr int each = 20;
  int wrong = 0;
  for (unsigned round = 0; round != 100; ++round) {
    TestType b;
    due_things due(senders * each);
    std::vector<std::uint64_t> got(b.threads());
    std::vector<int> bad(b.threads());
    std::thread outside([&] {
      while (round % 2 == 0 && due.times_asked() == 0) std::this_thread::yield();  // all are idle
      on_threads(senders, [&](unsigned) {
        for (int i = 0; i != each; ++i)
          due.one([&] { b.put(numbered<TestType>(1), put_reason::woken); });
      });
    });
    on_workers(b, [&](auto& w, unsigned me) {
      bad[me] += until_nothing(w, due.quiescence(), [&](thunk const& t) {
                   got[me] += t.answer();
                 }) != thunk::reason::quiescent;
    });
    outside.join();
    for (int const x : bad) wrong += x;
    wrong += sum_of(got) != senders * each;
  }
  CHECK(wrong == 0);
}

instant const passed{};  // long ago

TEMPLATE_TEST_CASE(
    "a worker that is created during another worker's quiescence test may still put work", "",
    sharing_2, stealing_2) {
  every_frame_dies const check;
  TestType b;
  using worker = typename TestType::worker;
  worker first(b, 0);
  struct coming {
    TestType& b;
    std::optional<worker> second;
  } c{b, std::nullopt};
  auto const comes = [](void const* p) {
    auto& it = *static_cast<coming*>(const_cast<void*>(p));
    if (!it.second) it.second.emplace(it.b, 1u);  // with work that it got from outside
    return true;
  };
  thunk const t = first.take(passed, quiescence_test(comes, &c));
  REQUIRE_FALSE(t);
  CHECK(t.why_empty() == thunk::reason::deadline);
  c.second->put(numbered<TestType>(7), put_reason::started);
  thunk const own = c.second->take(passed, quiescence_test());
  REQUIRE(own);
  CHECK(own.answer() == 7);
}

TEMPLATE_TEST_CASE("a put from outside wakes a sleeping worker, whenever it comes", "",
                   sharing_alone, sharing_2, sharing_8, stealing_alone, stealing_2, stealing_8) {
  every_frame_dies const check;
  TestType b;
  // A million sleeps with the three of sharing; stealing uses the same list of sleeping workers.
  int const each = std::derived_from<TestType, sharing> ? 1000 : 200;
  int const sleeps = (sanitized ? 10 : each) * (b.threads() == 1   ? 600
                                                : b.threads() == 2 ? 300
                                                                   : 100);
  // With more threads than processors they seldom all sleep.
  int const most_puts = 500 * each;
  due_things due(1);
  std::atomic<int> taken = 0;
  std::atomic<int> puts = 0;
  std::vector<int> bad(b.threads());
  std::thread outside([&] {
    dice random(0);
    while (due.times_asked() < sleeps && puts < most_puts) {
      b.put(numbered<TestType>(0), put_reason::woken);
      ++puts;
      while (taken != puts) std::this_thread::yield();  // for ever, if a wake-up is lost
      // Long enough that the workers fall asleep, or nearly.
      std::atomic<unsigned> n = random(2) == 0 ? 0 : random(3000);
      while (n != 0) --n;
    }
    due.one([&] { b.put(numbered<TestType>(0), put_reason::woken); });
    ++puts;
  });
  on_workers(b, [&](auto& w, unsigned me) {
    bad[me] += until_nothing(w, due.quiescence(), [&](thunk const&) { ++taken; }) !=
               thunk::reason::quiescent;
  });
  outside.join();
  CHECK(taken == puts);
  for (int const x : bad) CHECK(x == 0);
}

TEMPLATE_TEST_CASE(
    "stop wakes sleeping workers, ends the others, and take says that it was stopped", "",
    sharing_2, sharing_8, stealing_2, stealing_8) {
  every_frame_dies const check;
  int wrong = 0;
  for (int round = 0; round != 100; ++round) {
    TestType b;
    due_things due(1);
    std::vector<int> bad(b.threads());
    std::atomic<int> steps = 0;
    // One process runs for ever.
    if (round % 2 == 1) b.put(numbered<TestType>(0), put_reason::started);
    std::thread outside([&] {
      if (round % 2 == 0)
        while (due.times_asked() == 0) std::this_thread::yield();
      else
        while (steps < 100) std::this_thread::yield();
      b.stop();
    });
    on_workers(b, [&](auto& w, unsigned me) {
      auto const why_not = until_nothing(w, due.quiescence(), [&](thunk t) {
        ++steps;
        w.put(std::move(t), put_reason::yielded);
      });
      bad[me] += why_not != thunk::reason::stopped;
      bad[me] += w.take(instant::max(), due.quiescence()).why_empty() != thunk::reason::stopped;
    });
    outside.join();
    for (int const x : bad) wrong += x;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a claim and a take never both get the same process", "", sharing_2, sharing_8) {
  every_frame_dies const check;
  constexpr std::size_t n = 50;
  constexpr int steps = 300;
  int wrong = 0;
  for (unsigned round = 0; round != 10; ++round) {
    TestType b;
    std::vector<process*> processes(n);
    std::vector<thunk> kept;  // so that a claim does not touch a destroyed process
    std::vector<int> had(n);  // no atomics: each entry belongs to the process's holder
    std::vector<int> claims(b.threads());
    std::vector<int> bad(b.threads());
    for (std::size_t i = 0; i != n; ++i) {
      thunk t = numbered<TestType>(i);
      processes[i] = t.get();
      kept.push_back(t);
      b.put(std::move(t), put_reason::started);
    }
    on_workers(b, [&](auto& w, unsigned me) {
      dice random(round * 8 + me);
      auto const why_not = until_nothing(w, quiescence_test(), [&](thunk t) {
        std::size_t i = t.answer();
        for (;;) {
          if (++had[i] < steps) w.put(thunk(t.release(), i), put_reason::yielded);
          std::size_t const other = random(n);
          t = b.claim(processes[other]);
          if (!t) return;
          ++claims[me];
          i = t.answer();
          if (i != other) ++bad[me];
        }
      });
      bad[me] += why_not != thunk::reason::quiescent;
    });
    for (int const x : bad) wrong += x;
    for (int const x : had) wrong += x != steps;
    wrong += std::ranges::count(claims, 0) == static_cast<std::ptrdiff_t>(claims.size());
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE(
    "a process that is put while it is about to wait runs once it waits, on any thread", "",
    sharing_2, sharing_8, stealing_2, stealing_8) {
  every_frame_dies const check;
  constexpr int rounds = 2000;
  TestType b;
  std::optional<thunk> t(numbered<TestType>(0));  // of the process's holder
  process& p = *t->get();
  std::atomic<int> can_be_found = -1;
  std::atomic<int> was_taken = -1;
  int written = -1;  // no atomic: a take sees the writes before the wait (WAITER-3)
  int wrong = 0;
  due_things due(1);
  std::thread other([&] {
    for (int i = 0; i != rounds; ++i) {
      while (can_be_found != i) std::this_thread::yield();
      // The answer says how often the process was put: a take sees that too.
      b.put(thunk(&p, static_cast<std::uint64_t>(i + 1)), put_reason::woken);
    }
    while (was_taken != rounds) std::this_thread::yield();
    due.one([&] { b.put(numbered<TestType>(rounds + 1), put_reason::woken); });
  });
  b.put(std::move(*t), put_reason::started);
  std::vector<int> bad(b.threads());
  on_workers(b, [&](auto& w, unsigned me) {
    bad[me] += until_nothing(w, due.quiescence(), [&](thunk got) {
                 auto const i = static_cast<int>(got.answer());
                 if (i == rounds + 1) return;
                 bad[me] += got.get() != &p || written != i - 1;
                 if (i == rounds) {
                   was_taken = i;
                   return;
                 }
                 (void)got.release();
                 w.on_wait_begin(p);
                 can_be_found = i;
                 if (i % 3 == 0) std::this_thread::yield();
                 written = i;
                 w.on_waiting(p, wait_kind::other);
               }) != thunk::reason::quiescent;
  });
  other.join();
  for (int const x : bad) wrong += x;
  CHECK(wrong == 0);
  CHECK(written == rounds - 1);
}

TEMPLATE_TEST_CASE(
    "a worker that is handed a process about to wait continues with it once it waits", "",
    sharing_2, stealing_2) {
  every_frame_dies const check;
  constexpr int rounds = 2000;
  TestType b;
  thunk const t = numbered<TestType>(0);
  process& p = *t.get();
  std::atomic<int> can_be_found = -1;
  std::atomic<int> had = -1;
  int written = -1;  // no atomic: as above
  std::vector<int> bad(2);
  {
    typename TestType::worker first(b, 0);
    first.put(thunk(t), put_reason::started);
    (void)first.take(instant::max(), quiescence_test()).release();  // it runs
  }
  on_workers(b, [&](auto& w, unsigned me) {
    for (int i = 0; i != rounds; ++i)
      if (me == static_cast<unsigned>(i) % 2) {
        w.on_wait_begin(p);
        can_be_found = i;
        if (i % 3 == 0) std::this_thread::yield();
        written = i;
        w.on_waiting(p, wait_kind::mail);
        while (had != i) std::this_thread::yield();
      } else {
        while (can_be_found != i) std::this_thread::yield();
        w.on_handover(p);
        bad[me] += written != i;
        had = i;
      }
  });
  p.release();
  CHECK(bad == std::vector<int>(2));
}

TEMPLATE_TEST_CASE("a process whose wait is cancelled before it begins is put as before", "",
                   sharing_alone, sharing_2, stealing_alone, stealing_2) {
  every_frame_dies const check;
  TestType b;
  typename TestType::worker w(b, 0);
  w.put(numbered<TestType>(3), put_reason::started);
  thunk t = w.take(instant::max(), quiescence_test());
  process& p = *t.get();
  w.on_wait_begin(p);
  w.on_wait_cancelled(p);
  CHECK_FALSE(b.claim(&p));
  w.put(std::move(t), put_reason::yielded);
  thunk const again = w.take(instant::max(), quiescence_test());
  CHECK(again.get() == &p);
}
