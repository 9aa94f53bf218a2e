// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/detail/capture.hpp"
#include "weft/effects/detail/handler_prompt.hpp"
#include "weft/effects/detail/replay/recording.hpp"
#include "weft/effects/detail/replay/recording_clauses.hpp"

/// The prompt of a handler with a multi-shot clause that resumes by replay: it records the answers
/// that its body is given, and can answer from such a log.
///
///   RECORD-1  Every operation of the body that is not handled inside it passes this prompt: to its
///       handler, or through a forwarding clause to a handler further out.
///   RECORD-2  While the log is replayed, the answers come from the log: no handler is called.
namespace weft::detail {

template <class S, class Handled = typename S::handled,
          class Crossed = row_difference<typename S::body_effects, typename S::handled>,
          class All = typename S::body_effects>
class recording_handler_prompt;

// ---- the body

/// The body and the handler, which all runs share: a replay does not undo changes to the handler.
template <class S>
class body_to_run_again : public runs_again {
 public:
  body_to_run_again(typename S::held&& h, typename S::body&& body, void* around, region*)
      : handler_slot(std::forward<typename S::held>(h), around), function(std::move(body)) {}

  std::coroutine_handle<> run_again(std::shared_ptr<runs_again> const& self, replay_log log,
                                    continuation waiter, result_slot_base& to) override {
    auto& n = *new recording_handler_prompt<S>(std::static_pointer_cast<body_to_run_again>(self),
                                               std::move(log));
    n.aim(waiter, to);
    n.step_in();
    return n.begin_run();
  }
  struct deletes_deferred {  // destroyed after handler_slot, whose destructor may defer deletes
    ~deletes_deferred() { prompt::delete_deferred(); }
  };
  [[no_unique_address]] deletes_deferred after_slot;
  detail::handler_slot_of<S> handler_slot;
  typename S::body const function;  // const: a run must not change it for the next run
};

[[noreturn, gnu::cold]] void throw_not_resident(std::string_view handler);

/// A body_to_run_again whose handler has a region: the body is a resident of the region.
template <class S>
class resident_body final : public body_to_run_again<S>, public resident {
 public:
  resident_body(typename S::held&& h, typename S::body&& body, void* around, region* home)
      : body_to_run_again<S>(std::forward<typename S::held>(h), std::move(body), around, home),
        home_(home) {
    join(*home);
  }
  std::coroutine_handle<> run_again(std::shared_ptr<runs_again> const& self, replay_log log,
                                    continuation waiter, result_slot_base& to) override {
    if (!home_) throw_not_resident(name_of<typename S::meant>);
    return body_to_run_again<S>::run_again(self, std::move(log), waiter, to);
  }
  [[nodiscard]] region* home() const noexcept { return home_; }

 private:
  void region_ended() noexcept override {
    home_ = nullptr;
    leave();
  }
  [[nodiscard]] std::string why_it_stays() const override {
    return std::string(name_of<typename S::meant>) + " keeps a body that can be run again";
  }
  region* home_;
};

/// A recording_prompt in a region (region.hpp).
class resident_recording_prompt : public recording_prompt, public resident {
 protected:
  using recording_prompt::recording_prompt;

