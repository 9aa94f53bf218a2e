// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "weft/effects/bitwise/detail/copying_prompt.hpp"
#include "weft/effects/detail/handler_prompt.hpp"
#include "weft/effects/detail/handler_traits.hpp"

/// Bodies that are resumed by copying their frames back.
namespace weft::detail {

/// Reports what keeps the body of a handling from being copied.
template <class Handling, class Around>
struct copied_body;
template <class H, class... Es, class Body, class Policy, class Around>
struct copied_body<handling<H, row<Es...>, Body, Policy>, Around> {
  static consteval bool can_be_copied() {
    return body_can_be_copied() && (operations_can_be_copied<Es>(typename Es::operations()) && ...);
  }
  /// Whether the body can be copied; for a composition, also each handler inside.
  static consteval bool body_can_be_copied() {
    if constexpr (is_handling<Body>) {
      constexpr bool inner_can_be_copied =
          handler_traits<Body, row_set<Es..., Around>, true>::is_copyable;
      static_assert(
          inner_can_be_copied,
          "weft: a body that is resumed bitwise is copied byte by byte: a handler inside must "
          "be trivially copyable, and owned");
      if constexpr (inner_can_be_copied)
        return copied_body<Body, row_set<Es..., Around>>::body_can_be_copied();
      else
        return false;
    } else {
      constexpr bool is_started_here = !is_eff<Body>;  // an eff has its frame already
      static_assert(is_started_here,
                    "weft: a body that is resumed bitwise is started where it is handled: pass a "
                    "function, not its result");
      constexpr bool can_be_copied = is_eff<Body> || std::is_trivially_copyable_v<Body>;
      static_assert(can_be_copied,
                    "weft: a body that is resumed bitwise is copied byte by byte: its captures "
                    "must be trivially copyable");
      return is_started_here && can_be_copied;
    }
  }

 private:
  template <class E, class... Os>
  static consteval bool operations_can_be_copied(op_list<Os...>) {
    return (operation_can_be_copied<Os>() && ...);
  }
  template <class O>
  static consteval bool operation_can_be_copied() {
    using here = handler_traits<handling<H, row<Es...>, Body, Policy>, Around>;
    constexpr bool stays_in_a_frame = here::template kind<O> == clause_kind::multi_shot;
    constexpr bool is_trivially_copyable =
        !stays_in_a_frame ||
        (leaves_nothing_when_moved<O> && std::is_trivially_copyable_v<kept<typename O::result>>);
    static_assert(
        is_trivially_copyable,
        "weft: a body that is resumed bitwise is copied byte by byte: the operation and its "
        "answer must be trivially copyable");
    return is_trivially_copyable;
  }
};

/// Resumes a body twice by copying its frames back.
struct by_copies {
  static constexpr bool computes_at_once = false;
  static constexpr bool restarts = false;
  template <class S>
  using prompt_of = handler_prompt<S, copying_prompt>;
  template <class Handling, class Around>
  static consteval bool may_resume() {
    return copied_body<Handling, Around>::can_be_copied();
  }
};

}  // namespace weft::detail
