// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "sched/detail/catch2_capture.hpp"
#include "sched/detail/choosing.hpp"
#include "sched/detail/one_run.hpp"
#include "sched/exploration.hpp"
#include "sched/path.hpp"

/// A run in which an assertion of Catch2 has failed is a failed one, whatever came of it.
namespace weft::detail {

/// Says who runs.
class naming final : public chooser {
 public:
  explicit naming(chooser& c) : chooser_(c) {}

  std::size_t choose(candidates const& who) override {
    auto const next = chooser_.choose(who);
    running_.reset();
    if (next != candidates::nobody) running_ = who[next];
    return next;
  }
  void step_ends() override {
    running_.reset();
    chooser_.step_ends();
  }
  void is_over(bool was_thrown) override {
    running_.reset();
    chooser_.is_over(was_thrown);
  }
  [[nodiscard]] touch_listener* listener() noexcept override { return chooser_.listener(); }

 private:
  chooser& chooser_;
  std::optional<process_id>& running_ = catch2_capture::instance().notes().running;
};

class catch2_subject final : public subject {
 public:
  explicit catch2_subject(subject& s) : subject_(s) {}

  [[nodiscard]] run_result run(chooser& c, run_log& log, run_limits const& limits) override {
    struct place {
      run_log const& log;
      granularity grain;
    } const here{log, limits.granularity};
    auto& notes = catch2_capture::instance().notes();
    notes = {};
    notes.of = &here;
    notes.path_so_far = [](void const* of) {
      auto const& at = *static_cast<place const*>(of);
      return at.log.path(at.grain);
    };
    naming named(c);
    auto result = subject_.run(named, log, limits);
    notes.path_so_far = nullptr;
    if (notes.failure) return {verdict::failed, std::move(*notes.failure)};
    return result;
  }

 private:
  subject& subject_;
};

}  // namespace weft::detail
