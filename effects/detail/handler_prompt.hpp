// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/detail/control.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/handler_traits.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/region.hpp"

/// The prompt of a handler whose body is not run again.  One allocation holds the handler, the
/// body's function and all evidence.
namespace weft::detail {

// Functions for handler_slot::for_each_outer(), which calls them with prompts.
struct keeping {
  void operator()(prompt& p) const noexcept { p.keep(); }
};
struct releasing {
  void operator()(prompt& p) const noexcept { p.release_by_inner(); }
};
struct asking_whether_it_goes {
  bool& may;
  void operator()(prompt& p) const noexcept { may |= p.handler_may_go(); }
};

/// The handler, and the evidence of the effects `Needed` of the row around it.  Keeps the prompts
/// of that evidence (PROMPT-1).
template <class Held, class Around, class Needed>
class handler_slot {
 public:
  handler_slot(Held&& h, void* around) : handler_(std::forward<Held>(h)) {
    outers_.fill(found_in<Around>{around});
    for_each_outer(keeping());
  }
  handler_slot(handler_slot const&) = delete;
  handler_slot& operator=(handler_slot const&) = delete;
  ~handler_slot() { for_each_outer(releasing()); }

  [[nodiscard]] std::remove_reference_t<Held>& handler() noexcept { return handler_; }
  /// The evidence of the row around `handle`; only for clauses that perform outward.
  [[nodiscard]] void* around() noexcept { return outers_.view(); }
  template <class E>
  [[nodiscard]] evidence<E>* outer() noexcept {
    if constexpr (is_among<E, Needed>)
      return outers_.template get<E>();
    else
      return nullptr;
  }
  template <class F>
  void for_each_outer(F f) {
    for_each_of(Needed(), f);
  }
  [[nodiscard]] bool outers_may_go() {
    bool may = false;
    for_each_outer(asking_whether_it_goes{may});
    return may;
  }

 private:
  template <class... Es, class F>
  void for_each_of(row<Es...>, F& f) {
    (f(outer<Es>()->clauses->prompt_of(*outer<Es>())), ...);
  }

