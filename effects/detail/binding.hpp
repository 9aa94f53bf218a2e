// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <utility>

#include "weft/effects/detail/end_of_clause.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/forwarding_clause.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/memory/frame_pool.hpp"

/// The handlers that a body performs to, where these may be exchanged (effects/rebinding.hpp).
///
///   REBIND-1  A body whose handler rebinds effects finds slots for them in its evidence, in place
///       of the handlers further out.  A slot forwards to the handler that it is bound to.  So
///       every computation that the body has started finds the new handler, and none has to be
///       searched for.
///   REBIND-2  A binding does not change.  To rebind means to exchange the binding while the body
///       is suspended.  A capture of a multi-shot handler keeps the binding that the body had at
///       that time: each later run begins with this binding, and a bitwise resume restores it.
///   REBIND-3  A binding keeps the prompts of its handlers.  The slots are a prompt, too, and are
///       counted like any other (PROMPT-1); but they are never active, and cannot be captured to.
///   REBIND-4  No handler that slots are bound to performs to these slots: it would find itself.
namespace weft::detail {

/// Handlers for some effects.  Counted; the count is thread safe.
class binding : public pooled {
 public:
  binding(binding const&) = delete;
  binding& operator=(binding const&) = delete;
  virtual ~binding() = default;

  /// Visits the prompts of the handlers.
  virtual void visit_homes(prompt_visitor f) const = 0;

 protected:
  binding() = default;

 private:
  friend class shared_binding;
  std::atomic<std::uint32_t> owners_ = 1;
};

template <class Row>
class binding_of;
template <class... Es>
class binding_of<row<Es...>> final : public binding {
 public:
  template <class Find>  // find.template operator()<E>() gives the evidence of E
  explicit binding_of(Find find) noexcept {
    handlers_.fill(find);
    (home<Es>().keep(), ...);
  }
  ~binding_of() override { (home<Es>().release_by_inner(), ...); }

  template <class E>
  [[nodiscard]] evidence<E>& handler() const noexcept {
    return *handlers_.template get<E>();
  }
  void visit_homes(prompt_visitor f) const override { (f(home<Es>()), ...); }

 private:
  template <class E>
  [[nodiscard]] prompt& home() const noexcept {
    return handler<E>().clauses->home(handler<E>());
  }
  gathered<row<Es...>> handlers_;
};

/// An owner of a binding, or of none.
class shared_binding {
 public:
  shared_binding() = default;
  explicit shared_binding(binding* b) noexcept : binding_(b) {}
  shared_binding(shared_binding const& other) noexcept : binding_(other.binding_) {
    // Relaxed: the other owner's count remains.
    if (binding_) binding_->owners_.fetch_add(1, std::memory_order_relaxed);
  }
  shared_binding(shared_binding&& other) noexcept
      : binding_(std::exchange(other.binding_, nullptr)) {}
  shared_binding& operator=(shared_binding other) noexcept {
    std::swap(binding_, other.binding_);
    return *this;
  }
  ~shared_binding() {
    if (release()) prompt::delete_deferred();
  }
  /// Releases the binding.  True if this deleted it: then prompt::delete_deferred() must follow,
  /// unless the caller is the destructor of a prompt.
  bool release() noexcept {
    auto* const b = std::exchange(binding_, nullptr);
    // acq_rel, pairs with itself: each drop of a count is a release, and the last owner acquires.
    // So it sees what the others did.
    if (!b || b->owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    delete b;
    return true;
  }
  explicit operator bool() const noexcept { return binding_ != nullptr; }
  [[nodiscard]] binding& operator*() const noexcept { return *binding_; }

 private:
  binding* binding_ = nullptr;
};

// ---- slots

/// The slots of one run of a body.
class evidence_slots : public prompt {
 public:
  // Slots are allocated outside the arena of the running body, because they are not copied with it.
  using pooled::operator new;
  using pooled::operator delete;

  [[nodiscard]] shared_binding const& bound() const noexcept { return bound_; }
  void bind(shared_binding b) noexcept { bound_ = std::move(b); }
  /// Binds the slots of `outermost`, which is suspended.  Throws resumption_expired if a handler of
  /// `b` has ended, and rebound_to_itself if one performs to these slots (REBIND-4).  O(1) if these
  /// handlers and those further out of them are owned, else O(handlers further out).
  void rebind(prompt& outermost, shared_binding b);

  // ---- as a prompt

  continuation ended() noexcept override { std::terminate(); }  // nothing runs under it
  [[nodiscard]] std::source_location installed_at() const noexcept override { return {}; }
  void visit_outers(prompt_visitor f) const override { (*bound_).visit_homes(f); }

 protected:
  explicit evidence_slots(shared_binding b) noexcept : bound_(std::move(b)) {
    set_fragile(true);  // the slots may be bound to a borrowed handler
  }
  ~evidence_slots() override { bound_.release(); }

