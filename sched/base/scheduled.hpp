// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/effects/proc.hpp"

/// How a scheduler carries out an operation.  The operation declares this by a static member
/// `scheduling`; an operation without that member is answered at once.  The rules of yield, exit
/// and fork stand below, since effects/ does not know schedulers.
namespace weft::detail {

/// How an operation affects the step of its process.
enum class step_kind : std::uint8_t {
  at_once,           ///< The operation is answered at once, and the step goes on.
  ends,              ///< The operation ends the step.
  ends_if_it_waits,  ///< The operation ends the step if the process has to wait.
  spawns             ///< The operation starts a process, and ends the step if too many are ready.
};

struct scheduling_rule {
  step_kind step = step_kind::at_once;
  /// Whether, while the process waits, other processes refer to the frame that performs the
  /// operation.
  bool waits_in_frame = false;
  /// Whether the operation accesses an object that processes share: where schedules are explored it
  /// may be a step of its own.
  bool is_shared = false;
  /// Whether the operation throws `cancelled` in a cancelled process although it is answered at
  /// once.  Set for an operation that announces that the process will take an object, such as a
  /// lock, for which the process may then have to wait.
  bool checks_cancellation = false;
  /// Whether the operation does not count against most_operations_in_step (worker_state.hpp).
  bool is_free = false;
  /// Whether a process that is run again performs the operation, too, although its log has the
  /// answer.
  bool is_repeated = false;
  /// Whether, where schedules are explored, the deferred events of the process
  /// (deferred_events.hpp) take effect before the operation.  They do so in any case before an
  /// operation that ends its step, spawns or is shared.
  bool follows_events = false;
  /// Whether the operation does no more than put the process back into the queue.
  bool only_yields = false;
  /// Whether the process needs a log for the operation.
  bool needs_log = false;
  /// Whether the operation ends the process.
  bool ends_process = false;
};
/// The rule of an operation that suspends the process: it waits in the frame that performs the
/// operation.
inline constexpr scheduling_rule scheduled_as_wait{
    .step = step_kind::ends, .waits_in_frame = true, .is_shared = true};
/// The rule of an operation that is answered at once if that is possible; else the process waits in
/// the frame that performs the operation.
inline constexpr scheduling_rule scheduled_as_try{
    .step = step_kind::ends_if_it_waits, .waits_in_frame = true, .is_shared = true};
/// The rule of an operation on a shared object that never waits.
inline constexpr scheduling_rule scheduled_as_access{.is_shared = true};

template <class O>
constexpr scheduling_rule scheduling_of{};
template <class O>
  requires requires { O::scheduling; }
constexpr scheduling_rule scheduling_of<O> = O::scheduling;
template <std::derived_from<yielding::yield> O>
constexpr scheduling_rule scheduling_of<O>{.step = step_kind::ends, .only_yields = true};
template <std::derived_from<yielding::exit> O>
constexpr scheduling_rule scheduling_of<O>{.step = step_kind::ends, .ends_process = true};
template <>
inline constexpr scheduling_rule scheduling_of<proc::fork>{.step = step_kind::ends,
                                                           .needs_log = true};

/// The operation `O` of an effect `E` that names a row, such as spawning<A>.  It is another type
/// for each row, but the clause for `O` performs the operations of all rows
/// (delegating_evidence.hpp).
template <class E, class O>
struct operation_with_row : O {
  using O::O;
};

/// Whether the scheduler handles the effect: true of effects that only a process performs, and of
/// tasking<...>.
template <class E>
constexpr bool is_scheduled = requires { requires E::performed_by_processes; };

}  // namespace weft::detail
