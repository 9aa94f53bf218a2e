// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

/// The exceptions that weft throws when it is used wrongly.  A message names the operation, the
/// handler and the source line, as far as they are known; `docs/errors.md` has cause and cure.
namespace [[gnu::visibility("default")]] weft {

/// A computation was awaited a second time, or after it was moved from.
struct eff_empty : std::logic_error {
  eff_empty() : logic_error("weft: this eff is empty: it was awaited before, or moved from") {}
};

/// A resumption was resumed a second time, or after it was moved from.
struct resumption_empty : std::logic_error {
  resumption_empty()
      : logic_error("weft: this resumption is empty: it was resumed before, or moved from") {}
};

/// A resumption was resumed, or an operation performed, after its handler had ended.
struct resumption_expired : std::logic_error {
  using logic_error::logic_error;
};

/// An operation whose clause takes the resumption was performed where nothing can be suspended: in
/// a value clause, or with ordinary code between the operation and its handler.
struct needs_control : std::logic_error {
  using logic_error::logic_error;
};

/// A borrowed handler that is not a region kept a resumption beyond the end of `handle`.
struct not_a_region : std::logic_error {
  using logic_error::logic_error;
};

/// outer_of<E> was performed where there is no second handler of E further out.
struct no_outer_handler : std::logic_error {
  using logic_error::logic_error;
};

/// A range of each(...) was read or advanced where it has no value: at its end, or while its
/// computation runs.
struct nothing_emitted : std::logic_error {
  nothing_emitted()
      : logic_error(
            "weft: there is no value here: the range of each(...) has ended, or its "
            "computation is running") {}
};

/// A value clause returned for an operation that never returns.
struct clause_returned : std::logic_error {
  using logic_error::logic_error;
};

/// A program that was run again, to be resumed a second time, did not repeat its first run.
struct replay_divergence : std::logic_error {
  using std::logic_error::logic_error;
};

/// A program would have to be run again from its beginning, but cannot be: an operation that seals
/// was answered, or there is no complete log.
struct unforkable : std::logic_error {
  using std::logic_error::logic_error;
};

/// An operation was to be captured bitwise, but the frames and handlers up to its handler cannot be
/// copied byte by byte.
struct uncopyable : std::logic_error {
  using std::logic_error::logic_error;
};

/// A multi_resumption was to be resumed bitwise, but another run of the same body runs or waits in
/// the memory to which the frames would be copied back; or the resume, or a run of the body, was on
/// another thread.  Or a process was to wait, or to continue on another thread, inside a body that
/// is resumed bitwise.
struct frames_in_use : std::logic_error {
  using std::logic_error::logic_error;
};

/// compared() found that replay and bitwise disagree: an object that lives across a capture is not
/// trivially copyable, or the body depends on more than the answers of its effects.
struct outcomes_differ : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace weft
