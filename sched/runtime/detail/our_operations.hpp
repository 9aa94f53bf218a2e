// SPDX-License-Identifier: MIT
#pragma once

#include "effects/handle.hpp"
#include "effects/proc.hpp"
#include "sched/base/spawning.hpp"
#include "sched/mail/mail.hpp"
#include "sched/mail/routing.hpp"
#include "sched/sync/external_event.hpp"
#include "sched/sync/gate.hpp"
#include "sched/sync/timing.hpp"
#include "sched/tasks/tasking.hpp"

/// Which operations the scheduler handles, and of what kind they are.
namespace weft::detail {

/// Effects that the scheduler handles.
template <class E>
constexpr bool is_ours = times_among<E, proc, syncing, completions, mail, routing, timing> == 1;
template <class E>
constexpr bool is_spawning = false;
template <class... Es>
constexpr bool is_spawning<spawning<Es...>> = true;
template <class... Es>
constexpr bool is_ours<spawning<Es...>> = true;

template <class... Es>
constexpr bool is_ours<tasking<Es...>> = true;

/// Operations in whose frame something lies that others refer to while the process waits.
template <class O>
constexpr bool waits_in_its_frame =
    times_among<O, syncing::wait, syncing::wait_until, completions::wait, completions::wait_until,
                timing::sleep_until, timing::sleep_for, mail::send, mail::send_until, mail::receive,
                routing::send, routing::send_until> == 1;
/// Operations that are answered at once if that can be.
template <class O>
constexpr bool may_let_others_run = times_among<O, mail::send, mail::send_until, mail::receive,
                                                routing::send, routing::send_until> == 1;
/// Operations that end a step; others are answered at once.
template <class O>
constexpr bool lets_others_run =
    !may_let_others_run<O> &&
    (waits_in_its_frame<O> || times_among<O, proc::yield, proc::fork, proc::exit> == 1);

/// Operations that are answered at once, and by which a process that is to end is told so all the
/// same: those with which it begins to take something that it may have to wait for.
template <class O>
constexpr bool finds_cancellation = std::is_same_v<O, syncing::own>;

/// Operations on something that others share: where all that is explored, they may be steps.
template <class O>
constexpr bool concerns_others =
    times_among<O, syncing::wait, syncing::wait_until, syncing::wake, syncing::touch,
                completions::wait, completions::wait_until, mail::send, mail::send_until,
                mail::receive, routing::open, routing::send, routing::send_until> == 1;

}  // namespace weft::detail
