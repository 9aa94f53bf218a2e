// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>

#include "weft/effects/memory/frame_pool.hpp"

namespace weft::tests {

/// Checks that as many frames and prompts are alive at its end as at its beginning: each was
/// destroyed, once.
class every_frame_dies {
 public:
  every_frame_dies() = default;
  every_frame_dies(every_frame_dies const&) = delete;
  every_frame_dies& operator=(every_frame_dies const&) = delete;
  ~every_frame_dies() { CHECK(detail::frames_so_far().alive() == before_); }

 private:
  decltype(detail::frames_so_far().alive()) const before_ = detail::frames_so_far().alive();
};

}  // namespace weft::tests