  Held handler_;
  gathered<Needed> outers_;
};
template <class S>
using handler_slot_of = handler_slot<typename S::held, typename S::around, typename S::needed>;

/// Computes the answer of a body with the result `T`: by on_return, if the handler has it.
template <class T, class H>
struct answer_by {
  H& handler;
  result_slot<T>& result;
  decltype(auto) operator()() const {
    if constexpr (!has_return_clause<H, T>)
      return result.take();
    else if constexpr (std::is_void_v<T>)
      return handler.on_return();
    else
      return handler.on_return(result.take());
  }
};

/// Called when the body has ended: writes into `to` the exception of the body; or the answer, which
/// on_return makes, if the handler has it.  Clears `result`, which may hold a resumption that keeps
/// the prompt.
template <class T, class A, class H>
void deliver(prompt const& p, H& h, result_slot<T>& result, result_slot<A>& to) noexcept {
  try {
    if (auto error = result.error()) [[unlikely]] {
      to.fail(std::move(error));
      result.clear();
    } else {
      if constexpr (has_return_clause<H, T>) p.require_handler();
      to.set_from(answer_by<T, H>{h, result});
    }
  } catch (...) {
    to.fail(std::current_exception());
  }
  if constexpr (!std::is_trivially_destructible_v<kept<T>>) result.clear();
}

/// Makes the first frame of `body`, an eff or the result of a function, ready to run; the chain of
/// frames ends at `p`.
template <class Eff>
std::coroutine_handle<> start_frames(Eff body, prompt& p, void* evidence,
                                     result_slot_base& result) {
  auto const frame = body.release(internal());
  frame.promise().parent = p;
  frame.promise().evidence = evidence;
  frame.promise().to = &result;
  return frame;
}

/// Installs a handler and starts its body: returns the frame to run next.  The answer goes into
/// `to`, then `waiter` continues.  A handler that is lent joins the region `borrow_scope`.
template <class Around, bool Inner, class Handling>
std::coroutine_handle<> install(Handling&& what, void* around, continuation waiter,
                                result_slot_base& to, region* borrow_scope);

/// A prompt in a region (region.hpp).
template <class Prompt>
class resident_prompt : public Prompt, public resident {
  void region_ended() noexcept override { this->end_of_handler(); }
  [[nodiscard]] std::string why_it_stays() const override { return why_prompt_stays(*this); }
  [[nodiscard]] bool has_open_tasks() const noexcept override { return this->is_pinned(); }
  void leave_region() noexcept override { leave(); }
  [[nodiscard]] bool is_noticed_when_dropped() const noexcept override { return is_noticed(); }
};

/// `Base`: prompt; or a prompt that can resume its body twice.
template <class S, class Base = prompt, class Handled = typename S::handled>
class handler_prompt;
template <class S, class Base, class... Es>
class handler_prompt<S, Base, row<Es...>> final
    : public std::conditional_t<S::stays, resident_prompt<Base>, Base>,
      public evidence<Es>... {
  static constexpr bool calls_a_function = body_function<typename S::body>;

 public:
  using traits = S;

  handler_prompt(typename S::held&& h, typename S::body& body, void* around, region* home)
      : evidence<Es>{&tables<handler_prompt, Es>::live}...,
        handler_slot_(std::forward<typename S::held>(h), around),
        function_(kept_function(body)) {
    this->borrowed_ = S::borrowed;
    this->is_copyable_ = S::is_copyable;
    this->set_fragile(handler_slot_.outers_may_go());
    body_evidence_.fill(given_by<handler_prompt>{*this});
    if constexpr (S::stays) this->join(*home);
  }

  /// Starts the body: returns the frame to run next.
  std::coroutine_handle<> start(typename S::body&& body, region* borrow_scope) {
    result_.where = this->to().where;
    void* const all = body_evidence_.view();
    if constexpr (calls_a_function)
      return start_frames(function_(), *this, all, result_);
    else if constexpr (is_eff<typename S::body>)
      return start_frames(std::move(body), *this, all, result_);
    else
      return install<typename S::body_effects, true>(std::move(body), all, *this, result_,
                                                     borrow_scope);
  }
  /// Ends the prompt before any frame has started.
  void abandon() noexcept {
    this->step_out();
    this->finish();
  }

  // ---- for the clauses

  [[nodiscard]] typename S::handler& handler() noexcept { return handler_slot_.handler(); }
  [[nodiscard]] void* around() noexcept { return handler_slot_.around(); }
  /// The nearest handler of E further out; null if the prompt keeps none (handler_traits::needed).
  template <class E>
  [[nodiscard]] evidence<E>* outer_handler() noexcept {
    return handler_slot_.template outer<E>();
  }
  template <class E>
  [[nodiscard]] evidence<E>* evidence_for_body() noexcept {
    if constexpr (is_among<E, row<Es...>>)
      return this;
    else
      return outer_handler<E>();
  }

  // ---- as a prompt

  continuation ended() noexcept override {
    this->step_out();
    continuation const waiter = this->outside();
    deliver(*this, handler(), result_, static_cast<result_slot<typename S::answer>&>(this->to()));
    if constexpr (!std::is_same_v<Base, prompt>) result_.clear();  // for the next run
    this->finish();
    return waiter;
  }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    return name_of<typename S::meant>;
  }
  [[nodiscard]] bool is_of(void const* handler) const noexcept override {
    return handler == &handler_slot_.handler();
  }
  [[nodiscard]] std::source_location installed_at() const noexcept override {
    return result_.where;
  }
  void visit_outers(prompt_visitor f) const override { handler_slot_.for_each_outer(f); }

 private:
  static auto kept_function(typename S::body& body) {
    if constexpr (calls_a_function)
      return std::move(body);
    else
      return nothing();
  }
  void end_evidence() noexcept override {
    ((static_cast<evidence<Es>&>(*this).clauses = &tables<handler_prompt, Es>::expired), ...);
  }

  mutable handler_slot_of<S> handler_slot_;
  gathered<typename S::body_effects> body_evidence_;
  [[no_unique_address]] decltype(kept_function(std::declval<typename S::body&>())) function_;
  result_slot<typename S::body_result> result_;
};

}  // namespace weft::detail
