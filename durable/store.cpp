// SPDX-License-Identifier: MIT
#include "weft/durable/store.hpp"

namespace weft::durable {

std::string_view name_of(process_status s) noexcept {
  switch (s) {
    case process_status::unborn:
      return "unborn";
    case process_status::ready:
      return "ready";
    case process_status::waiting:
      return "waiting";
    case process_status::completed:
      return "completed";
    case process_status::failed:
      return "failed";
    case process_status::cancelled:
      return "cancelled";
    case process_status::quarantined:
      return "quarantined";
  }
  return "unknown";
}

}  // namespace weft::durable
