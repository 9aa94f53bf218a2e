// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/reports/dumping.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/process_names.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"
#include "weft/sched/runtime/detail/incoming/submissions.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"

namespace weft::detail {
namespace {

struct waiting_process {
  process_id id;
  std::string_view function;
  std::string at;
};

/// Describes the processes that wait.  Called on a thread of the scheduler, or when none of its
/// threads runs.
std::string describe_processes(scheduler_core& s) {
  std::vector<waiting_process> waiting;
  bool is_complete = true;
  s.waits.for_each_waiter([&](process const& p) noexcept {
    try {
      if (p.is_suspended() && !p.id().is_internal())
        waiting.push_back({p.id(), p.function(), p.waits_at_text()});
    } catch (...) {  // no memory
      is_complete = false;
    }
  });
  std::ranges::sort(waiting, {}, &waiting_process::id);
  // A process may wait on several lists.
  auto const again = std::ranges::unique(waiting, {}, &waiting_process::id);
  waiting.erase(again.begin(), again.end());
  std::string text =
      std::to_string(waiting.size()) + (waiting.size() == 1 ? " process waits" : " processes wait");
  process_names names;
  for (auto const& w : waiting) names.add(w.id, w.function);
  for (auto const& w : waiting) text += "\n  " + names.text(w.id) + " in " + w.at;
  if (worker_state const* const w = s.find_worker_here(); w && w->running)
    if (!w->running->id().is_internal())
      text += "\nprocess " + w->running->id().text() + " runs here";
  return text + (is_complete ? "\n" : "\nand more, for which there is no memory\n");
}

}  // namespace

std::string dump(scheduler_core& s) {
  auto const& gate = s.incoming.gate();
  if (!gate || s.find_worker_here()) return describe_processes(s);
  std::unique_lock lock(gate->mutex);
  if (gate->is_running) {
    auto request = s.incoming.prepare(internal_task::dump);
    std::uint64_t const wanted = ++s.dumps.asked;
    s.incoming.send(request);
    gate->changed.wait(lock, [&] { return s.dumps.given >= wanted || !gate->is_running; });
    if (s.dumps.given >= wanted) return s.dumps.text;
  }
  return describe_processes(s);  // no run begins while this thread has the lock
}

void give_dump(scheduler_core& s) noexcept {
  std::string text;
  try {
    text = describe_processes(s);
  } catch (...) {  // no memory: an empty text
  }
  auto const& gate = s.incoming.gate();
  std::lock_guard const lock(gate->mutex);
  s.dumps.text = std::move(text);
  s.dumps.given = s.dumps.asked;
  gate->changed.notify_all();
}

}  // namespace weft::detail
