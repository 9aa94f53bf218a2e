// SPDX-License-Identifier: MIT
#include "weft/sched/sync/mutex.hpp"

#include <optional>
#include <source_location>
#include <stdexcept>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/sync/detail/permits.hpp"

namespace weft {

mutex::mutex() : state_(detail::permits::make(1, detail::permits::kind::mutex)) {}
mutex::~mutex() {
  detail::cause_event("the end of a mutex", nullptr, [s = std::move(state_)] { s->close(); });
}

void mutex::guard::give_back() noexcept {
  if (detail::events_are_deferred()) [[unlikely]]
    detail::cause_event("an unlock", nullptr, [s = std::move(state_)] { s->give_back(1); });
  else
    state_->give_back(1);
}
void mutex::guard::require() const {
  if (!state_) throw std::logic_error("weft: a guard of a mutex has none: it has unlocked it");
}
mutex::state mutex::guard::taken() {
  require();
  return std::move(state_);
}

eff<mutex::guard, syncing> mutex::locks(state s, std::source_location where) {
  process_id const me =
      co_await detail::located(syncing::own(s->location(), false, "weft::mutex::lock"), where);
  if (!s->try_take()) co_await detail::permits::take(s, where);
  s->set_holder(me, where);
  co_return guard(std::move(s));
}
eff<std::optional<mutex::guard>, syncing> mutex::tries(state s, std::optional<instant> until,
                                                       std::source_location where) {
  process_id const me =
      co_await detail::located(syncing::own(s->location(), false, "weft::mutex::try_lock"), where);
  bool has_it = s->try_take();
  if (!has_it && until) has_it = co_await detail::permits::take_until(s, *until, where);
  if (!has_it) co_return std::nullopt;
  s->set_holder(me, where);
  co_return guard(std::move(s));
}

}  // namespace weft
