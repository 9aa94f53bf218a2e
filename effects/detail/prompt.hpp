// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/names.hpp"
#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/suspension.hpp"
#include "weft/effects/errors.hpp"

/// A prompt: one run of a body under a handler.
///
///   PROMPT-1  A prompt counts its owners: its body, until the body ends; each inner prompt that
///       can perform to it; each coroutine clause that is not done.  While the body is suspended,
///       its count belongs to its resumption.  The count is plain, because all frames under one
///       handler belong to one thread at a time.  Only two kinds of prompts are counted atomically:
///       those around processes of several threads, and those whose body a pin will unwind
///       (SUSPENSION-3).  They are marked before a second thread uses them.
///   PROMPT-2  `current_` begins the list of active prompts of this thread, from the innermost
///       outwards up to the nearest ordinary code that drives, such as a call of run().  A capture
///       walks along this list to the prompt of the handler; if that is the innermost, no step is
///       needed.  A capture cannot reach a prompt that is not on the list.
///   PROMPT-3  After a capture to it, a prompt is suspended: it holds the chain (suspension.hpp).
///   PROMPT-4  Each resume sets anew the waiter for the answer: the slot `to_` gets the answer,
///       then `waiter_` continues.
///   PROMPT-5  A prompt that has ended has no frames left.  If its handler was borrowed, and other
///       computations can still perform to it, their later operations throw resumption_expired.
namespace weft::detail {

/// Refers to a function that is called with each of several prompts.
class prompt_visitor {
 public:
  template <class F>
  explicit prompt_visitor(F const& f) noexcept
      : data_(&f), call_([](void const* data, prompt& p) { (*static_cast<F const*>(data))(p); }) {}
  void operator()(prompt& p) const { call_(data_, p); }

 private:
  void const* data_;
  void (*call_)(void const*, prompt&);
};

class prompt : public suspension, public pooled_in_body {
 public:
  prompt(prompt const&) = delete;
  prompt& operator=(prompt const&) = delete;

  // ---- counted (PROMPT-1)

  void keep() noexcept {
    // Relaxed: the caller's own count remains; and an unshared count belongs to one thread.
    if (is_shared_by_threads_) [[unlikely]]
      owners_.fetch_add(1, std::memory_order_relaxed);
    else
      owners_.store(owners() + 1, std::memory_order_relaxed);  // relaxed: only one thread counts
  }
  void release() noexcept {
    if (drop_count()) [[unlikely]]
      destroy();
  }
  [[nodiscard]] unsigned owners() const noexcept {
    return owners_.load(std::memory_order_relaxed);  // relaxed: exact on one thread, else a hint
  }
  /// Called before several threads keep and release the prompt: from then on it counts atomically.
  void become_shared() noexcept { is_shared_by_threads_ = true; }
  /// Releases the prompt in the destructor of an inner prompt: the last owner puts the prompt on a
  /// list, and delete_deferred() deletes it afterwards.  So deleting nested prompts takes no native
  /// stack.
  void release_by_inner() noexcept {
    if (drop_count()) up_ = std::exchange(deferred_deletes_, this);
  }
  static void delete_deferred() noexcept {
    while (deferred_deletes_) delete std::exchange(deferred_deletes_, deferred_deletes_->up_);
  }

  // ---- running

  /// Sets the waiter for the answer: `to` gets the answer, then `waiter` continues (PROMPT-4).
  void aim(continuation waiter, result_slot_base& to) noexcept { waiter_ = waiter, to_ = &to; }
  /// Called before the body starts: makes this the innermost active prompt.
  void step_in() noexcept {
    up_ = std::exchange(current_, this);
    if (up_) arena_ = up_->arena_;
  }

