// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_programs/world.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/timing.hpp"

/// The failures of processes and tasks, and the groups that these cancel.
namespace weft::tests {

/// The failure of a program.
struct thrown_by : std::runtime_error {
  explicit thrown_by(int n) : runtime_error("thrown by " + std::to_string(n)) {}
};

/// Whether the exception, or each of several, is the failure of a program.
[[nodiscard]] inline bool is_failure(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (thrown_by const&) {
    return true;
  } catch (exceptions const& e) {
    return std::ranges::all_of(e.all, [](auto const& one) { return is_failure(one.error); });
  } catch (...) {
    return false;
  }
}

/// Puts a group around a process, as long as it exists.
class inside {
 public:
  inside(liver& me, group::kind k) : g{me.in, k}, me_(me) { me.in = &g; }
  inside(inside const&) = delete;
  inside& operator=(inside const&) = delete;
  ~inside() {
    me_.in = g.out;
    if (std::erase(me_.scopes_of_handle, &g) != 0)
      me_.end_of_handle = std::min(me_.end_of_handle, g.end_of_inside());
  }

  group g;

 private:
  liver& me_;
};

/// Does something that cancels its group if it fails.  Where times are checked, notes when.
template <class Computation>
Computation in_group(shared_world& w, group& g, Computation body, bool if_body_ended = false) {
  std::exception_ptr error;
  try {
    co_return co_await std::move(body);
  } catch (cancelled const&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  if (w.is_timed && !(if_body_ended && g.is_body_open)) {
    instant const now = co_await timing::now{};
    g.note_cancelled(now);
  }
  std::rethrow_exception(error);
}

}  // namespace weft::tests
