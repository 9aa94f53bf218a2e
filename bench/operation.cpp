// SPDX-License-Identifier: MIT

/// What does it cost to perform an operation?  Programs that do little else, one for each kind of
/// clause.
///
///   get+put   A value clause answers.  ns a pair: a get and a put.
///   forward/n n handlers forward the operation outwards and pass its answer on.  ns an operation.
///   control   A clause keeps the resumption, and ordinary code resumes it.  ns a round.
///   coroutine A clause is a coroutine that awaits the continuation, 1000 deep.  ns an operation.
///
/// The rivals are hand-written.  Both sides decide at run time, one which handler answers, the
/// other which object answers a virtual call: the compiler does not know the classes, and cannot
/// turn the forwarding of an answer into a jump.  The code that resumes a waiting program does not
/// know it: the rival is a raw coroutine, kept and resumed by virtual calls; its one frame is
/// allocated before the clock starts.  Both sides check before each round whether a program waits.
///
/// A ratio of 1 says that a handler costs no more than the indirection that it replaces.  `control`
/// costs more: a resumption also knows its handlers, can be dropped, and reports misuse.

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"

namespace {

using weft::eff;
using weft::handle;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::outer;
using weft::region;
using weft::resumption;
using weft::run;
using weft::state;
using weft::bench::either;
using weft::bench::launder;
using weft::bench::make_work;

/// Operations a step, where each step installs the handlers anew: enough that this does not count.
constexpr std::size_t many = 100;

// ---- get+put

eff<std::uint64_t, state<long>> count_down() {
  for (std::uint64_t pairs = 0;; ++pairs) {
    long const i = co_await state<long>::get{};
    if (i == 0) co_return pairs;
    co_await state<long>::put{i - 1};
  }
}

std::uint64_t count_down_handled(std::size_t steps) {
  return run(handle(weft::state_of(static_cast<long>(steps * many)), count_down()));
}

class cell {
 public:
  virtual ~cell() = default;
  virtual long get() = 0;
  virtual void put(long v) = 0;
};
template <int>
class plain_cell final : public cell {
 public:
  explicit plain_cell(long initial) : value_(initial) {}
  long get() override { return value_; }
  void put(long v) override { value_ = v; }

 private:
  long value_;
};

[[gnu::noinline]] std::uint64_t count_down_in(cell& c) {
  for (std::uint64_t pairs = 0;; ++pairs) {
    long const i = c.get();
    if (i == 0) return pairs;
    c.put(i - 1);
  }
}

std::uint64_t count_down_virtually(std::size_t steps) {
  auto const c = either<cell, plain_cell>(static_cast<long>(steps * many));
  return count_down_in(*c);
}

// ---- forward/n

struct sum {
  struct add : op<std::uint64_t> {
    explicit add(std::uint64_t v) : value(v) {}
    std::uint64_t value;
  };
  using operations = op_list<add>;
};

class summing : public handler<sum> {
 public:
  std::uint64_t on(sum::add a) { return total_ += a.value; }

 private:
  std::uint64_t total_ = 0;
};
struct forwarding : handler<sum> {
  std::uint64_t on(sum::add a, outer<sum> up) { return launder(up(a)); }
};

eff<std::uint64_t, sum> add(std::size_t n) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i != n; ++i) total = co_await sum::add{i};
  co_return total;
}
eff<std::uint64_t, sum> add_under(std::size_t handlers, std::size_t n) {
  if (handlers == 0) co_return co_await add(n);
  co_return co_await handle(forwarding(), add_under(handlers - 1, n));
}

make_work adding_handled(std::size_t handlers) {
  return [=] {
    return [=](std::size_t n) { return run(handle(summing(), add_under(handlers, n * many))); };
  };
}

class adder {
 public:
  virtual std::uint64_t add(std::uint64_t v) = 0;

 protected:
  ~adder() = default;
};
class summing_adder final : public adder {
 public:
  std::uint64_t add(std::uint64_t v) override { return total_ += v; }

 private:
  std::uint64_t total_ = 0;
};
class forwarding_adder final : public adder {
 public:
  explicit forwarding_adder(adder& up) : up_(up) {}
  std::uint64_t add(std::uint64_t v) override { return launder(up_.add(v)); }

 private:
  adder& up_;
};

[[gnu::noinline]] std::uint64_t add_to(adder& a, std::size_t n) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i != n; ++i) total = a.add(i);
  return total;
}

