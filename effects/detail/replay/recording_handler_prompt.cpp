// SPDX-License-Identifier: MIT
#include "weft/effects/detail/replay/recording_handler_prompt.hpp"

#include <string>
#include <string_view>

#include "weft/effects/errors.hpp"

namespace weft::detail {

void throw_not_resident(std::string_view handler) {
  throw resumption_expired(
      "weft: the handler " + std::string(handler) +
      " no longer exists, so the continuation that it suspended cannot be resumed");
}

std::string resident_recording_prompt::why_it_stays() const {
  return std::string(handler_name()) + " keeps a resumption";
}

}  // namespace weft::detail
