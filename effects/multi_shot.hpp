// SPDX-License-Identifier: MIT
#pragma once

/// How a body is resumed a second time.  The policy is chosen where the body is handled, as the
/// last argument of handle.
///
/// By replay, the default, a later resume runs the body again, against the log of its answers, up
/// to the capture.  Anything may live across a capture.  bitwise/bitwise.hpp has other policies,
/// for bodies that keep to more rules.
namespace weft {

namespace detail {
struct by_replay;
}  // namespace detail

/// The default: a later resume runs the body again, against the log of its answers.
struct replay {
  using resuming = detail::by_replay;
};

/// `replay`, or another policy, such as `bitwise`.
template <class P>
concept multi_shot_policy = requires { typename P::resuming; };

}  // namespace weft
