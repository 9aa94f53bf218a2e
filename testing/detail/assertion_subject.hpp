// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/strategy.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

/// Makes a run fail if an assertion of a test framework has failed in it, however the run ends.
namespace weft::detail {

/// Notes which process runs, and thus which process owns a message.
///
///   SUBJECT-1  After a fork, the process that goes on first has the frames, and so owns the
///       messages of objects in these frames.  The other process is run again, and adds its
///       messages anew.
class process_namer final : public strategy {
 public:
  explicit process_namer(strategy& c) : strategy_(c) {}

  std::size_t choose(candidates const& ready) override {
    if (ready.last != candidates::none && is_at_fork(ready, ready.last)) note_fork(ready);
    auto const next = strategy_.choose(ready);
    notes_.running.reset();
    if (next == candidates::none) return next;
    notes_.running = ready[next];
    if (!forks_.empty()) note_resumed(ready[next]);
    return next;
  }
  std::size_t decide(std::size_t ways) override { return strategy_.decide(ways); }
  void step_ends() override {
    notes_.running.reset();
    strategy_.step_ends();
  }
  void on_run_end(run_end how) override {
    notes_.running.reset();
    strategy_.on_run_end(how);
  }
  [[nodiscard]] location_listener* listener() noexcept override { return strategy_.listener(); }
  [[nodiscard]] bool lacks_memory() const noexcept override { return strategy_.lacks_memory(); }

 private:
  struct two {
    process_id parent, child;
  };
  [[nodiscard]] static bool is_at_fork(candidates const& ready, std::size_t i) {
    return ready.ready[i].who->resumes_at().operation == "weft::proc::fork";
  }
  /// Called if the process that ran last has forked.  Notes its child: the process that is at a
  /// fork and not yet in known_.
  void note_fork(candidates const& ready) {
    auto const parent = ready[ready.last];
    known_.push_back(parent);
    for (std::size_t i = 0; i != ready.size(); ++i)
      if (is_at_fork(ready, i) && std::ranges::find(known_, ready[i]) == known_.end()) {
        known_.push_back(ready[i]);
        forks_.push_back({parent, ready[i]});
        return;
      }
  }
  /// Called when `p` goes on.  If `p` is the child of a fork, and goes on before its parent, `p`
  /// gets the messages of the parent (SUBJECT-1).
  void note_resumed(process_id p) {
    auto const is_one = [p](two const& f) { return f.parent == p || f.child == p; };
    auto const f = std::ranges::find_if(forks_, is_one);
    if (f == forks_.end()) return;
    if (f->child == p)
      for (auto& m : notes_.messages)
        if (m.whose == f->parent) m.whose = p;
    forks_.erase(f);
  }

  strategy& strategy_;
  assertion_notes& notes_ = assertion_notes::now();
  std::vector<two> forks_;  // forks after which neither process has gone on
  std::vector<process_id> known_;
};

class watched_subject final : public subject {
 public:
  explicit watched_subject(subject& s) : subject_(s) {}

  [[nodiscard]] run_result run(strategy& c, run_log& log, run_limits const& limits) override {
    return watched(c, log, limits,
                   [&](strategy& named) { return subject_.run(named, log, limits); });
  }
  [[nodiscard]] run_result run_traced(strategy& c, run_log& log, run_limits const& limits,
                                      trace& t) override {
    return watched(c, log, limits,
                   [&](strategy& named) { return subject_.run_traced(named, log, limits, t); });
  }

 private:
  template <class Run>
  run_result watched(strategy& c, run_log const& log, run_limits const& limits, Run run) {
    struct place {
      run_log const& log;
      granularity grain;
    } const here{log, limits.granularity};
    auto& notes = assertion_notes::now();
    notes = {};
    notes.of = &here;
    notes.path_so_far = [](void const* of) {
      auto const& at = *static_cast<place const*>(of);
      return at.log.path(at.grain);
    };
    struct end_of_run {
      assertion_notes& notes;
      ~end_of_run() { notes.path_so_far = nullptr; }
    } const ends{notes};
    process_namer named(c);
    auto result = run(named);
    if (notes.failure) return {verdict::failed, std::move(*notes.failure)};
    return result;
  }

  subject& subject_;
};

}  // namespace weft::detail
