// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/direct_spawn.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/mail/detail/direct_mail.hpp"
#include "weft/sched/runtime/detail/process_clauses.hpp"

/// What processes do without their scheduler: messages (direct_mail.hpp) and spawns
/// (direct_spawn.hpp), as far as the scheduler lets them.
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
/// While it lives, this thread runs processes of that scheduler, which do without the scheduler what
/// they can.
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
