// SPDX-License-Identifier: MIT

/// What does a yield cost?  n processes yield in turn, fairly: each continues when all others have
/// had their turn.  ns a yield.
///
///   one_thread/n  Under `schedule`, n processes that are not forkable.
///   forkable/n    Forkable processes: each keeps a log of its answers.
///   std_deque/n   The same scheduler as one_thread on a std::deque.  Its rival is one_thread,
///                 whose queue is persistent: the ratio shows the cost of that.
///
/// The first process reads the clock, at its second turn and at its last, so neither the spawning
/// nor the end of the processes counts.  The answer encodes the order in which the processes begin
/// and end; a process that has too many turns ends too early.
///
/// The rivals: hand-written schedulers that can do nothing else (rivals_ring.hpp), and
///
///   boost.fiber   Fibers with stacks of their own, with the default algorithm, round robin.  The
///                 library is Debian's shared one, built for threads; the static one is two fifths
///                 faster.  The stacks are small and come from weft's pool, which does not align
///                 them to pages: 1000 aligned ones would not fit in a cache that indexes its lines
///                 by the lower address bits.
///
/// With 100k processes the frames no longer fit in the nearer caches, and then the side that
/// touches fewer lines for each process wins.

#include <algorithm>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "bench/rivals_ring.hpp"
#include "weft/effects/effects.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/schedule.hpp"

namespace {

using weft::eff;
using weft::forkable;
using weft::proc;
using weft::schedule;
using weft::spawn;
using weft::spawning;
using weft::bench::either;
using weft::bench::launder;
using weft::bench::pooled_coroutine;
using weft::bench::timed;
using weft::bench::timed_run;
using weft::bench::yield_in;

/// The number of processes, each of which yields `rounds` times, and their common answer.
class race {
 public:
  race(int processes, int rounds) : processes_(processes), rounds_(rounds) {}
  [[nodiscard]] int processes() const { return processes_; }
  [[nodiscard]] int rounds() const { return launder(rounds_); }
  [[nodiscard]] std::size_t timed_yields() const {
    return static_cast<std::size_t>(processes_) * static_cast<std::size_t>(rounds_ - 1);
  }

  void enter(int id) { note(id); }
  void is_on_its_way(int id) {
    if (id == 0) began_ = clock::now();
  }
  void leave(int id) {
    if (id == 0) ended_ = clock::now();
    note(id);
  }
  [[nodiscard]] timed result() const {
    return {std::chrono::duration<double, std::nano>(ended_ - began_).count(), answer_};
  }

 private:
  using clock = std::chrono::steady_clock;
  void note(int id) { answer_ = answer_ * 31 + static_cast<std::uint64_t>(id) + 1; }

  int processes_;
  int rounds_;
  std::uint64_t answer_ = 0;
  clock::time_point began_, ended_;
};

// ---- weft

eff<void, proc> yielder(race* r, int rounds, int id) {
  r->enter(id);
  co_await proc::yield{};
  r->is_on_its_way(id);
  for (int i = 1; i < rounds; ++i) co_await proc::yield{};
  r->leave(id);
}

eff<void, proc, spawning<proc>> crowd(race* r) {
  int const rounds = r->rounds();
  for (int id = 0; id != r->processes(); ++id) co_await spawn(yielder, r, rounds, id);
}
eff<void, proc, spawning<proc>> forkable_crowd(race* r) {
  int const rounds = r->rounds();
  for (int id = 0; id != r->processes(); ++id) {
    auto const program = [=] { return yielder(r, rounds, id); };
    co_await spawn(forkable, program);
  }
}

template <class Backend>
timed scheduled(race r) {
  schedule<Backend>([at = &r] { return crowd(at); });
  return r.result();
}

/// The same scheduler on a queue without versions: no checkpoints.
struct on_std_deque {
  static constexpr unsigned wakes = 1;
  class worker {
   public:
    worker(on_std_deque&, unsigned) {}
    void put(weft::thunk t, weft::put_reason) { ready_.push_front(std::move(t)); }
    [[nodiscard]] bool can_exchange() const noexcept { return !ready_.empty(); }
    weft::thunk exchange(weft::thunk t) noexcept {
      ready_.push_front(std::move(t));
      return take_last();
    }
    weft::thunk take(weft::instant, weft::quiescence_test) {
      if (ready_.empty()) return weft::thunk::reason::quiescent;
      return take_last();
    }