  [[nodiscard]] bool is_innermost() const noexcept { return current_ == this; }
  /// Whether this prompt is around the running code, with no ordinary code that drives in between.
  [[nodiscard]] bool is_active() const noexcept {
    prompt const* p = current_;
    while (p && p != this) p = p->up_;
    return p != nullptr;
  }
  /// Called before a capture through other prompts: from now on, this prompt holds the prompts
  /// inside it.  Throws needs_control if this prompt is not active (is_active()).
  void hold_inner(std::string_view operation, std::source_location where) {
    if (!hold(current_, *this)) throw_across(operation, where);
    for (prompt const* p = current_; p != this; p = p->up_) watched_ |= p->watched_ & in_scope;
  }
  /// Suspends the chain from `leaf`, which performs `operation` and waits in `waiting`, up to here.
  void capture(std::coroutine_handle<> leaf, result_slot_base& waiting,
               operation_info const& operation) noexcept {
    held_by_ = nullptr;
    suspend(leaf, waiting, operation);
    inner_ = std::exchange(current_, up_);
  }
  /// Resumes the captured chain: returns the frame to run next.
  [[nodiscard]] std::coroutine_handle<> activate() noexcept {
    is_ = state::active;
    up_ = std::exchange(current_, inner_);
    if (recording_ != 0) [[unlikely]] {
      if (recording_ & inner_records) tell_recorders(*this);
      if (recording_ & itself_records) answered();
    }
    return leaf();
  }
  /// Throws resumption_expired unless the continuation may be resumed, and std::logic_error if a
  /// scope is open in it that the running process may not resume (frame_end::may_resume_inside()).
  void require_open() {
    if (watched_ != 0) return require_open_slow();
    if (is_ != state::suspended) [[unlikely]]
      throw_expired(lost_handler());
  }
  [[gnu::noinline]] void require_open_slow() {
    if (is_given_up() || is_ != state::suspended) [[unlikely]]
      throw_expired(lost_handler());
    require_outers();
    if (watched_ & in_scope) require_own_scopes();
  }
  /// Throws resumption_expired if a handler further out has ended.
  void require_outers() {
    // Relaxed: the count only says whether a check is needed.  If a handler has ended on another
    // thread, this thread sees that only if something else synchronises the two threads.
    if ((watched_ & fragile) && checked_ != losses_.load(std::memory_order_relaxed)) [[unlikely]]
      check_outers();
  }
  /// Drops the resumption: unwinds the suspended chain, or what is left of it, and gives up the
  /// resumption's count.
  [[gnu::noinline]] void drop() noexcept {
    if (is_given_up() || is_ == state::ended || is_ == state::leaving) return release();
    if (!drivers_) [[unlikely]]
      notice_drop();
    if (is_pinned()) [[unlikely]]
      abandon_handler();
    unwind_body();
  }
  /// Drops the resumption as one step of an unwinding that continues at `outside` later.  Returns
  /// the frame or frame_end to unwind next.  `asked`: find_pin() has asked the ends of clauses in
  /// the chain for pins, and there are none (SUSPENSION-3).
  [[nodiscard]] virtual continuation drop_before(continuation outside, bool asked) noexcept;
  // ---- the remainder: a continuation that a clause has dropped while it is pinned (SUSPENSION-3)

  /// Which party unwinds the dropped continuation.  `pinned`: the last pin; `clauses`: an
  /// unfinished clause, once no pin is left; `free`: an unfinished clause, and no pin is left;
  /// `awaited`: the end of a clause, `waiter_`, which is notified when no pin is left.
  enum class remainder_state : unsigned char { pinned, clauses, free, awaited };
  void clause_begins() noexcept { ++clauses_; }
  void clause_ends() noexcept { --clauses_; }
  void unwind_on() noexcept override;
  /// The end of a clause that is in charge of the dropped continuation (CLAUSE-3 of
  /// end_of_clause.hpp); null if there is none yet.
  [[nodiscard]] frame_end* in_charge() const noexcept {
    return in_charge_ ? &waiter_.end() : nullptr;
  }
  /// Puts `by`, the end of a clause, in charge of the dropped continuation.  True if the
  /// continuation can be unwound now; if not, `by` is notified when it can.
  [[nodiscard]] bool try_claim_remainder(frame_end& by) noexcept {
    waiter_ = continuation(by);
    in_charge_ = true;
    // [1] acq_rel, pairs with [2] in unwind_on() (prompt.cpp).  If this exchange is the first of
    // the two, the last pin sees waiter_; if it is the second, it sees all that the pin has done.
    return remainder_.exchange(remainder_state::awaited, std::memory_order_acq_rel) ==
           remainder_state::free;
  }
  /// Unwinds the dropped continuation as far as possible.  True if nothing is left of it.
  [[nodiscard]] bool unwind_further() noexcept {
    remainder_.store(remainder_state::clauses,
                     std::memory_order_relaxed);  // relaxed: no pin is left that uses remainder_
    is_ = state::cut;
    unwind_body();
    return is_ != state::leaving;
  }
  /// Called when a clause gives up the dropped continuation, because nothing can wait at the end of
  /// the clause.  If no other clause unwinds the continuation, the last pin will; if no pin is
  /// left, this call does.
  void leave_remainder() noexcept;
  /// For the prompt of a scheduler: returns a frame in which the running process waits until the
  /// remainder is unwound, and which then continues at the argument.  Null if no process runs.
  [[nodiscard]] virtual std::coroutine_handle<> wait_for_remainder(end_of_clause&) noexcept {
    return {};
  }

  // ---- queries

