// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

/// How a body is resumed a second time.  The policy is chosen where the body is handled:
/// `handle(h, body, bitwise())`.
///
///   | policy   | a later resume                              | may live across a capture        |
///   |----------|---------------------------------------------|----------------------------------|
///   | replay   | runs the body again, against the log of its | anything                         |
///   |          | answers, up to the capture                  |                                  |
///   | bitwise  | copies the bytes of the frames back to      | trivially copyable objects; on   |
///   |          | where they were                             | one thread                       |
///   | compared | computes the answer both ways, and throws   | trivially copyable objects; the  |
///   |          | outcomes_differ if they differ              | composition handles all effects  |
///
/// Replay is the default, and is always right.  Bitwise is for a search that captures often: a
/// resume costs O(bytes of the frames in the chain), however long the body has run before.
/// Compared is for tests: it finds breaches of the contract of bitwise.
///
/// Bitwise requires two things of a body.  The body gives none of its computations to code outside
/// the body.  And if an operation that seals has answered with an object, the body destroys that
/// object before the next capture; bitwise keeps no log that could detect a breach.
namespace weft {

/// The default: a later resume runs the body again, against the log of its answers.
struct replay {};
/// A later resume copies the bytes of the frames back to where they were.
struct bitwise {};
/// For tests: computes the answer by replay and bitwise.  Throws outcomes_differ if they differ.
struct compared {};

/// One of the three policies.
template <class P>
concept multi_shot_policy =
    std::same_as<P, replay> || std::same_as<P, bitwise> || std::same_as<P, compared>;

}  // namespace weft