make_work adding_virtually(std::size_t handlers) {
  return [=] {
    return [=](std::size_t n) {
      summing_adder total;
      std::vector<forwarding_adder> chain;
      chain.reserve(handlers);
      adder* nearest = &total;
      for (std::size_t i = 0; i != handlers; ++i) nearest = &chain.emplace_back(*launder(nearest));
      return add_to(*launder(nearest), n * many);
    };
  };
}

// ---- control

struct pausing {
  struct pause : op<void> {};
  using operations = op_list<pause>;
};

struct parking : region, handler<pausing> {
  resumption<void> parked;
  void on(pausing::pause, resumption<void> rest) { parked = std::move(rest); }
};

eff<void, pausing> pause_for_ever(std::uint64_t& rounds) {
  for (;;) {
    co_await pausing::pause{};
    ++rounds;
  }
}

/// Installed once; it has paused once.
struct paused_program {
  paused_program() { run(handle(lot, pause_for_ever(rounds))); }
  std::uint64_t rounds = 0;
  parking lot;
};

weft::bench::work resuming() {
  return [program = std::make_shared<paused_program>()](std::size_t n) {
    for (std::size_t i = 0; i != n && program->lot.parked; ++i)
      resume(std::move(program->lot.parked));
    return program->rounds;
  };
}

class driver {
 public:
  virtual ~driver() = default;
  virtual void park(std::coroutine_handle<> waiting) = 0;
  [[nodiscard]] virtual bool has_parked() const = 0;
  virtual void go_on() = 0;
};
template <int>
class plain_driver final : public driver {
 public:
  void park(std::coroutine_handle<> waiting) override { parked_ = waiting; }
  [[nodiscard]] bool has_parked() const override { return bool(parked_); }
  void go_on() override { std::exchange(parked_, {}).resume(); }

 private:
  std::coroutine_handle<> parked_;
};
struct pause_in {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) const { where.park(waiting); }
  void await_resume() const noexcept {}
  driver& where;
};

class raw_coroutine {
 public:
  struct promise_type {
    raw_coroutine get_return_object() {
      return raw_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  raw_coroutine(raw_coroutine const&) = delete;
  raw_coroutine& operator=(raw_coroutine const&) = delete;
  ~raw_coroutine() { frame_.destroy(); }

 private:
  explicit raw_coroutine(std::coroutine_handle<> frame) : frame_(frame) {}
  std::coroutine_handle<> frame_;
};

raw_coroutine pause_for_ever_in(driver& d, std::uint64_t& rounds) {
  for (;;) {
    co_await pause_in{d};
    ++rounds;
  }
}

struct paused_coroutine {
  std::uint64_t rounds = 0;
  std::unique_ptr<driver> lot = either<driver, plain_driver>();
  raw_coroutine program = pause_for_ever_in(*lot, rounds);
};

weft::bench::work resuming_raw() {
  return [program = std::make_shared<paused_coroutine>()](std::size_t n) {
    for (std::size_t i = 0; i != n && program->lot->has_parked(); ++i) program->lot->go_on();
    return program->rounds;
  };
}

// ---- coroutine

struct echo {
  struct of : op<long> {
    explicit of(long v) : value(v) {}
    long value;
  };
  using operations = op_list<of>;
};

struct awaiting_the_rest : handler<echo> {
  eff<long> on(echo::of o, resumption<long, long> k) { co_return co_await std::move(k)(o.value); }
};

eff<long, echo> echo_each(long n) {
  long total = 0;
  for (long i = 0; i != n; ++i) total += co_await echo::of{i};
  co_return total;
}

constexpr long deepest = 1000;

std::uint64_t echo_deep(std::size_t steps) {
  long total = 0;
  for (long left = static_cast<long>(steps); left > 0; left -= deepest)
    total += run(handle(awaiting_the_rest(), echo_each(std::min(left, deepest))));
  return static_cast<std::uint64_t>(total);
}

/// Work that keeps no state between calls.
make_work calling(std::uint64_t (*work)(std::size_t)) {
  return [=] { return work; };
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("operation", argc, argv);
  bench.compare("get+put", calling(count_down_handled), "virtual-call",
                calling(count_down_virtually), many);
  for (std::size_t const n : {1u, 100u})
    bench.compare("forward/" + std::to_string(n), adding_handled(n), "virtual-call a handler",
                  adding_virtually(n), many);
  bench.compare("control", resuming, "raw-coroutine", resuming_raw);
  bench.measure("coroutine", calling(echo_deep), deepest * (deepest - 1) / 2);
  return bench.run();
}
