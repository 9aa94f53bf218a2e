// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/reused.hpp"

/// Names of locations, by which a location is recognised in another run, where it has another
/// address.
namespace weft::detail {

/// A location is named by the process that made it, and by how many locations that process had
/// made.  If a process that has forked, or its clone, is run again, it makes its earlier locations
/// once more.  So that they get the same names again, a process that is run again counts from the
/// start, and a clone goes on from the number of its parent, under the name of its parent.
class location_names {
 public:
  using maker = std::uint64_t;  // the hash of a process_id, which is unique
  static constexpr maker outside = ~maker{0};
  static constexpr std::uint64_t none = 0;

  void clear() noexcept {
    makers_.clear();
    names_.clear();
  }
  void note_created(void const* location, maker by) {
    made& m = made_by(by);
    name(location, mixed(m.counts_as, ++m.number));
  }
  void note_destroyed(void const* location) noexcept {
    if (auto* const name = names_.find(word_of(location))) *name = none;
  }
  /// Notes a fork.  `shared` is the location of the frames that both processes share; its name is
  /// made of the name of the clone.
  void note_fork(process_id from, process_id clone, void const* shared) {
    made const m = made_by(from.hash());
    makers_.enter(clone.hash(), {}).first = m;
    name(shared, mixed(clone.hash(), 0));
  }
  void note_rerun(maker who) { made_by(who).number = 0; }

  [[nodiscard]] std::uint64_t of(void const* location) noexcept {
    auto const* const name = names_.find(word_of(location));
    return name ? *name : none;
  }

 private:
  struct made {
    maker counts_as;  // the process in the names: the maker; for a clone, its parent's counts_as
    std::uint64_t number;
  };

  [[nodiscard]] made& made_by(maker who) { return makers_.enter(who, {who, 0}).first; }
  static std::uint64_t mixed(maker who, std::uint64_t nth) noexcept {
    return (who * 0x9E3779B97F4A7C15u) ^ ((nth + 1) * 0xD6E8FEB86659FD93u) ^ 1u;
  }
  /// Names a location; replaces the name of an earlier one at this address, which is destroyed.
  void name(void const* location, std::uint64_t name) {
    names_.enter(word_of(location), none).first = name;
  }

  word_table<made> makers_;
  word_table<std::uint64_t> names_;
};

}  // namespace weft::detail
