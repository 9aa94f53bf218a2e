// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "effects/detail/node.hpp"
#include "effects/detail/recording.hpp"
#include "effects/detail/recording_clauses.hpp"

/// The prompt of a handler with a multi-shot clause: a node that writes down what its body is
/// answered, and can be answered from such a log.
///
///   R1  Everything the body performs that is not handled inside it passes us: to our handler, or
///       through a crossing<F> to a handler of F further out.
///   R2  While the log is ahead, our tables are the replaying ones: no handler hears anything.
namespace weft::detail {

template <class S, class Handled = typename S::handled,
          class Crossed = row_difference<typename S::body_effects, typename S::handled>>
class recording_node;

// ---- the body

/// The body and the handler of all its runs; stays in the handler's region.
template <class S>
class recorded_body final : public runs_again, public resident {
 public:
  recorded_body(typename S::held&& h, typename S::body&& body, void* around)
      : place(std::forward<typename S::held>(h), around), function(std::move(body)) {
    join(place.handler());
  }
  ~recorded_body() override = default;
  std::coroutine_handle<> run_again(std::shared_ptr<runs_again> const& self, replay_log log,
                                    continuation who, awaited& to) override {
    if (over_)
      throw resumption_expired("weft: the handler " + std::string(name_of<typename S::handler>) +
                               " is no more, so what it suspended cannot be resumed");
    auto& n = *new recording_node<S>(std::static_pointer_cast<recorded_body>(self), std::move(log));
    n.aim(who, to);
    n.step_in();
    return n.begin_run();
  }

  struct buries_orphans {  // destroyed after the place, which may be the last to know its outers
    ~buries_orphans() { prompt::bury_orphans(); }
  };
  [[no_unique_address]] buries_orphans after_place;
  detail::place<S> place;
  typename S::body const function;  // called as const: what a run changed in it, the next would see

 private:
  void region_ended() noexcept override {
    over_ = true;
    leave();
  }
  [[nodiscard]] std::string why_it_stays() const override {
    return std::string(name_of<typename S::handler>) + " keeps a body that can be run again";
  }
  bool over_ = false;
};

template <class S, class... Es, class... Fs>
class recording_node<S, row<Es...>, row<Fs...>> final : public recording_prompt,
                                                        public resident,
                                                        public evidence<Es>...,
                                                        public crossing<Fs>... {
 public:
  using setting = S;
  template <class E>
  static constexpr bool handles = is_among<E, row<Es...>>;

  /// The first run.
  recording_node(typename S::held&& h, typename S::body& body, void* around, region*)
      : recording_node(std::make_shared<recorded_body<S>>(std::forward<typename S::held>(h),
                                                          std::move(body), around),
                       replay_log()) {}
  recording_node(std::shared_ptr<recorded_body<S>> body, replay_log log)
      : recording_prompt(std::move(log)), body_(std::move(body)) {
    this->borrowed_ = true;
    this->set_fragile(body_->place.outers_may_go());
    body_evidence_.fill([this]<class E>() -> void* { return &this->template evidence_here<E>(); });
    set_tables();
    join(body_->place.handler());
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

  // ---- for the entries

  template <class E>
  static recording_node& of(evidence<E>& e) noexcept {
    if constexpr (handles<E>)
      return static_cast<recording_node&>(e);
    else
      return static_cast<recording_node&>(static_cast<crossing<E>&>(e));
  }
  template <class E, class O>
  static typename O::result ask(evidence<E>& e, passed<O> o, std::source_location where) {
    if constexpr (handles<E>) {
      return answer_at_once<recording_node, E, O>(e, static_cast<passed<O>>(o), where);
    } else {
      auto& outer = *of(e).template outer_handler<E>();
      auto const asked = outer.template clause<O>().when_asked;
      if (!asked) throw_asked(name_of<O>, where, outer.clauses->home(outer));
      return asked(outer, static_cast<passed<O>>(o), where);
    }
  }
  template <class E>
  [[nodiscard]] prompt& home_for(evidence<E>&) noexcept {
    if constexpr (handles<E>) {
      return *this;
    } else {
      auto& outer = *outer_handler<E>();
      return outer.clauses->home(outer);
    }
  }
  [[nodiscard]] typename S::handler& handler() noexcept { return body_->place.handler(); }
  [[nodiscard]] void* around() noexcept { return body_->place.around(); }
  template <class E>
  [[nodiscard]] evidence<E>* outer_handler() noexcept {
    return body_->place.template outer<E>();
  }
  template <class R>
  void will_answer(answer<R>& waiting, std::string_view const& operation) noexcept {
    await_answer({&operation, waiting.where}, waiting);
  }
  [[nodiscard]] std::shared_ptr<runs_again> again() const noexcept { return body_; }
  void replayed() noexcept {
    if (!log().replaying()) set_tables();
  }
  /// Ends a run that performs something else than the first did.  Not the program's to catch.
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) noexcept {
    continuation const who = this->outside();
    static_cast<answer<typename S::answer>&>(this->to())
        .fail(std::make_exception_ptr(log().divergence(at)));
    this->step_out();
    unwind(leaf, *this);
    return who.resolve();
  }

  // ---- the rest of a prompt

  continuation ended() noexcept override {
    this->step_out();
    continuation const who = this->outside();
    if (log().replaying() && !result_.error())
      result_.fail(std::make_exception_ptr(log().divergence()));
    deliver<S>(*this, handler(), result_, static_cast<answer<typename S::answer>&>(this->to()));
    this->finish();
    return who;
  }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    return name_of<typename S::handler>;
  }
  [[nodiscard]] std::source_location installed_at() const noexcept override {
    return result_.where;
  }
  void add_outers(std::vector<prompt const*>& to) const override {
    body_->place.for_each_outer([&to](prompt& p) { to.push_back(&p); });
  }

 private:
  template <class E>
  evidence<E>& evidence_here() noexcept {
    if constexpr (handles<E>)
      return *this;
    else
      return static_cast<crossing<E>&>(*this);
  }
  void set_tables() noexcept {  // R2
    auto const set = [this]<class E>(identity<E>) {
      using tables = recording_tables<recording_node, E>;
      evidence_here<E>().clauses = log().replaying() ? &tables::replaying : &tables::live;
    };
    (set(identity<Es>()), ...);
    (set(identity<Fs>()), ...);
  }
  void end_evidence() noexcept override {
    ((static_cast<evidence<Es>&>(*this).clauses = &tables<recording_node, Es>::expired), ...);
  }
  void region_ended() noexcept override { this->end_of_handler(); }
  [[nodiscard]] std::string why_it_stays() const override {
    return std::string(handler_name()) + " keeps a resumption";
  }
  void leave_region() noexcept override { leave(); }

  std::shared_ptr<recorded_body<S>> body_;
  gathered<typename S::body_effects> body_evidence_;
  answer<typename S::body_result> result_;
};

}  // namespace weft::detail
