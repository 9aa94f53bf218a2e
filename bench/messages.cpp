// SPDX-License-Identifier: MIT

/// What does a message cost?  ns of wall time, including the start and end of the processes.
///
///   ping-pong/one_thread        A number is sent to another process, which sends it back: ns a
///                               round trip.
///   ping-pong/sharing/1         The same on `sharing`, with one thread,
///   ping-pong/sharing/2         and with two.
///   ping-pong/sharing/2/crossed How many of a thousand of those messages were received on another
///                               thread than they were sent on, in one run.
///   ring/one_thread             A number goes 1000 times round a thousand processes: ns a hop.
///   ports/n                     The same with n processes: ns a hop, of a million.
///   throughput/1                Numbers a second from one process to another, through an inbox
///                               with room for 1024; `sharing`, one thread.
///   throughput/one_thread       The same on `one_thread`: ns a number.
///   throughput/sharing/2        The same on `sharing` with two threads: ns a number.
///   throughput/unbounded        As throughput/one_thread, through an inbox without a bound.
///   throughput/many             As throughput/one_thread, but the producer sends up to 64 numbers
///                               at a time, and the consumer receives as many.
///   throughput/many/sharing/2   The same on `sharing` with two threads.
///   timers                      100k processes that each sleep once, until instants in random
///                               order: ns a process, from its spawning to its end.  Time is
///                               virtual, so no thread sleeps.
///   timers/10, /10k, /1M        Two processes pass a message to and fro, and wait for it with a
///                               deadline that never comes: so each wait sets an alarm and takes
///                               it off again.  Meanwhile so many other processes sleep.  ns a
///                               wait, with its message; the deadlines are random ones among those
///                               of the sleepers.
///
/// The answers: each process that gets a number increments it; the consumer of `throughput` hashes
/// the messages in the order of arrival, and each sleeper hashes its rank.
///
/// The rivals:
///
///   raw         Two hand-written coroutines (rivals_messages.hpp), or a thousand.  Each knows that
///               the next one waits, and where, so a message is two stores and a jump.
///   box+ring    The same, but a sender tests whether the receiver waits, as weft does, and
///               coroutines that can continue are in a queue.
///   two indices A ring with an index for each side, in two processes of the same scheduler, which
///               yield where the ring is full, or empty.
///   multimap    A std::multimap of so many deadlines, into which each deadline is inserted and
///               from which it is erased again.  No message, and no process.
///   boost.fiber Two fibers and two `unbuffered_channel`, with `algo::shared_work`, which is faster
///               here than the default even on one thread.
///
/// Medians, with two threads too: boost.fiber is several times as fast while one of its threads
/// does all the work, and up to a hundred times as slow when one loses its core at the wrong
/// moment; so its least repetition does not represent a quiet machine.

#include <algorithm>
#include <array>
#include <boost/fiber/algo/shared_work.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/unbuffered_channel.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "bench/rivals_fibers.hpp"
#include "bench/rivals_messages.hpp"
#include "bench/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/sync/timing.hpp"

