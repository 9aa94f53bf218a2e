// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "weft/sched/base/process.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"

/// Messages in a trace.  The functions are empty unless the scheduler `S` is traced.
namespace weft::detail {

/// Adds to the trace that a process has sent a message to the mailbox, or received one.
template <class S>
void trace_message([[maybe_unused]] S& s, [[maybe_unused]] trace_kind what,
                   [[maybe_unused]] process const& p, [[maybe_unused]] mailbox const& b) noexcept {
  if constexpr (S::traces)
    add_to_trace(s, {.process = p.id(), .object = std::bit_cast<std::uintptr_t>(&b), .kind = what});
}
/// Adds to the trace that the running process has sent a message, and, unless `receiver` is null,
/// that the waiting receiver has received it.
template <class S>
void trace_sent(S& s, mailbox const& b, process const* receiver) noexcept {
  trace_message(s, trace_kind::send, s.running(), b);
  if (receiver) trace_message(s, trace_kind::receive, *receiver, b);
}

}  // namespace weft::detail