  /// Whether the handler must not be used any more.
  [[nodiscard]] bool handler_is_gone() const noexcept {
    return expired_ || (borrowed_ && is_ == state::ended);
  }
  [[nodiscard]] bool is_copyable() const noexcept { return is_copyable_; }
  [[nodiscard]] bool handler_may_go() const noexcept { return borrowed_ || (watched_ & fragile); }
  [[nodiscard]] result_slot_base& to() const noexcept { return *to_; }
  [[nodiscard]] suspension* held_by() const noexcept override { return held_by_; }
  [[nodiscard]] bool records() const noexcept { return (recording_ & itself_records) != 0; }
  [[nodiscard]] prompt* up() const noexcept { return up_; }
  /// If suspended: the innermost prompt of the chain; this one, if there is no other.
  [[nodiscard]] prompt const* innermost_inside() const noexcept { return inner_; }
  /// For traces: whether this is the prompt of the handler at that address.
  [[nodiscard]] virtual bool is_of(void const*) const noexcept { return false; }
  void held_by_now(suspension* h) noexcept { held_by_ = h; }
  /// Called when the answer that the leaf waits for has been filled in.
  virtual void answered() noexcept {}
  /// The source location of `handle`.
  [[nodiscard]] virtual std::source_location installed_at() const noexcept = 0;
  /// Visits the prompts further out that the body or the clauses of this prompt may perform to.
  virtual void visit_outers(prompt_visitor f) const = 0;
  void add_outers(std::vector<prompt*>& to) const;

  /// Throws resumption_expired if the handler must not be used any more.
  void require_handler() const {
    if (expired_) [[unlikely]]
      throw_gone("on_return", to_->where);
  }
  [[noreturn]] void throw_gone(std::string_view what, std::source_location where) const;
  [[noreturn]] void throw_across(std::string_view operation, std::source_location where) const;

  // ---- as a frame_end

  [[nodiscard]] std::string text() const override;
  [[nodiscard]] continuation outside() const noexcept override { return waiter_; }
  [[nodiscard]] bool lost() const noexcept override { return expired_; }
  /// Called by unwind() when it has destroyed the body, which has not ended by itself.
  continuation dropped() noexcept override {
    continuation const outside = waiter_;
    finish();
    return outside;
  }

  /// Called when a scope is opened: marks the innermost prompt.  hold_inner() marks the prompts
  /// further out.
  static void note_scope() noexcept { current_->watched_ |= in_scope; }

  /// The innermost active prompt; a scheduler sets it when it switches chains.
  [[nodiscard]] static prompt* innermost() noexcept { return current_; }
  static void set_innermost(prompt* p) noexcept { current_ = p; }

  /// The arena for new frames of the running body; null: they use the pool.
  [[nodiscard]] static frame_arena* arena_here() noexcept {
    return current_ ? current_->arena_ : nullptr;
  }
  /// Whether the frames of the running body may wait where they are: not if the body is copied.
  [[nodiscard]] static bool frames_may_wait() noexcept { return !arena_here(); }

  /// Ordinary code that drives: while it exists, prompts outside cannot be captured to (PROMPT-2).
  class driver {
   public:
    driver() noexcept : outside_(std::exchange(current_, nullptr)) { ++drivers_; }
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;
    ~driver() {
      current_ = outside_;
      --drivers_;
    }

   private:
    prompt* outside_;
  };

 protected:
  prompt() = default;
  virtual ~prompt() = default;

  /// Called when the body has ended and its result is written: the prompt outside becomes the
  /// innermost.
  void step_out() noexcept { current_ = up_; }
  /// Ends the prompt, when no frames are left (PROMPT-5).
  void finish() noexcept {
    is_ = state::ended;
    if (borrowed_) {
      if (is_shared()) [[unlikely]]
        lose_handler();
      leave_region();
    }
    release();
  }
  /// Whether there is more than one owner.
  [[nodiscard]] bool is_shared() const noexcept { return owners() > 1; }
  /// Called when the region or the borrow scope of the handler ends before the body.
  void end_of_handler() noexcept;
  /// If a handler further out may end before the body is resumed (`may_go`), makes
  /// require_outers() check for that.  Called by constructors.
  void set_fragile(bool may_go) noexcept {
    if (!may_go) return;
    watched_ |= fragile;
    checked_ = losses_.load(std::memory_order_relaxed);  // relaxed: a hint, for require_outers()
  }

  /// Gives up the handler, which may end before the body is unwound (SUSPENSION-3).
  [[gnu::cold]] void abandon_handler() noexcept;