   private:
    weft::thunk take_last() noexcept {
      weft::thunk last = std::move(ready_.back());
      ready_.pop_back();
      return last;
    }
    std::deque<weft::thunk> ready_;
  };
  void put(weft::thunk, weft::put_reason) {}
  weft::thunk claim(weft::process*) { return weft::thunk::reason::quiescent; }
  void stop() {}
};
timed one_thread_forkable(race r) {
  schedule([at = &r] { return forkable_crowd(at); });
  return r.result();
}

// ---- by hand

template <class Runner>
pooled_coroutine yielder_in(Runner* runner, race* r, int rounds, int id) {
  r->enter(id);
  co_await yield_in<Runner>{*runner};
  r->is_on_its_way(id);
  for (int i = 1; i < rounds; ++i) co_await yield_in<Runner>{*runner};
  r->leave(id);
}

template <class Runner, template <int> class Class>
timed by_hand(race r) {
  auto const runner = either<Runner, Class>(static_cast<std::size_t>(r.processes()));
  int const rounds = r.rounds();
  for (int id = 0; id != r.processes(); ++id)
    runner->start(yielder_in<Runner>(runner.get(), &r, rounds, id));
  runner->run();
  return r.result();
}

// ---- boost.fiber

struct small_stacks {
  static constexpr std::size_t bytes = 16 * 1024;
  boost::context::stack_context allocate() {
    boost::context::stack_context stack;
    stack.size = bytes;
    stack.sp = static_cast<char*>(weft::detail::pooled::operator new(bytes)) + bytes;
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept {
    weft::detail::pooled::operator delete(static_cast<char*>(stack.sp) - bytes, bytes);
  }
};

void yield_in_a_fiber(race* r, int rounds, int id) {
  r->enter(id);
  boost::this_fiber::yield();
  r->is_on_its_way(id);
  for (int i = 1; i < rounds; ++i) boost::this_fiber::yield();
  r->leave(id);
}

timed fibers(race r) {
  std::vector<boost::fibers::fiber> all;
  int const rounds = r.rounds();
  for (int id = 0; id != r.processes(); ++id)
    all.emplace_back(std::allocator_arg, small_stacks(), yield_in_a_fiber, &r, rounds, id);
  for (auto& fiber : all) fiber.join();
  return r.result();
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("yield", argc, argv);
  auto const compare = [&](std::string const& which, timed (*subject)(race),
                           std::string_view rival_name, timed (*rival)(race), int processes) {
    race const r(processes, std::max(5, 4'000'000 / processes));
    bench.compare_runs(
        which, [=] { return subject(r); }, rival_name, [=] { return rival(r); }, r.timed_yields());
  };
  constexpr auto one_thread = scheduled<weft::one_thread>;
  constexpr auto ring_virtual = by_hand<weft::bench::ring_virtual, weft::bench::ring_of_handles>;
  constexpr auto ring_virtual_loop =
      by_hand<weft::bench::ring_virtual_loop, weft::bench::loop_of_handles>;
  constexpr auto ring_block = by_hand<weft::bench::ring_block, weft::bench::ring_of_blocks>;

  compare("one_thread/1000", one_thread, "ring+virtual", ring_virtual, 1000);
  compare("one_thread/1000", one_thread, "ring+virtual+loop", ring_virtual_loop, 1000);
  compare("one_thread/1000", one_thread, "ring+block", ring_block, 1000);
  compare("one_thread/1000", one_thread, "boost.fiber", fibers, 1000);
  compare("one_thread/10", one_thread, "ring+virtual", ring_virtual, 10);
  compare("one_thread/100k", one_thread, "ring+virtual", ring_virtual, 100'000);
  compare("one_thread/1M", one_thread, "ring+virtual", ring_virtual, 1'000'000);
  compare("forkable/1000", one_thread_forkable, "ring+virtual", ring_virtual, 1000);
  compare("std_deque/1000", scheduled<on_std_deque>, "one_thread", one_thread, 1000);
  return bench.run();
}