 private:
  void region_ended() noexcept override { end_of_handler(); }
  [[nodiscard]] std::string why_it_stays() const override;
  [[nodiscard]] bool has_open_tasks() const noexcept override { return is_pinned(); }
  void leave_region() noexcept override { leave(); }
};

template <class S, class... Es, class... Fs, class... All>
class recording_handler_prompt<S, row<Es...>, row<Fs...>, row<All...>> final
    : public std::conditional_t<S::stays, resident_recording_prompt, recording_prompt>,
      public evidence<Es>...,
      public forwarding<Fs>...,
      public forwarding_beyond<All>... {
  using base = std::conditional_t<S::stays, resident_recording_prompt, recording_prompt>;
  using recorded_body = std::conditional_t<S::stays, resident_body<S>, body_to_run_again<S>>;

 public:
  using traits = S;
  template <class E>
  static constexpr bool handles = is_among<E, row<Es...>>;
  template <class O>
  static constexpr bool answers_at_once =
      S::template kind<O> == clause_kind::value || S::template kind<O> == clause_kind::outward;

  /// Makes the prompt of the first run.
  recording_handler_prompt(typename S::held&& h, typename S::body& body, void* around, region* home)
      : recording_handler_prompt(std::make_shared<recorded_body>(std::forward<typename S::held>(h),
                                                                 std::move(body), around, home),
                                 replay_log()) {}
  recording_handler_prompt(std::shared_ptr<body_to_run_again<S>> body, replay_log log)
      : base(std::move(log)),
        evidence<Es>{&recording_table<recording_handler_prompt, Es>::value}...,
        forwarding<Fs>{across<Fs, forwarding<Fs>>()}...,
        forwarding_beyond<All>{across<All, forwarding_beyond<All>>()}...,
        body_(std::move(body)) {
    this->borrowed_ = S::borrowed;
    this->set_fragile(body_->handler_slot.outers_may_go());
    body_evidence_.fill([this]<class E>() -> void* { return &this->template evidence_here<E>(); });
    if constexpr (S::stays) this->join(*static_cast<recorded_body&>(*body_).home());
  }

  std::coroutine_handle<> start(typename S::body&&, region*) { return begin_run(); }
  std::coroutine_handle<> begin_run() {
    result_.where = this->to().where;
    try {
      return start_frames(body_->function(), *this, body_evidence_.view(), result_);
    } catch (...) {
      result_.fail(std::current_exception());
      return ended().resolve();
    }
  }
  void abandon() noexcept {
    this->step_out();
    this->finish();
  }

  // ---- for the clauses

  [[nodiscard]] typename S::handler& handler() noexcept { return body_->handler_slot.handler(); }
  [[nodiscard]] void* around() noexcept { return body_->handler_slot.around(); }
  /// The nearest handler of E further out; null if the prompt keeps none (handler_traits::needed).
  template <class E>
  [[nodiscard]] evidence<E>* outer_handler() noexcept {
    return body_->handler_slot.template outer<E>();
  }
  /// The stand-in for the handler of E beyond the one that is nearest to the body; null if there is
  /// none.
  template <class E>
  [[nodiscard]] evidence<E>* beyond_here() noexcept {
    if constexpr (is_among<E, row<All...>>)
      if (recorder_of_prompt<recording_handler_prompt, E, forwarding_beyond<E>>::target_of(*this))
        return &static_cast<forwarding_beyond<E>&>(*this).stand_in;
    return nullptr;
  }
  [[nodiscard]] shared_capture captured(captured_frames rest) const {
    return shared_capture(new replay_capture(std::move(rest), body_));
  }
  /// Ends a run that performs another operation than the first run did: unwinds the body, and
  /// answers with a replay_divergence, which the body cannot catch.  If ordinary code, which cannot
  /// be unwound, stands between the operation and this prompt, the exception is thrown at the
  /// operation instead, and again when the run ends.
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) {
    if (!this->is_active()) throw this->log().divergence(at);
    continuation const waiter = this->outside();
    static_cast<result_slot<typename S::answer>&>(this->to())
        .fail(std::make_exception_ptr(this->log().divergence(at)));
    this->step_out();
    unwind(leaf, *this);
    return waiter.resolve();
  }

  // ---- as a prompt

  continuation ended() noexcept override {
    this->step_out();
    continuation const waiter = this->outside();
    if (this->log().replaying() && (this->log().diverged() || !result_.error()))
      result_.fail(std::make_exception_ptr(this->log().divergence()));
    deliver(*this, handler(), result_, static_cast<result_slot<typename S::answer>&>(this->to()));
    this->log().close();
    this->finish();
    return waiter;
  }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    return name_of<typename S::meant>;
  }
  [[nodiscard]] bool is_of(void const* handler) const noexcept override {
    return handler == &body_->handler_slot.handler();
  }
  [[nodiscard]] std::source_location installed_at() const noexcept override {
    return result_.where;
  }
  void visit_outers(prompt_visitor f) const override { body_->handler_slot.for_each_outer(f); }

 private:
  template <class F, class Place>
  static evidence<F> across() noexcept {
    return {&forwarding_table<recording_handler_prompt, F, Place>::value};
  }

  template <class E>
  evidence<E>& evidence_here() noexcept {
    if constexpr (handles<E>)
      return static_cast<evidence<E>&>(*this);
    else
      return static_cast<forwarding<E>&>(*this).stand_in;
  }
  void end_evidence() noexcept override {
    ((static_cast<evidence<Es>&>(*this).clauses = &tables<recording_handler_prompt, Es>::expired),
     ...);
  }

  std::shared_ptr<body_to_run_again<S>> body_;
  gathered<typename S::body_effects> body_evidence_;
  result_slot<typename S::body_result> result_;
};

/// Resumes a body twice by running it again, against a log.
struct by_replay {
  static constexpr bool computes_at_once = false;
  static constexpr bool restarts = true;
  template <class S>
  using prompt_of = recording_handler_prompt<S>;
  /// Reports a body that cannot be run again.
  template <class Handling, class Around>
  static consteval bool may_resume() {
    using body = typename handler_traits<Handling, Around>::body;
    constexpr bool can_be_run_again =
        body_function<body> && std::copy_constructible<body> && std::invocable<body const&>;
    static_assert(can_be_run_again || !is_handling<body>,
                  "weft: resuming twice starts the body again, and with it the handlers inside of "
                  "this one: these, and the function, must be copyable");
    static_assert(can_be_run_again || is_handling<body>,
                  "weft: resuming twice starts the body again: pass a function, not its result, "
                  "that can be copied and called as const");
    return can_be_run_again;
  }
};

}  // namespace weft::detail
