// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

/// How a body is resumed a second time, said where it is handled: handle(h, body, bitwise()).
///
///   | policy   | what a later resume does                    | what may live across a capture   |
///   |----------|---------------------------------------------|----------------------------------|
///   | replay   | runs the body again, against the log of its | anything                         |
///   |          | answers, up to the capture                  |                                  |
///   | bitwise  | puts the frames back as they were, byte by  | what is trivially copyable; on   |
///   |          | byte, where they were                       | one thread                       |
///   | compared | the answer is computed both ways, and must  | what is trivially copyable; no   |
///   |          | be the same                                 | effect may be left to the outside|
///
/// Replay is what one gets without a word, and is always right.  Bitwise is for a search that
/// captures often: a resume costs what the frames of the chain are long, however much came before.
/// Compared is for tests: it finds what broke bitwise's contract.
///
/// Bitwise asks of a body that it keeps its computations to itself, and that what an operation that
/// seals has answered with is no longer alive when it is captured: there is no log that would know.
namespace weft {

struct replay {};
struct bitwise {};
struct compared {};

template <class P>
concept multi_shot_policy =
    std::same_as<P, replay> || std::same_as<P, bitwise> || std::same_as<P, compared>;

}  // namespace weft
