// SPDX-License-Identifier: MIT

/// The source of each module.  The macro LIBRARY is the name of the one function that it exports.

#include "tests/shared_libraries/library.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weft/sched/base/decision.hpp"

namespace weft::tests {

static auto local_to_a_function() {
  struct own {
    int n;
  };
  return own{7};
}

namespace {

struct answers_with {
  static constexpr bool thread_safe = true;
  int with;
  int on(ask::get) const noexcept { return with; }
};
struct lets_resume : handler<ask> {
  explicit lets_resume(library const& l) noexcept : who(l) {}
  int on(ask::get, resumption<int, int> k) const { return who.resumes(std::move(k)); }
  library const& who;
};
struct keeps : region, handler<ask> {
  resumption<int, int> kept;
  int on(ask::get, resumption<int, int> k) {
    kept = std::move(k);
    return 0;
  }
};
struct tries_both : handler<pick> {
  eff<std::vector<int>> on(pick::one, multi_resumption<int, std::vector<int>> k) const {
    std::vector<int> found = co_await k(0);
    std::vector<int> const more = co_await k(1);
    found.insert(found.end(), more.begin(), more.end());
    co_return found;
  }
  std::vector<int> on_return(int n) const { return {n}; }
};
struct drops_the_rest : handler<pick> {
  int on(pick::one, resumption<int, int>) const { return -1; }
};

eff<int, ask> asks_once() { co_return co_await ask::get{}; }
eff<int> plus(int a, int b) { co_return a + b; }

/// Counts its destruction.
struct ends {
  explicit ends(int& n) noexcept : count(n) {}
  ends(ends const&) = delete;
  ends& operator=(ends const&) = delete;
  ~ends() { ++count; }
  int& count;
};

struct own {
  int n;
};

class the_library final : public library {
 public:
  eff<int, ask> sums(int n) const override {
    int sum = 0;
    for (int i = 0; i != n; ++i) {
      int const more = co_await asks_once();
      sum = co_await plus(sum, more);
    }
    co_return sum;
  }
  int answers(int with, eff<int, ask> body) const override {
    return run(handle<ask>(answers_with{with}, std::move(body)));
  }
  int answers_by(library const& to, eff<int, ask> body) const override {
    return run(handle(lets_resume(to), std::move(body)));
  }
  int resumes(resumption<int, int> k) const override { return resume(std::move(k), 7); }
  void drops(eff<int, ask> body) const override { auto const gone = std::move(body); }
  void unwinds(eff<int, ask> body) const override {
    keeps all;
    run(handle(all, std::move(body)));
  }
  eff<int, ask> throws(thrown what) const override {
    int const n = co_await asks_once();
    if (what == thrown::trouble) throw trouble("trouble");
    if (what == thrown::cancelled) throw cancelled();
    if (what == thrown::no_senders) throw no_senders();
    auto again = plus(n, n);
    (void)co_await std::move(again);
    co_return co_await std::move(again);  // eff_empty
  }
  thrown catches(eff<int, ask> body) const override {
    try {
      answers(0, std::move(body));
    } catch (trouble const&) {
      return thrown::trouble;
    } catch (cancelled const&) {
      return thrown::cancelled;
    } catch (no_senders const&) {
      return thrown::no_senders;
    } catch (eff_empty const&) {
      return thrown::eff_empty;
    }
    return thrown::nothing;
  }
  eff<int, pick> picks() const override {
    int const a = co_await pick::one{};
    int const b = co_await pick::one{};
    int const c = co_await pick::one{};
    co_return 4 * a + 2 * b + c;
  }
  std::vector<int> tries_all(library const& of, bool is_bitwise) const override {
    auto const body = [&of] { return of.picks(); };
    if (is_bitwise) return run(handle(tries_both(), body, bitwise()));
    return run(handle(tries_both(), body));
  }
  detail::frame_count frames() const override { return detail::frames_so_far(); }

  unique_any packs(int n) const override { return unique_any(message{n}); }
  int unpacks(unique_any& p) const override {
    return p.holds<message>() && !p.holds<trouble>() ? p.take<message>().n : -1;
  }

  unique_any packs_own(bool is_local) const override {
    return is_local ? unique_any(local_to_a_function()) : unique_any(own{7});
  }
  bool has_packed_own(unique_any const& p, bool is_local) const override {
    return is_local ? p.holds<decltype(local_to_a_function())>() : p.holds<own>();
  }

