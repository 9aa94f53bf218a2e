// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/commands.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/failing_memory.hpp"
#include "tests/support/line_parsers.hpp"
#include "tests/support/outside.hpp"
#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/io/blocking.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/memory_network.hpp"
#include "weft/io/reactor.hpp"
#include "weft/io/thread_pool.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/commands/coroutine_stepper.hpp"
#include "weft/sched/commands/run_stepper.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/sched/runtime/submitter.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/barrier.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/condition.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/sync/semaphore.hpp"
#include "weft/sched/sync/shared.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/parallel.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"
#include "weft/testing/testing.hpp"

/// Common parts of the programs for tests in which an allocation fails (programs_for_failures.hpp).
namespace weft::tests::for_failures {

using namespace std::chrono_literals;

using all = row<proc, syncing, completions, timing, mail, routing>;
using tasks_of_all = tasking<proc, syncing, completions, timing, mail, routing>;
using step = eff<void, all>;
using task = eff<void, tasks_of_all, all>;
template <class T>
using giving = eff<T, tasks_of_all, all>;
using program = eff<void, spawning<tasks_of_all, all>, tasks_of_all, all>;
using task_scope = scope<proc, syncing, completions, timing, mail, routing>;

inline std::string text(counter const& n) { return std::to_string(n.load()); }

/// Sets `what` when it is destroyed, however that happens, so that a thread that waits for it ends.
struct says_at_end {
  std::atomic<bool>& what;
  ~says_at_end() { what = true; }
};

/// A thread that is joined.
template <class F>
class thread_of {
 public:
  explicit thread_of(F f) : thread_(std::move(f)) {}
  thread_of(thread_of const&) = delete;
  thread_of& operator=(thread_of const&) = delete;
  ~thread_of() { thread_.join(); }

 private:
  std::thread thread_;
};

inline step yields(std::reference_wrapper<counter> n, int times) {
  for (int i = 0; i != times; ++i) co_await proc::yield{};
  ++n.get();
}

}  // namespace weft::tests::for_failures
