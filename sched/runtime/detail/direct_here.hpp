// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/direct_spawn.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/runtime/detail/process_clauses.hpp"

/// The operations that a process performs without a call of its scheduler, if the scheduler permits
/// that: messages (direct_mail.hpp) and spawns (direct_spawn.hpp).
namespace weft::detail {

template <class S>
direct_mail direct_mail_of(S& s) noexcept {
  if constexpr (S::observer::is_there)
    return {};
  else
    return {&s.waits.mail(), &s.worker_here(), &s.cancellation.reasons(), {}, &s};
}
template <class S>
direct_spawn direct_spawn_of(S& s) noexcept {
  if constexpr (S::observer::is_there || S::on_several_threads) {
    return {};
  } else {
    if (!s.spawning_.plain || s.is_limited()) return {};
    return {s.spawning_.plain, s.spawning_.plain, &s.own, begin_directly<S>};
  }
}
/// Exists while this thread runs processes of the scheduler: sets the variables of the thread by
/// which they send, receive and spawn without a call of the scheduler.
template <class S>
struct direct_here {
  explicit direct_here(S& s) noexcept
      : mail_(direct_mail_of(s)),
        spawn_(direct_spawn_of(s)),
        before_(std::exchange(worker_state::at_work, &s.worker_here())) {
    s.worker_here().pool = &frames;
    s.worker_here().ground = &s;
  }
  direct_here(direct_here const&) = delete;
  direct_here& operator=(direct_here const&) = delete;
  ~direct_here() { worker_state::at_work = before_; }

 private:
  direct_mail_here const mail_;
  direct_spawn_here const spawn_;
  worker_state* const before_;
};

}  // namespace weft::detail
