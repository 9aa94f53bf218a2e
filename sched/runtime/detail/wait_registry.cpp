// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/wait_registry.hpp"

#include <new>
#include <utility>

#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"

namespace weft::detail {

namespace {
constexpr auto everything = [](process const&) noexcept { return true; };
}  // namespace

wait_registry::wait_registry(ready_sink& sink, bool several_threads, unsigned wakes)
    : groups(several_threads),
      gates(sink, {.locks = several_threads, .wakes_candidates = wakes != 1}),
      external(sink, {.locks = true, .is_open_to_others = true}),
      tasks(sink, {.locks = several_threads}),
      alarms(sink, several_threads),
      mail_(new mailbox_registry(sink, several_threads)),
      sink_(sink) {}
wait_registry::~wait_registry() { mail_->close(); }

bool wait_registry::try_reset() noexcept {
  if (mail_->is_unused()) return true;
  if (mail_->routes_if_any()) return false;
  try {
    auto* const fresh = new mailbox_registry(sink_, mail_->has_several_threads());
    std::exchange(mail_, fresh)->close();
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}
void wait_registry::cancel_all() noexcept {
  gates.cancel_all();
  alarms.cancel_all();
  auto const cancel_it = [this](thunk t) { sink_.wake_cancelled(*t.release()); };
  tasks.cancel_all();
  mail_->take_all(cancel_it);
  turn_away_if(everything, cancel_it);
}
void wait_registry::drop_all() noexcept {
  mail_->take_all([](thunk) {});
  turn_away_if(everything, [](thunk) {});
  tasks.drop_all();
  gates.drop_all();
  alarms.drop_all();
  external.drop_all();
}
bool wait_registry::has_waiters_inside() const {
  return gates.has_waiters() || alarms.has_waiters() || tasks.has_waiters() ||
         mail_->has_waiters() || room.has_waiters();
}

}  // namespace weft::detail
