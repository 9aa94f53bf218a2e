// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/effects/detail/replay/log_segment.hpp"

namespace weft::detail {

/// The entries of a log from the first to the last, in contiguous parts.
class log_path {
 public:
  log_path(log_segment const& tail, std::uint32_t length);
  log_path(log_path const&) = delete;
  log_path& operator=(log_path const&) = delete;

  [[nodiscard]] log_stretch const* begin() const noexcept {
    return many_.empty() ? few_.data() : many_.data();
  }
  [[nodiscard]] log_stretch const* end() const noexcept { return begin() + size_; }
  /// The number of operations in the log before the entry `e`, which is in `part`.
  [[nodiscard]] std::size_t operations_before(log_stretch const* part,
                                              log_entry const* e) const noexcept;

 private:
  std::size_t size_ = 1;
  std::array<log_stretch, 4> few_;  // used without an allocation, if four parts suffice
  std::vector<log_stretch> many_;
};

}  // namespace weft::detail
