// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "weft/effects/handle.hpp"

namespace weft::detail {

/// Which handler answers an operation, for the stack of handlers in its event.
struct answering {
  /// The prompt of the handler; null if only the handler is known.
  prompt const* at = nullptr;
  /// Whether the frames up to that prompt have been captured for its clause.
  bool has_captured = false;
  void const* handler = nullptr;
  /// How many handlers are between that prompt and the one that answers, which is outside.
  std::uint16_t further_out = 0;

  [[nodiscard]] bool is(prompt const& p) const noexcept { return at ? &p == at : p.is_of(handler); }
};

}  // namespace weft::detail
