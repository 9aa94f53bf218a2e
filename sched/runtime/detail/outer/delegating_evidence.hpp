// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <type_traits>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/direct_spawn.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"

/// Evidence for an effect that names a row, such as spawning<...>, and whose clauses do not depend
/// on that row.
namespace weft::detail {

/// Whether `E` names another effect, `general`, that has the same clauses: each operation of `E` is
/// derived from the operation of `general` at the same place.
template <class E>
concept has_general_effect = requires { typename E::general; };

/// The evidence of a scheduler for spawning<...> or tasking<...>: performs each operation by the
/// evidence for spawning<> or tasking<>.  So clauses are compiled once, not for each row.
template <has_general_effect E>
class delegating_evidence final : public evidence<E>, public expirable_evidence {
 public:
  using general = typename E::general;

  explicit delegating_evidence(evidence<general>& to) noexcept
      : evidence<E>{&table<>::value}, to_(to) {}
  void expire() noexcept override { this->clauses = &expired_table<table<>, E>::value; }

 private:
  template <class O, class G>
  struct clause {
    using R = typename O::result;
    static bool attempt(evidence<E>& e, O& o, result_slot<R>& waiting) {
      evidence<general>& to = target(e);
      auto const attempt = to.template clause<G>().attempt;
      if (!attempt || !attempt(to, o, waiting)) return false;
      if constexpr (std::is_same_v<general, spawning<>>) direct_spawn::note(&e, &to);
      return true;
    }
    static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                           result_slot<R>& waiting) {
      evidence<general>& to = target(e);
      return to.template clause<G>().control(to, o, leaf, waiting);
    }
  };
  template <class Operations = typename E::operations, class General = typename general::operations>
  struct table;
  template <class... Os, class... Gs>
  struct table<op_list<Os...>, op_list<Gs...>> {
    static prompt& prompt_of(evidence<E>& e) noexcept {
      return target(e).clauses->prompt_of(target(e));
    }
    static evidence<E>* beyond(evidence<E>&) noexcept { return nullptr; }
    static constexpr clause_table<E, op_list<Os...>> value{
        clause_entry<E, Os>{clause<Os, Gs>::attempt, nullptr, clause<Os, Gs>::control}...,
        prompt_of, beyond};
  };
  static evidence<general>& target(evidence<E>& e) noexcept {
    return static_cast<delegating_evidence&>(e).to_;
  }

  evidence<general>& to_;
};

}  // namespace weft::detail