  void runs(backends on, program p) const override {
    answers_with const seven{7};
    if (on == backends::one_thread) schedule(p, seven);
    if (on == backends::sharing) schedule<sharing>({.threads = 3, .forkable = false}, p, seven);
    if (on == backends::stealing) schedule<stealing>({.threads = 3, .forkable = false}, p, seven);
  }
  job counts(std::string& to, char name, int times) const override {
    auto const body = [](std::string& s, char c, int n) -> eff<void, state<int>, whole_row> {
      for (int i = 0; i != n; ++i) {
        int const now = co_await state<int>::get{};
        co_await proc::yield{};
        int const more = co_await ask::get{};
        co_await state<int>::put{now + more};
        s += c + std::to_string(now + more) + ' ';
      }
    };
    co_await handle<state<int>>(state_of(0), body(to, name, times));
  }
  job increments(mutex& m, long& n, int times) const override {
    for (int i = 0; i != times; ++i) {
      auto const held = co_await m.lock();
      long const now = n;
      if (i % 3 == 0) co_await proc::yield{};
      n = now + 1;
    }
  }
  parent spawns(library const& of, std::atomic<int>& sum, int n) const override {
    for (int i = 0; i != n; ++i)
      co_await spawn([](library const& l, std::atomic<int>& to) { return l.adds(to); },
                     std::cref(of), std::ref(sum));
  }
  job adds(std::atomic<int>& sum) const override {
    co_await proc::yield{};
    int const n = co_await ask::get{};
    sum += n;
  }
  parent forks(std::string& to) const override {
    int const n = co_await ask::get{};
    bool const first = co_await proc::fork{};
    co_await proc::yield{};
    bool const again = co_await proc::fork{};
    int const m = co_await ask::get{};
    to += std::to_string(n + m) + (first ? 'a' : 'b') + (again ? 'a' : 'b') + ' ';
  }
  job receives(int& sum, int n) const override {
    auto in = co_await open_inbox<message>();
    for (int i = 0; i != n; ++i) {
      message const l = co_await in.receive();
      sum += l.n;
    }
  }
  job sends(process_id to, int n) const override {
    for (int i = 0; i != n;) {
      bool const there = co_await send(to, message{7});
      if (there) ++i;
      co_await proc::yield{};
    }
  }
  void is_submitted_to(library const& by, std::atomic<int>& sum, int n) const override {
    scheduler<sharing> s(sharing_options{.threads = 2});
    auto const nothing = []() -> eff<void, spawning<whole_row>> { co_return; };
    s.start(nothing, answers_with{7});
    {
      auto const there = s.submitter<whole_row>();
      std::jthread const one([&, there] { by.submits(there, sum, n); });
      std::jthread const other([&, there] { by.submits(there, sum, n); });
    }
    s.run();
  }
  void submits(submitter<sharing, whole_row> const& to, std::atomic<int>& sum,
               int n) const override {
    for (int i = 0; i != n; ++i)
      to.submit([](library const& l, std::atomic<int>& there) { return l.adds(there); },
                std::cref(static_cast<library const&>(*this)), std::ref(sum));
  }
  tasks<int> fib(library const& of, int n) const override {
    if (n < 2) co_return n;
    auto const [a, b] = co_await when_all(of.fib(*this, n - 1), of.fib(*this, n - 2));
    co_return a + b;
  }
  tasks<int, pick> asks_in_scope(int& count) const override {
    ends const here(count);
    auto const waits = [](int& c, std::atomic<bool>& begun) -> job {
      ends const there(c);
      begun = true;
      for (;;) co_await proc::yield{};
    };
    // A task that is dropped before it has begun has no frame that could end.
    std::atomic<bool> has_begun = false;
    int result = 0;
    co_await with_scope([&](auto& s) -> tasks<void, pick> {
      s.start(waits, std::ref(count), std::ref(has_begun));
      while (!has_begun) co_await proc::yield{};
      result = co_await pick::one{};
    });
    co_return result;
  }
  tasks<int> gives_up(tasks<int, pick> body) const override {
    co_return co_await handle(drops_the_rest(), std::move(body));
  }

  snapshot checkpoint() const override {
    scheduler<> s;
    s.start({.forkable = true}, []() -> eff<void> { co_return; });
    return s.checkpoint();
  }
  bool run_any(snapshot const& from, int n) const override {
    for (int i = 0; i != n; ++i) {
      scheduler<> s;
      s.start([]() -> eff<void> { co_return; });
      try {
        s.run(from);
        return true;
      } catch (std::logic_error const&) {
      }
    }
    return false;
  }
  std::size_t decides() const override { return decide(2); }
};

}  // namespace
}  // namespace weft::tests

weft::tests::library const* LIBRARY() {
  static weft::tests::the_library const here;
  return &here;
}
