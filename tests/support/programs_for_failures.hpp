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

inline std::string checkpoints() {
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

inline std::string explorations() {
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
  return {{"checkpoints", checkpoints}, {"explorations", explorations}};
}

template <class Where>
std::vector<program_without_memory> on_any_backend() {
  std::vector<program_without_memory> programs{
      {"births", births<Where>},
      {"forks", forks<Where>},
      {"gates", gates<Where>},
      {"mutexes", mutexes<Where>},
      {"semaphores", semaphores<Where>},
      {"conditions", conditions<Where>},
      {"barriers", barriers<Where>},
      {"shared values", shared_values<Where>},
      {"sleepers", sleepers<Where>},
      {"tasks", tasks<Where>},
      {"loops", loops<Where>},
      {"first of several", first_of_several<Where>},
      {"scopes", scopes<Where>},
      {"scopes that fail", scopes_that_fail<Where>},
      {"scopes with timeout", scopes_with_timeout<Where>},
      {"scopes with stop token", scopes_with_stop_token<Where>},
      {"scopes that are cancelled", scopes_that_are_cancelled<Where>},
      {"shields", shields<Where>},
      {"dropped across a scope", dropped_across_a_scope<Where>},
      {"ports", ports<Where>},
      {"selects", selects<Where>},
      {"routes", routes<Where>},
      {"completions", completions<Where>},
      {"outside gates", outside_gates<Where>},
      {"off_thread", off_threads<Where>},
      {"submissions", submissions<Where>},
      {"shut_down", shut_downs<Where>},
      {"stops", stops<Where>},
      {"rooms", rooms<Where>},
      {"failures", failures<Where>},
      {"deadlocks", deadlocks<Where>},
      {"commands", issued_commands<Where>},
      {"steppers", steppers_that_parse<Where>},
      {"steppers with messages", steppers_with_messages<Where>},
      {"steppers that are cancelled", steppers_that_are_cancelled<Where>},
      {"the system's sockets", real_sockets<Where>},
      {"the system's sockets that are cancelled", real_sockets_that_are_cancelled<Where>},
      {"multi-shot", multi_shots<Where>},
      {"handlers", handlers<Where>}};
  // Closing a socket in memory takes no lock.
  if constexpr (Where::threads == 1) programs.push_back({"sockets", sockets<Where>});
  return programs;
}

}  // namespace weft::tests::for_failures
