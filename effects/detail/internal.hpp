// SPDX-License-Identifier: MIT
#pragma once

namespace weft::detail {

/// A passkey: a member of a public type that takes one is for the library only.
struct internal {
  explicit internal() = default;
};

}  // namespace weft::detail
