// SPDX-License-Identifier: MIT
#include "weft/sched/sync/semaphore.hpp"

#include <cstddef>
#include <optional>
#include <source_location>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/sync/detail/permits.hpp"

namespace weft {

semaphore::semaphore(std::size_t n)
    : state_(detail::permits::make(n, detail::permits::kind::semaphore)) {}
semaphore::~semaphore() {
  detail::cause_event("the end of a semaphore", nullptr, [s = std::move(state_)] { s->close(); });
}

void semaphore::release(std::size_t n) noexcept {
  if (n == 0) return;
  // The copy keeps the state alive: the process that takes the permit may destroy this semaphore.
  detail::cause_event("the release of a permit", nullptr, [s = state_, n] { s->give_back(n); });
}

eff<void, syncing> semaphore::acquires(state s, std::source_location where) {
  co_await detail::located(syncing::own(s->location(), false, "weft::semaphore::acquire"), where);
  if (!s->try_take()) co_await detail::permits::take(s, where);
}
eff<bool, syncing> semaphore::tries(state s, std::optional<instant> until,
                                    std::source_location where) {
  co_await detail::located(syncing::own(s->location(), false, "weft::semaphore::try_acquire"),
                           where);
  bool has_one = s->try_take();
  if (!has_one && until) has_one = co_await detail::permits::take_until(s, *until, where);
  co_return has_one;
}

}  // namespace weft
