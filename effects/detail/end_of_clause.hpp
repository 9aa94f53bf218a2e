// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <string>

#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/memory/frame_pool.hpp"

/// The end of a clause, where the waiter for its answer continues.
///
///   CLAUSE-1  A clause may have dropped its continuation while tasks pin it (SUSPENSION-3 of
///       suspension.hpp).  These tasks may refer to frames outside the handler.  So the frame
///       outside continues, or is unwound, only after the continuation has been unwound.
///   CLAUSE-2  All frames under one handler belong to one thread at a time.  So the process that
///       waits for the answer of the clause unwinds the continuation.  The last pin reports when
///       that is possible (prompt::remainder_state).
///   CLAUSE-3  A prompt may have several unfinished clauses.  The first that ends takes charge of
///       the continuation; the others join its list, and are notified when all is unwound.
namespace weft::detail {

/// As a local, keeps a prompt alive, and the handler that it owns.  Does nothing if not `Needed`.
template <bool Needed>
class kept_prompt {
 public:
  explicit kept_prompt(prompt& p) noexcept : prompt_(p) { p.keep(); }
  kept_prompt(kept_prompt const&) = delete;
  kept_prompt& operator=(kept_prompt const&) = delete;
  ~kept_prompt() { prompt_.release(); }

 private:
  prompt& prompt_;
};
template <>
class kept_prompt<false> {
 public:
  explicit kept_prompt(prompt&) noexcept {}
};

class end_of_clause : public frame_end, public pooled_in_body {
 public:
  end_of_clause(prompt& p, continuation waiter) noexcept : prompt_(p), waiter_(waiter) {
    p.keep();
    p.clause_begins();
  }
  end_of_clause(end_of_clause const&) = delete;
  end_of_clause& operator=(end_of_clause const&) = delete;
  virtual ~end_of_clause() {
    if (is_counted_) prompt_.clause_ends();
    prompt_.release();
  }

  /// The place to continue at after a clause that may have dropped its continuation: `waiter`; or,
  /// if a pin keeps the continuation from being unwound, a new end_of_clause in front of `waiter`.
  [[gnu::cold]] static continuation after(prompt& p, continuation waiter) noexcept;

  [[nodiscard]] prompt& handlers_prompt() const noexcept { return prompt_; }

  // ---- as a frame_end

  continuation ended() noexcept override {
    if (has_remainder()) [[unlikely]]
      if (auto const waits = wait()) return waits;
    return done();
  }
  continuation dropped() noexcept override {
    if (has_remainder()) [[unlikely]]
      leave();  // no walk has looked for pins here: the last pin unwinds the continuation
    return done();
  }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] continuation outside() const noexcept override { return waiter_; }
  [[nodiscard]] bool lost() const noexcept override { return false; }

  // ---- CLAUSE-1: the frames outside are to be unwound

  [[nodiscard]] bool pins_outer_frames() const noexcept override { return has_remainder(); }
  /// Lets a walk enter the continuation if the clause still keeps it, because it is unwound
  /// together with the clause.
  [[nodiscard]] bool enter_kept_resumption(frame_end* from, continuation& leaf) noexcept override {
    if (is_unwound_ || is_asked_ || !prompt_.may_be_pinned()) return false;
    is_asked_ = true;  // a walk enters once: the continuation may contain this end of a clause
    asked_from_ = from;
    leaf = prompt_.innermost_left();
    return true;
  }
  [[nodiscard]] frame_end const* end_of_kept_resumption() const noexcept override {
    return &prompt_;
  }
  [[nodiscard]] frame_end* leave_kept_resumption() noexcept override {
    is_asked_ = false;
    return asked_from_;
  }
  /// Unwinds the frames of `h` inside this end, then the continuation that the clause dropped, and
  /// then the frames of `h` further out.  While that continuation cannot be unwound, the frames
  /// further out wait.
  void unwind_later(suspension& h) noexcept override;

  // ---- CLAUSE-1: a process waits

  /// A process that waits for the dropped continuation; on_remainder_free() wakes it.
  class waiting {
   public:
    virtual void on_remainder_free() noexcept = 0;

   protected:
    ~waiting() = default;
  };
  /// True if the dropped continuation can be unwound now.  If not, `w` is notified when it can, on
  /// any thread.
  [[nodiscard]] bool wait_with(waiting& w) noexcept;
  /// Unwinds the dropped continuation as far as possible.  True if nothing is left of it.
  [[nodiscard]] bool unwind() noexcept;

 private:
  [[nodiscard]] bool has_remainder() const noexcept {
    return prompt_.is() == prompt::state::leaving;
  }
  [[nodiscard]] bool try_claim_remainder() noexcept;
  void on_remainder_free() noexcept override;
  /// Returns a frame in which the running process waits until the continuation is unwound, and
  /// which then continues at this end.  Null if ordinary code waits for the answer.
  [[nodiscard]] std::coroutine_handle<> wait() noexcept;
  void leave() noexcept;
  continuation done() noexcept {
    continuation const waiter = waiter_;
    delete this;
    return waiter;
  }

  prompt& prompt_;
  continuation waiter_;
  waiting* waiting_ = nullptr;
  suspension* leaving_ = nullptr;
  end_of_clause* next_ = nullptr;  // the next on the list of the end in charge (CLAUSE-3)
  bool is_on_list_ = false;
  bool is_counted_ = true;
  bool is_unwound_ = false;
  bool is_asked_ = false;
  frame_end* asked_from_ = nullptr;
};

}  // namespace weft::detail
