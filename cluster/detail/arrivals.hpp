// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/durable/command_log.hpp"

namespace weft::cluster::detail {

/// Receives the entries of a log, which a network delivers late, twice, in another order, or not at
/// all: take() returns them in the order of the log, each once.  Not thread safe.
class arrivals {
 public:
  using entry = durable::command_log::entry;

  /// The number of the first entry that is still missing.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  /// Whether entries are missing before one that has arrived: they have to be asked for.
  [[nodiscard]] bool is_gap() const noexcept { return is_gap_; }
  /// Notes that the entries from next() on have been asked for again.
  void asked_again() noexcept { is_gap_ = false; }

  /// Keeps the entry if its number is next(), and returns whether it was.  Any other entry is
  /// dropped: it is known, or will be asked for again.
  bool put(std::uint64_t number, std::string bytes) {
    if (number > next_) is_gap_ = true;
    if (number != next_) return false;
    ++next_;
    here_.push_back({number, std::move(bytes)});
    return true;
  }
  /// Removes and returns the kept entries after number `known`.  Entries up to `known` need not
  /// arrive any more.
  [[nodiscard]] std::vector<entry> take(std::uint64_t known) {
    next_ = std::max(next_, known + 1);
    std::erase_if(here_, [known](entry const& e) { return e.number <= known; });
    return std::exchange(here_, {});
  }

 private:
  std::uint64_t next_ = 1;
  bool is_gap_ = false;
  std::vector<entry> here_;
};

}  // namespace weft::cluster::detail