namespace {

using namespace std::chrono_literals;
using weft::address;
using weft::eff;
using weft::inbox;
using weft::instant;
using weft::mail;
using weft::open;
using weft::schedule;
using weft::sharing;
using weft::spawn;
using weft::spawning;
using weft::timing;
using weft::yielding;
using weft::bench::after;
using weft::bench::fibers_left;
using weft::bench::launder;
using weft::bench::small_stacks;
using weft::bench::this_thread;
using weft::bench::timed;
using weft::bench::timed_run;
using weft::bench::two_index_ring;

/// Times the whole run; the answer is its result.
template <class Run>
timed_run whole(Run run) {
  return [run]() -> timed {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    std::uint64_t const answer = run();
    return {std::chrono::duration<double, std::nano>(clock::now() - begin).count(), answer};
  };
}

/// A hash that depends on the order.
std::uint64_t hash(std::uint64_t so_far, std::uint64_t next) { return so_far * 31 + next + 1; }
std::uint64_t hash_of_all_below(std::uint64_t n) {
  std::uint64_t h = 0;
  for (std::uint64_t i = 0; i != n; ++i) h = hash(h, i);
  return h;
}

// ---- ping-pong, ring: a message goes round

/// A message that counts how often it was received on another thread than it was sent on.
struct traveller {
  std::uint64_t number = 0;
  std::uint64_t crossings = 0;
  char const* sent_on = nullptr;
};
/// To be called between receiving and sending.
traveller after(traveller t) {
  char const* const here = this_thread();
  bool const has_crossed = t.sent_on && t.sent_on != here;
  return {after(t.number), t.crossings + has_crossed, here};
}

template <class Message>
eff<void, mail> pass_on(inbox<Message> own, address<Message> to, int times) {
  for (int i = 0; i != times; ++i) {
    Message const m = co_await own.receive();
    co_await to.send(after(m));
  }
}
template <class Message>
eff<void, mail, spawning<mail>> circle(int processes, int times, Message* answer) {
  auto [own, to] = co_await open<Message>();
  for (int i = 1; i != processes; ++i) {  // from the last process to the first
    auto [in, to_it] = co_await open<Message>();
    co_await spawn(pass_on<Message>, std::move(in), std::move(to), times);
    to = std::move(to_it);
  }
  Message m{};
  for (int i = 0; i != times; ++i) {
    co_await to.send(after(m));
    m = co_await own.receive();
  }
  *answer = m;
}

std::uint64_t on_one_thread(int processes, int times) {
  std::uint64_t answer = 0;
  schedule([=, at = &answer] { return circle(processes, times, at); });
  return answer;
}
template <unsigned Threads, class Message = std::uint64_t>
Message shared(int times) {
  Message answer{};
  schedule<sharing>({.threads = Threads}, [=, at = &answer] { return circle(2, times, at); });
  return answer;
}

using channel = boost::fibers::unbuffered_channel<std::uint64_t>;
void pass_on_in_a_fiber(channel* own, channel* to, int times, fibers_left* all) {
  for (int i = 0; i != times; ++i) to->push(after(own->value_pop()));
  all->leave();
}
void send_round_in_a_fiber(channel* own, channel* to, int times, fibers_left* all,
                           std::uint64_t* answer) {
  std::uint64_t number = 0;
  for (int i = 0; i != times; ++i) {
    to->push(after(number));
    number = own->value_pop();
  }
  *answer = number;
  all->leave();
}
template <unsigned Threads>
std::uint64_t in_fibers(int times) {
  channel there, back;
  std::uint64_t answer = 0;
  fibers_left all(2);
  auto const with_others = [&](auto start) {
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::shared_work>();
    start();
    all.wait();
  };
  // On threads of their own: a thread keeps its algorithm for good.
  std::thread first(with_others, [&] {
    boost::fibers::fiber(std::allocator_arg, small_stacks(), pass_on_in_a_fiber, &there, &back,
                         times, &all)
        .detach();
    boost::fibers::fiber(std::allocator_arg, small_stacks(), send_round_in_a_fiber, &back, &there,
                         times, &all, &answer)
        .detach();
  });
  std::vector<std::thread> others;
  for (unsigned i = 1; i != Threads; ++i) others.emplace_back(with_others, [] {});
  first.join();
  for (auto& other : others) other.join();
  return answer;
}

// ---- throughput

eff<void, mail> producer(address<std::uint64_t> to, std::uint64_t n) {
  for (std::uint64_t i = 0; i != n; ++i) co_await to.send(i);
}
eff<void, mail, spawning<mail>> consumer(std::uint64_t n, std::uint64_t* answer,
                                         std::size_t capacity = 1024) {
  auto [in, to] = co_await open<std::uint64_t>({.capacity = capacity});
  co_await spawn(producer, std::move(to), n);
  for (;;) {
    std::optional<std::uint64_t> const next = co_await in.next();
    if (!next) break;
    *answer = hash(*answer, *next);
  }
}
std::uint64_t sent(std::uint64_t n) {
  std::uint64_t answer = 0;
  schedule<sharing>({.threads = 1}, [=, at = &answer] { return consumer(n, at); });
  return answer;
}

eff<void, mail> producer_of_many(address<std::uint64_t> to, std::uint64_t n) {
  std::array<std::uint64_t, 64> some{};
  for (std::uint64_t i = 0; i != n;) {
    std::span<std::uint64_t> left(some.data(), std::min<std::uint64_t>(some.size(), n - i));
    std::iota(left.begin(), left.end(), i);
    i += left.size();
    while (!left.empty()) left = left.subspan(co_await to.send_many(left));
  }
}
eff<void, mail, spawning<mail>> consumer_of_many(std::uint64_t n, std::uint64_t* answer) {
  auto [in, to] = co_await open<std::uint64_t>({.capacity = 1024});
  co_await spawn(producer_of_many, std::move(to), n);
  std::array<std::uint64_t, 64> some{};
  for (std::size_t came = co_await in.receive_many(some); came != 0;
       came = co_await in.receive_many(some))
    for (std::size_t i = 0; i != came; ++i) *answer = hash(*answer, some[i]);
}
std::uint64_t passed_in_batches(unsigned threads, std::uint64_t n) {
  std::uint64_t answer = 0;
  auto const p = [=, at = &answer] { return consumer_of_many(n, at); };
  if (threads == 0)
    schedule(p);
  else
    schedule<sharing>({.threads = threads}, p);
  return answer;
}

/// `threads`: of `sharing`; 0: one_thread.
std::uint64_t passed(unsigned threads, std::uint64_t n, std::size_t capacity) {
  std::uint64_t answer = 0;
  auto const p = [=, at = &answer] { return consumer(n, at, capacity); };
  if (threads == 0)
    schedule(p);
  else
    schedule<sharing>({.threads = threads}, p);
  return answer;
}
eff<void, yielding> writer(two_index_ring* to, std::uint64_t n) {
  for (std::uint64_t i = 0; i != n; ++i)
    while (!to->push(i)) co_await yielding::yield{};
}
eff<void, yielding, spawning<yielding>> reader(two_index_ring* from, std::uint64_t n,
                                               std::uint64_t* answer) {
  co_await spawn(writer, from, n);
  for (std::uint64_t i = 0; i != n; ++i) {
    std::uint64_t next = 0;
    while (!from->pop(next)) co_await yielding::yield{};
    *answer = hash(*answer, next);
  }
}
std::uint64_t passed_in_a_ring(unsigned threads, std::uint64_t n) {
  std::uint64_t answer = 0;
  auto const between = std::make_unique<two_index_ring>();
  auto const p = [=, from = launder(between.get()), at = &answer] { return reader(from, n, at); };
  if (threads == 0)
    schedule(p);
  else
    schedule<sharing>({.threads = threads}, p);
  return answer;
}

// ---- timers

eff<void, timing> sleeper(instant until, std::uint64_t rank, std::uint64_t* answer) {
  co_await timing::sleep_until{until};
  *answer = hash(*answer, rank);
}
eff<void, timing, spawning<timing>> sleepers(std::vector<std::uint64_t> const* ranks,
                                             std::uint64_t* answer) {
  instant const begin = co_await timing::now{};
  for (std::uint64_t const rank : *ranks)
    co_await spawn(sleeper, begin + (rank + 1) * 1ms, rank, answer);
}
std::uint64_t slept(std::vector<std::uint64_t> const& ranks) {
  std::uint64_t answer = 0;
  schedule({.virtual_time = true}, [all = &ranks, at = &answer] { return sleepers(all, at); });
  return answer;
}

/// Deadlines in no particular order, which do not come before all waits are over.
class deadlines {
 public:
  deadlines(instant begin, std::uint64_t n) noexcept : begin_(begin), n_(n) {}
  instant next() noexcept {
    last_ = last_ * 6364136223846793005U + 1442695040888963407U;
    return begin_ + 1h + (last_ >> 33) % n_ * 1us;
  }