  /// Exchanges the evidence: from now on, operations to this handler throw resumption_expired.
  virtual void end_evidence() noexcept = 0;
  /// Called when the prompt of a borrowed handler ends.
  virtual void leave_region() noexcept {}
  /// Whether debug builds print a notice if ordinary code drops the continuation (region.hpp).
  [[nodiscard]] virtual bool is_noticed_when_dropped() const noexcept { return false; }
  /// Prints the notice that ordinary code drops the continuation, if one is to be printed.
  [[gnu::cold]] void notice_drop() const noexcept;
  /// Destroys the suspended frames.
  virtual void unwind_body() noexcept { (void)unwind_suspended(); }
  /// Called when a borrowed handler has ended, or is about to, while computations are left that may
  /// perform to it: counts the loss, and makes their later operations throw (PROMPT-5).
  void lose_handler() noexcept {
    // Relaxed: the count is a hint for require_outers().
    losses_.fetch_add(1, std::memory_order_relaxed);
    end_evidence();
  }

  bool borrowed_ = false;
  bool is_copyable_ = false;  // may be copied byte by byte, as part of a body
  bool in_charge_ = false;  // waiter_, the end of a clause, has charge of the remainder (CLAUSE-3)
  /// Bits of watched_, which require_open() tests together.  `given_up`: no resumption owns the
  /// chain any more, and only the party that unwinds it may use `is_`; `fragile`: a handler further
  /// out may end before the body is resumed; `in_scope`: a scope may be open in the body.
  static constexpr unsigned char given_up = 1;
  static constexpr unsigned char fragile = 2;
  static constexpr unsigned char in_scope = 4;
  unsigned char watched_ = 0;
  [[nodiscard]] bool is_given_up() const noexcept { return (watched_ & given_up) != 0; }
  frame_arena* arena_ = nullptr;  // for frames of the body: the prompt's own, or its outer prompt's

 private:
  /// Drops one count.  True if it was the last one.
  [[nodiscard]] bool drop_count() noexcept {
    // acq_rel, pairs with itself: each drop of a count is a release, and the last one also an
    // acquire.  So the thread that destroys the prompt has seen all that was done with it.
    if (is_shared_by_threads_) [[unlikely]]
      return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    unsigned const left = owners() - 1;
    owners_.store(left, std::memory_order_relaxed);  // relaxed: only one thread counts
    return left == 0;
  }
  [[gnu::noinline]] void destroy() noexcept {
    delete this;
    delete_deferred();
  }
  void check_outers();
  [[gnu::cold]] void require_own_scopes();
  void on_handed_over() noexcept override;
  void share_with_outers() noexcept;
  void share_without_memory() noexcept;
  void keep_suspension() noexcept override { keep(); }
  void release_suspension() noexcept override { release(); }
  [[noreturn]] void throw_expired(std::string_view handler) const;

  /// The innermost active prompt of this thread (PROMPT-2).
  [[gnu::visibility("default")]] static inline thread_local constinit prompt* current_ = nullptr;
  /// The number of drivers on this thread, one inside the other; 0 outside of all computations.
  [[gnu::visibility("default")]] static inline thread_local constinit unsigned drivers_ = 0;
  /// The first of the prompts that are to be deleted, linked by up_ (release_by_inner()).
  [[gnu::visibility("default")]] static inline thread_local constinit prompt* deferred_deletes_ =
      nullptr;
  /// The number of borrowed handlers that ended while computations were left to perform to them.
  [[gnu::visibility("default")]] static inline constinit std::atomic<unsigned> losses_ = 0;

  bool expired_ = false;               // the handler ended before the body
  bool is_shared_by_threads_ = false;  // owners_ is counted atomically (PROMPT-1)
  std::atomic<remainder_state> remainder_ = remainder_state::pinned;
  std::atomic<unsigned> owners_ = 1;  // the number of owners (PROMPT-1)
  unsigned clauses_ = 0;              // the number of unfinished clauses (CLAUSE-3)
  unsigned checked_ = 0;              // the value of losses_ at the last check of outer handlers
  continuation waiter_;               // continues when the answer is written (PROMPT-4)
  result_slot_base* to_ = nullptr;    // the slot for the answer, a result_slot<A> (PROMPT-4)
  prompt* up_ = nullptr;              // if active: the next active prompt outwards (PROMPT-2)
  suspension* held_by_ = nullptr;     // the holder of the chain that has this prompt (SUSPENSION-1)
};

inline bool suspension::hold(prompt* innermost, prompt const& outermost) noexcept {
  for (prompt* p = innermost; p != &outermost; p = p->up()) {
    if (!p) [[unlikely]]
      return let_go(innermost), false;
    if (p->records()) recording_ |= inner_records;
    p->held_by_now(this);
  }
  return true;
}

/// If `clause`, the end of a coroutine clause, is part of a suspended chain, cuts the chain there.
void cut_chain_of(frame_end& clause, std::string_view const& handler) noexcept;
[[noreturn]] void no_memory_to_unwind() noexcept;

/// For messages: why a prompt is still in the region of its handler.
[[nodiscard]] std::string why_prompt_stays(prompt const& p);

}  // namespace weft::detail
