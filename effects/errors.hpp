// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

/// What weft throws when it is used wrongly.  Each message names the operation, the handler and
/// the place; `docs/errors.md` has cause and cure.
namespace [[gnu::visibility("default")]] weft {

/// Awaiting a computation that was awaited before, or moved from.
struct eff_empty : std::logic_error {
  eff_empty() : logic_error("weft: this eff is empty: it was awaited before, or moved from") {}
};

/// Resuming what was resumed before, or moved from.
struct resumption_empty : std::logic_error {
  resumption_empty()
      : logic_error("weft: this resumption is empty: it was resumed before, or moved from") {}
};

/// Resuming, or asking for an operation, when the handler is no more.
struct resumption_expired : std::logic_error {
  using logic_error::logic_error;
};

/// Resuming a rest under a handler that performs to that rest's own body.
struct rebound_to_itself : std::logic_error {
  using logic_error::logic_error;
};

/// An operation whose clause takes the resumption was performed where nothing can be suspended: in
/// a value clause, or with ordinary code between the operation and its handler.
struct needs_control : std::logic_error {
  using logic_error::logic_error;
};

/// A borrowed handler kept a resumption beyond `handle`, and is no region.
struct not_a_region : std::logic_error {
  using logic_error::logic_error;
};

/// outer_of<E>, where only one handler of E is in sight.
struct no_outer_handler : std::logic_error {
  using logic_error::logic_error;
};

/// Reading from, or moving on, a range of each(...) where there is no value: at its end, or while
/// its computation runs.
struct nothing_emitted : std::logic_error {
  nothing_emitted()
      : logic_error(
            "weft: there is no value here: the range of each(...) is over, or its "
            "computation is running") {}
};

/// A value clause returned for an operation that never returns.
struct clause_returned : std::logic_error {
  using logic_error::logic_error;
};

/// A program, run again to be resumed a second time, did not do what it did the first time.
struct replay_divergence : std::logic_error {
  using std::logic_error::logic_error;
};

/// A program would have to be run again from its beginning, and cannot: it was answered with what
/// cannot be had twice, or keeps no log.
struct unforkable : std::logic_error {
  using std::logic_error::logic_error;
};

/// An operation was to be resumed twice bitwise, and what stands between it and its handler cannot
/// be copied byte by byte.
struct uncopyable : std::logic_error {
  using std::logic_error::logic_error;
};

/// A multi_resumption was to be resumed bitwise while something else of the same body runs or waits
/// in the place of its frames; or on another thread.
struct frames_in_use : std::logic_error {
  using std::logic_error::logic_error;
};

/// compared() found that replay and bitwise disagree: something alive across a capture is not
/// trivially copyable, or the body depends on more than the answers of its effects.
struct outcomes_differ : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace weft
