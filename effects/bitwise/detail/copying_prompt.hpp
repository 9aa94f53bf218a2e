// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>

#include "weft/effects/detail/capture.hpp"
#include "weft/effects/detail/captured_frames.hpp"
#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/memory/frame_pool.hpp"

/// A prompt that returns to a capture of its body by copying the frames back.
///
///   BITWISE-1  All runs of the body use one place: this prompt, and its arena.  At any time there
///       is nothing in it (the prompt has `ended`), or one run, active or suspended.  If the run is
///       suspended and a capture can go back to this point, that capture is the `occupant_`.
///   BITWISE-2  A capture owns one count of the prompt, and so does a run.  The occupant and its
///       run share one count.
///   BITWISE-3  Frames and captures belong to the thread on which the body began.  Once the body
///       has continued, or ended, on another thread, the state of its frames is not known.  Then no
///       capture can go back, and the arena is never deleted.
///   BITWISE-4  A capture saves the arena as late as possible: before a run continues from it, if
///       the capture may be needed again; or, while it is the occupant, before another capture is
///       restored in its place.
///   BITWISE-5  `origin_`, if not null, is the capture from which the present run continued; the
///       arena was marked then (frame_arena.hpp).  A frame runs only when the frame inside it has
///       ended.  So of the frames that are still there since the mark, only the innermost can have
///       run.  The others need not be destroyed, because they are trivially copyable.
namespace weft::detail {

class copied_capture;
class frame_arena;

class copying_prompt : public prompt {
 public:
  void step_in() noexcept {
    prompt::step_in();
    arena_ = &place_;
  }
  /// Prepares a capture of the operation `at` from `leaf`.  Throws uncopyable if the chain cannot
  /// be copied.
  void claim(std::coroutine_handle<> leaf, site const& at);
  /// Called when the chain has been captured: returns the capture, to which the run's count moves
  /// (BITWISE-2).
  [[nodiscard]] shared_capture captured(captured_frames rest) noexcept;

  continuation dropped() noexcept override;
  continuation drop_before(continuation outside, bool asked) noexcept override;

 protected:
  copying_prompt();
  ~copying_prompt() override;

  /// Ends a run, of which no frames are left.
  void finish() noexcept;
  /// Called when the region or the borrow scope of the handler ends.
  void end_of_handler() noexcept;

 private:
  friend class copied_capture;

  /// Whether the caller is on the body's own thread (BITWISE-3).
  [[nodiscard]] bool is_at_home() const noexcept { return frames.arenas() == home_; }
  void note_thread() noexcept {
    if (!is_at_home()) [[unlikely]]
      home_ = this;
  }
  void answered() noexcept override { note_thread(); }
  void forget_origin() noexcept;
  void set_origin(copied_capture& c) noexcept;
  void change_origin(copied_capture* c) noexcept;
  void lose_handler_if_over() noexcept;
  [[nodiscard]] copied_capture& take_spare();
  [[nodiscard]] copied_capture* make_capture();
  void put_spare(copied_capture& c) noexcept;
  captured_frames go_back_to(copied_capture& c, bool last);
  void make_room(copied_capture const& c);
  void forget(copied_capture& c) noexcept;
  void unwind_body() noexcept override;
  [[noreturn, gnu::cold]] void throw_over(site const& at) const;
  [[noreturn, gnu::cold]] void throw_in_use(site const& at) const;

  frame_arena& place_ = frames.make_arena(arena_here);
  /// The table of the thread's arenas; or `this`, if the body has been on another thread
  /// (BITWISE-3).
  void const* home_ = frames.arenas();
  copied_capture* occupant_ = nullptr;  // the capture of the suspended run (BITWISE-1)
  copied_capture* origin_ = nullptr;    // the capture from which this run continued (BITWISE-5)
  bool origin_is_spare_ = false;        // no other object refers to origin_: it can be reused
  std::size_t captures_ = 0;            // the number of captures that exist
  bool over_ = false;                   // the handler has ended
  copied_capture* next_ = nullptr;      // owned; the capture that claim() has prepared
  copied_capture* spares_ = nullptr;    // owned; a list of captures that can be reused
};

}  // namespace weft::detail