 private:
  void end_evidence() noexcept override {}
  shared_binding bound_;
};

/// The clauses of a slot: those of the handler that it is bound to.
template <class Slots, class E, class O>
struct slot_clauses {
  using R = typename O::result;

  static bool attempt(evidence<E>& e, O& o, result_slot<R>& waiting) {
    evidence<E>& target = Slots::target(e);
    kept_prompt<true> const alive(target.clauses->home(target));  // a clause may rebind the slots
    return answered_at_once<E, O>(target, o, waiting);
  }
  static R when_asked(evidence<E>& e, passed<O> o, std::source_location where) {
    evidence<E>& target = Slots::target(e);
    kept_prompt<true> const alive(target.clauses->home(target));
    return ask_outward<E, O>(target, static_cast<passed<O>>(o), where);
  }
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    evidence<E>& target = Slots::target(e);
    return target.template clause<O>().control(target, o, leaf, waiting);
  }
};
template <class Slots, class E, class Operations = typename E::operations>
struct slot_table;
template <class Slots, class E, class... Os>
struct slot_table<Slots, E, op_list<Os...>> {
  static prompt& home(evidence<E>& e) noexcept { return static_cast<Slots&>(e); }
  static evidence<E>* beyond(evidence<E>& e) noexcept {
    evidence<E>& target = Slots::target(e);
    return target.clauses->beyond(target);
  }
  static constexpr clause_table<E, op_list<Os...>> value{
      clause_entry<E, Os>{nullptr, slot_clauses<Slots, E, Os>::attempt,
                          slot_clauses<Slots, E, Os>::when_asked,
                          slot_clauses<Slots, E, Os>::control}...,
      home, beyond};
};

template <class Row>
class evidence_slots_of;
template <class E, class... Es>
class evidence_slots_of<row<E, Es...>> final : public evidence_slots,
                                               public evidence<E>,
                                               public evidence<Es>... {
 public:
  explicit evidence_slots_of(shared_binding b) noexcept
      : evidence_slots(std::move(b)),
        evidence<E>{&slot_table<evidence_slots_of, E>::value},
        evidence<Es>{&slot_table<evidence_slots_of, Es>::value}... {}

  template <class F>
  static evidence<F>& target(evidence<F>& its_slot) noexcept {
    auto& all =
        static_cast<binding_of<row<E, Es...>>&>(*static_cast<evidence_slots_of&>(its_slot).bound());
    return all.template handler<F>();
  }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    auto& all = static_cast<binding_of<row<E, Es...>>&>(*bound());
    evidence<E>& first = all.template handler<E>();
    return first.clauses->home(first).handler_name();
  }
};

/// The slots that the prompt of a handler has for its body, if any; and how the prompt finds
/// handlers further out.
template <class Rebound>
class slots_of_body {
 public:
  template <class Place>
  slots_of_body(shared_binding&& b, Place& p) : slots_(make(std::move(b), p)) {}
  slots_of_body(slots_of_body const&) = delete;
  slots_of_body& operator=(slots_of_body const&) = delete;
  ~slots_of_body() { slots_.release_by_inner(); }

  [[nodiscard]] evidence_slots* get() noexcept { return &slots_; }
  [[nodiscard]] shared_binding bound() const noexcept { return slots_.bound(); }
  template <class E, class Place>
  [[nodiscard]] evidence<E>* outer(Place& p) noexcept {
    if constexpr (is_among<E, Rebound>)
      return &static_cast<evidence<E>&>(slots_);
    else
      return p.template outer<E>();
  }
  template <class F, class Place>
  void for_each_outer(F f, Place& p) {
    p.template for_each_outer<Rebound>(f);
    f(slots_);
  }
  template <class Place>
  [[nodiscard]] bool outers_may_go(Place&) const noexcept {
    return true;
  }

 private:
  template <class Place>
  static evidence_slots_of<Rebound>& make(shared_binding&& b, Place& p) {
    if (!b)
      b = shared_binding(
          new binding_of<Rebound>([&p]<class E>() -> void* { return p.template outer<E>(); }));
    return *new evidence_slots_of<Rebound>(std::move(b));
  }
  evidence_slots_of<Rebound>& slots_;
};
template <>
class slots_of_body<row<>> {
 public:
  template <class Place>
  slots_of_body(shared_binding&&, Place&) noexcept {}
  [[nodiscard]] static evidence_slots* get() noexcept { return nullptr; }
  [[nodiscard]] static shared_binding bound() noexcept { return {}; }
  template <class E, class Place>
  [[nodiscard]] static evidence<E>* outer(Place& p) noexcept {
    return p.template outer<E>();
  }
  template <class F, class Place>
  static void for_each_outer(F f, Place& p) {
    p.for_each_outer(f);
  }
  template <class Place>
  [[nodiscard]] static bool outers_may_go(Place& p) {
    return p.outers_may_go();
  }
};

}  // namespace weft::detail