 private:
  instant begin_;
  std::uint64_t n_;
  std::uint64_t last_ = 1;
};
eff<void, timing> sleeps_until(instant until) { co_await timing::sleep_until{until}; }
eff<void, mail> pass_on_in_time(inbox<std::uint64_t> own, address<std::uint64_t> to, int times,
                                deadlines* until) {
  for (int i = 0; i != times; ++i) {
    auto const n = co_await own.receive_until(until->next());
    co_await to.send(after(n.value()));
  }
}
eff<void, mail, timing, yielding, spawning<mail, timing>> circle_in_time(std::size_t sleepers,
                                                                         int times, timed* all) {
  deadlines until(co_await timing::now{}, sleepers);
  for (std::size_t i = 0; i != sleepers; ++i) co_await spawn(sleeps_until, until.next());
  co_await yielding::yield{};
  auto [own, to] = co_await open<std::uint64_t>();
  auto [in, to_it] = co_await open<std::uint64_t>();
  co_await spawn(pass_on_in_time, std::move(in), std::move(to), times, &until);
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i != times; ++i) {
    co_await to_it.send(after(all->answer));
    all->answer = (co_await own.receive_until(until.next())).value();
  }
  all->ns = weft::bench::ns_between(begin, std::chrono::steady_clock::now());
}
timed in_time(std::size_t sleepers, int times) {
  timed all;
  schedule({.virtual_time = true}, [=, at = &all] { return circle_in_time(sleepers, times, at); });
  return all;
}
timed in_a_multimap(std::size_t sleepers, int times) {
  timed all;
  deadlines until({}, sleepers);
  std::multimap<instant, std::uint64_t> alarms;
  for (std::size_t i = 0; i != sleepers; ++i) alarms.emplace(until.next(), i);
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i != 2 * times; ++i) {
    auto const alarm = alarms.emplace(until.next(), all.answer);
    all.answer = after(alarm->second);
    alarms.erase(alarm);
  }
  all.ns = weft::bench::ns_between(begin, std::chrono::steady_clock::now());
  return all;
}
std::vector<std::uint64_t> shuffled(std::size_t n) {
  std::vector<std::uint64_t> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shuffle(ranks.begin(), ranks.end(), std::mt19937_64(1));
  return ranks;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("messages", argc, argv);
  bool right = true;

  using run = std::uint64_t (*)(int times);
  auto const compare = [&](std::string_view which, run subject, std::string_view rival_name,
                           run rival, int times, std::size_t items_a_time) {
    bench.compare_runs(which, whole([=] { return subject(times); }), rival_name,
                       whole([=] { return rival(times); }),
                       static_cast<std::size_t>(times) * items_a_time);
  };
  constexpr run one_thread = [](int times) { return on_one_thread(2, times); };
  constexpr run raw = [](int times) { return weft::bench::raw_circle(2, times); };
  constexpr run boxes = [](int times) { return weft::bench::box_circle(2, times); };

  int const on_one = bench.is_quick() ? 1000 : 1'000'000;
  int const on_two = bench.is_quick() ? 1000 : 50'000;
  compare("ping-pong/one_thread", one_thread, "raw", raw, on_one, 1);
  compare("ping-pong/one_thread", one_thread, "box+ring", boxes, on_one, 1);
  compare("ping-pong/sharing/1", shared<1>, "raw", raw, on_one, 1);
  compare("ping-pong/sharing/1", shared<1>, "boost.fiber", in_fibers<1>, on_one, 1);
  compare("ping-pong/sharing/2", shared<2>, "boost.fiber", in_fibers<2>, on_two, 1);

  auto const travelled = shared<2, traveller>(on_two);
  std::uint64_t const received = 2 * static_cast<std::uint64_t>(on_two);
  if (travelled.number != received) {
    std::fprintf(stderr, "ping-pong/sharing/2/crossed: not all messages have come\n");
    right = false;
  }
  bench.report("ping-pong/sharing/2/crossed",
               1000 * static_cast<double>(travelled.crossings) / static_cast<double>(received),
               "count");

  int const rounds = bench.is_quick() ? 2 : 1000;
  constexpr run ring = [](int times) { return on_one_thread(1000, times); };
  constexpr run raw_ring = [](int times) { return weft::bench::raw_circle(1000, times); };
  constexpr run ring_of_boxes = [](int times) { return weft::bench::box_circle(1000, times); };
  compare("ring/one_thread", ring, "raw", raw_ring, rounds, 1000);
  compare("ring/one_thread", ring, "box+ring", ring_of_boxes, rounds, 1000);

  constexpr run few = [](int times) { return on_one_thread(10, times); };
  constexpr run few_raw = [](int times) { return weft::bench::raw_circle(10, times); };
  constexpr run many = [](int times) { return on_one_thread(100'000, times); };
  constexpr run many_raw = [](int times) { return weft::bench::raw_circle(100'000, times); };
  compare("ports/10", few, "raw", few_raw, 100 * rounds, 10);
  compare("ports/1000", ring, "raw", raw_ring, rounds, 1000);
  compare("ports/100k", many, "raw", many_raw, bench.is_quick() ? 1 : 10, 100'000);

  std::uint64_t const messages = bench.is_quick() ? 10'000 : 10'000'000;
  bench.measure_rate_runs("throughput/1", whole([=] { return sent(messages); }),
                          hash_of_all_below(messages), messages);

  auto const stream = [&](std::string_view which, unsigned threads, std::size_t capacity) {
    bench.compare_runs(which, whole([=] { return passed(threads, messages, capacity); }),
                       "two indices", whole([=] { return passed_in_a_ring(threads, messages); }),
                       messages);
  };
  stream("throughput/one_thread", 0, 1024);
  stream("throughput/sharing/2", 2, 1024);
  stream("throughput/unbounded", 0, std::numeric_limits<std::size_t>::max());
  auto const batches = [&](std::string_view which, unsigned threads) {
    bench.compare_runs(which, whole([=] { return passed_in_batches(threads, messages); }),
                       "two indices", whole([=] { return passed_in_a_ring(threads, messages); }),
                       messages);
  };
  batches("throughput/many", 0);
  batches("throughput/many/sharing/2", 2);

  auto const ranks = shuffled(bench.is_quick() ? 1000 : 100'000);
  bench.measure_runs("timers", whole([&] { return slept(ranks); }), hash_of_all_below(ranks.size()),
                     ranks.size());
  auto const timers = [&](std::string_view which, std::size_t sleepers) {
    int const times = bench.is_quick() ? 1000 : 200'000;
    bench.compare_runs(
        which, [=] { return in_time(sleepers, times); }, "multimap",
        [=] { return in_a_multimap(sleepers, times); }, 2 * static_cast<std::size_t>(times));
  };
  timers("timers/10", 10);
  timers("timers/10k", 10'000);
  timers("timers/1M", bench.is_quick() ? 10'000 : 1'000'000);

  return bench.run() == 0 && right ? 0 : 1;
}
