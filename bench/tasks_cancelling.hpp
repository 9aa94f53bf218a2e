// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// What a cancellation costs among many processes that wait for something else.
namespace weft::bench {

using in_crowd = row<syncing, timing, yielding, tasking<syncing, timing, yielding>>;
template <class T>
using of_crowd = eff<T, in_crowd>;

inline eff<void, syncing> stands_by(gate& at) { co_await syncing::wait{at}; }
inline of_crowd<void> never(gate& at) { co_await syncing::wait{at}; }
inline of_crowd<void> at_once() { co_return; }

/// One cancellation: of a scope; of the loser of a when_any; by a timeout that passes.
enum class cancellation { of_scope, of_loser, by_timeout };

inline of_crowd<void> cancels_once(cancellation which, gate& at) {
  using namespace std::chrono_literals;
  switch (which) {
    case cancellation::of_scope:
      co_await with_scope([&](auto& s) -> of_crowd<void> {
        s.start(never, std::ref(at));
        co_await yielding::yield{};
        s.cancel();
      });
      break;
    case cancellation::of_loser:
      (void)co_await when_any(never(at), at_once());
      break;
    case cancellation::by_timeout:
      try {
        co_await with_scope({.timeout = 0ms}, [&](auto&) -> of_crowd<void> { co_await never(at); });
      } catch (timed_out const&) {
      }
      break;
  }
}
/// Microseconds for one of them, beside `idle` processes; the least of five rounds.
template <class Backend>
double microseconds_to_cancel(cancellation which, unsigned threads, int idle, int times) {
  double least = std::numeric_limits<double>::max();
  typename scheduler<Backend>::options how;
  if constexpr (requires { how.threads; }) how.threads = threads;
  schedule<Backend>(std::move(how), [&]() -> eff<void, in_crowd, spawning<syncing>> {
    gate crowd;
    gate elsewhere;
    for (int i = 0; i != idle; ++i) co_await spawn(stands_by, std::ref(crowd));
    while (crowd.waiting() != static_cast<std::size_t>(idle)) co_await yielding::yield{};
    for (int round = 0; round != 5; ++round) {
      auto const from = std::chrono::steady_clock::now();
      for (int i = 0; i != times; ++i) co_await cancels_once(which, elsewhere);
      std::chrono::duration<double, std::micro> const took =
          std::chrono::steady_clock::now() - from;
      least = std::min(least, took.count() / times);
    }
    co_await syncing::wake{crowd, std::numeric_limits<std::size_t>::max()};
  });
  return least;
}
/// Reports each with a hundred thousand idle processes, beside the same with a thousand.
inline void report_cancellations(suite& to, bool is_quick) {
  int const many = is_quick ? 1000 : 100'000;
  int const times = is_quick ? 3 : 300;
  auto const one = [&]<class Backend>(std::type_identity<Backend>, std::string const& where,
                                      unsigned threads) {
    for (auto const& [which, name] : {std::pair(cancellation::of_scope, "cancel/"),
                                      std::pair(cancellation::of_loser, "when_any/"),
                                      std::pair(cancellation::by_timeout, "timeout/")})
      to.report(name + where, microseconds_to_cancel<Backend>(which, threads, many, times), "us",
                "1000 idle", microseconds_to_cancel<Backend>(which, threads, 1000, times));
  };
  one(std::type_identity<one_thread>(), "one_thread", 1);
  one(std::type_identity<sharing>(), "sharing/1", 1);
  one(std::type_identity<sharing>(), "sharing/2", 2);
  one(std::type_identity<stealing>(), "stealing/2", 2);
}

}  // namespace weft::bench
