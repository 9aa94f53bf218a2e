// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/failing_others.hpp"
#include "tests/support/failing_outside.hpp"
#include "tests/support/failing_program.hpp"
#include "tests/support/failing_tasks.hpp"
#include "tests/support/failing_waits.hpp"

/// One small program for each feature, for tests in which an allocation fails.  The result of a
/// program is the same in every schedule.
namespace weft::tests::for_failures {

// ---- on one thread only

inline std::string checkpoints(chosen_backend) {
  counter n = 0;
  scheduler<> s;
  s.start([&n]() -> eff<void, proc> {
    for (int i = 0; i != 2; ++i) {
      bool const first = co_await proc::fork{};
      if (first) ++n;
    }
  });
  s.step();
  auto const first = s.checkpoint();
  s.step();
  auto const second = s.checkpoint();
  s.run();
  s.run(first);
  s.run(second);
  return text(n);
}

inline std::string explorations(chosen_backend) {
  struct two {
    mutex m;
    int last = 0;
  };
  auto const p = [](two& s) -> task {
    co_await with_scope([&s](task_scope& inside) -> task {
      for (int i = 0; i != 2; ++i)
        inside.start([&s, i]() -> task {
          auto const held = co_await s.m.lock();
          co_await proc::yield{};
          s.last = i;
        });
      co_return;
    });
  };
  std::string came_to;
  for (auto const grain : {granularity::cooperative, granularity::parallel})
    for (bool const reduce : {false, true}) {
      explore_options o;
      o.granularity = grain;
      o.max_schedules = 5;
      o.reduce = reduce;
      o.progress = progress::never;
      auto const found = explore(
          o, [] { return std::make_unique<two>(); },
          [&p](std::unique_ptr<two>& s) { return p(*s); },
          [](std::unique_ptr<two> const& s) { return std::to_string(s->last); });
      for (auto const& outcome : found.outcomes)
        if (outcome.result.text.find("bad_alloc") != std::string::npos) throw std::bad_alloc();
      if (found.nondeterminism) throw std::bad_alloc();  // one run had the memory, another did not
      came_to += std::to_string(found.schedules) + " ";
    }
  return came_to;
}

inline std::vector<program_without_memory> on_one_thread() {
  auto const chosen = chosen_backend::of<weft::tests::on_one_thread>();
  return {{"checkpoints", checkpoints, chosen}, {"explorations", explorations, chosen}};
}

template <class Where>
std::vector<program_without_memory> on_any_backend() {
  auto const chosen = chosen_backend::of<Where>();
  std::vector<program_without_memory> programs{
      {"births", births, chosen},
      {"forks", forks, chosen},
      {"gates", gates, chosen},
      {"mutexes", mutexes, chosen},
      {"semaphores", semaphores, chosen},
      {"conditions", conditions, chosen},
      {"barriers", barriers, chosen},
      {"shared values", shared_values, chosen},
      {"sleepers", sleepers, chosen},
      {"tasks", tasks, chosen},
      {"loops", loops, chosen},
      {"first of several", first_of_several, chosen},
      {"scopes", scopes, chosen},
      {"scopes that fail", scopes_that_fail, chosen},
      {"scopes with timeout", scopes_with_timeout, chosen},
      {"scopes with stop token", scopes_with_stop_token, chosen},
      {"scopes that are cancelled", scopes_that_are_cancelled, chosen},
      {"shields", shields, chosen},
      {"dropped across a scope", dropped_across_a_scope, chosen},
      {"ports", ports, chosen},
      {"selects", selects, chosen},
      {"routes", routes, chosen},
      {"completions", completions, chosen},
      {"outside gates", outside_gates, chosen},
      {"off_thread", off_threads, chosen},
      {"submissions", submissions<Where>, chosen},
      {"shut_down", shut_downs<Where>, chosen},
      {"stops", stops, chosen},
      {"rooms", rooms, chosen},
      {"failures", failures, chosen},
      {"deadlocks", deadlocks, chosen},
      {"commands", issued_commands, chosen},
      {"steppers", steppers_that_parse, chosen},
      {"steppers with messages", steppers_with_messages, chosen},
      {"steppers that are cancelled", steppers_that_are_cancelled, chosen},
      {"the system's sockets", real_sockets, chosen},
      {"the system's sockets that are cancelled", real_sockets_that_are_cancelled, chosen},
      {"multi-shot", multi_shots, chosen},
      {"handlers", handlers, chosen}};
  // Closing a socket in memory takes no lock.
  if constexpr (Where::threads == 1) programs.push_back({"sockets", sockets, chosen});
  return programs;
}

}  // namespace weft::tests::for_failures
