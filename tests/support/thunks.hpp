// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string_view>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

/// Thunks for tests of backends: of processes that are never run.
namespace weft::tests {

/// Counts how often processes were dropped, by any thread.
struct dropped {
  static inline std::atomic<int> count = 0;
  dropped() = default;
  dropped(dropped&& other) noexcept : counts_(std::exchange(other.counts_, false)) {}
  ~dropped() { count += counts_; }

 private:
  bool counts_ = true;
};

/// A scheduler that runs no process.
class nowhere final : public detail::scheduler_prompt {
 public:
  detail::continuation finished(process&) noexcept override { std::terminate(); }
  detail::continuation ended() noexcept override { std::terminate(); }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override { return name_; }
  [[nodiscard]] std::source_location installed_at() const noexcept override { return {}; }
  void visit_outers(detail::prompt_visitor) const override {}

 private:
  void end_evidence() noexcept override {}
  std::string_view name_ = "nowhere";
};

/// For that backend, if it has a header in each process.  Two allocations: the process and its
/// frame.
template <class Backend = void>
thunk numbered(std::uint64_t n) {
  static nowhere ground;
  static detail::result_slot<void> sink;
  auto const first = [](dropped) -> eff<void> { co_return; }(dropped()).release(detail::internal());
  try {
    return thunk(process::start({}, first, nullptr, ground, sink, true,
                                detail::header_layout_for<Backend>()),
                 n);
  } catch (...) {
    first.destroy();
    throw;
  }
}

}  // namespace weft::tests
