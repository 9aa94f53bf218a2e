// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/bitwise/detail/comparing.hpp"
#include "weft/effects/bitwise/detail/copied_body.hpp"
#include "weft/effects/multi_shot.hpp"

/// Policies of a body that is resumed twice (multi_shot.hpp), besides replay.  Bitwise is for a
/// search that captures often: a resume costs O(bytes of the frames in the chain), however long the
/// body has run before.  Compared is for tests: it finds breaches of the contract of bitwise.
///
///   | policy   | a later resume                              | may live across a capture        |
///   |----------|---------------------------------------------|----------------------------------|
///   | bitwise  | copies the bytes of the frames back to      | trivially copyable objects; on   |
///   |          | where they were                             | one thread                       |
///   | compared | computes the answer both ways, and throws   | trivially copyable objects; the  |
///   |          | outcomes_differ if they differ              | composition handles all effects  |
///
/// Bitwise requires two things of a body.  The body gives none of its computations to code outside
/// the body.  And if an operation that seals has answered with an object, the body destroys that
/// object before the next capture; bitwise keeps no log that could detect a breach.
namespace weft {

/// A later resume copies the bytes of the frames back to where they were.
struct bitwise {
  using resuming = detail::by_copies;
};
/// For tests: computes the answer by replay and bitwise.  Throws outcomes_differ if they differ.
struct compared {
  using resuming = detail::by_both;
};

}  // namespace weft
