// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

/// How a body is resumed a second time.  Chosen where it is handled: handle(h, body, bitwise()).
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
/// resume costs as much as the frames of the chain are long, whatever ran before.  Compared is for
/// tests: it finds breaches of the contract of bitwise.
///
/// Bitwise requires of a body that it hands none of its computations out, and that an object which
/// an operation that seals has answered with is dead before a capture: there is no log to detect
/// that.
namespace weft {

struct replay {};
struct bitwise {};
struct compared {};

template <class P>
concept multi_shot_policy =
    std::same_as<P, replay> || std::same_as<P, bitwise> || std::same_as<P, compared>;

}  // namespace weft
