// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/ready_list.hpp"

/// A strategy chooses at each step which of the ready processes runs.  The invariants CHOICE-n are
/// in controlled_backend.hpp.
namespace weft::detail {

/// The processes that may run.
struct candidates {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  ready_list const& ready;  // in the order of ids (CHOICE-1); at least one
  std::size_t last;         // the index of the process that ran last, or none
  std::uint64_t sum;        // of the ids; other ids have, in practice, another sum (CHOICE-4)

  /// The part of the sum that stands for one process.
  [[nodiscard]] static constexpr std::uint64_t part_of(process_id id) noexcept {
    std::uint64_t const x = (id.hash() + 1) * 0x9E3779B97F4A7C15u;
    return (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  }
  /// If there are more candidates than this, their names are not recorded.
  static constexpr std::size_t most_named = 8;
  /// The names of candidates, in their order; without meaning if there are more than `most_named`.
  using names = std::array<process_id, most_named>;

  [[nodiscard]] std::size_t size() const noexcept { return ready.size(); }
  [[nodiscard]] process_id operator[](std::size_t i) const noexcept { return ready[i].id; }
  void note_names(names& to) const noexcept {
    if (size() > most_named) return;
    for (std::size_t i = 0; i != size(); ++i) to[i] = ready[i].id;
  }
};

/// How a run has ended, after its last step.
enum class run_end : std::uint8_t {
  came,   // all processes have ended, or wait
  threw,  // an exception has ended the last step, or the run
  cut     // the run was longer than allowed
};

/// Makes the choices of a run.  choose() is called at each step, even if there is one candidate.
class strategy {
 public:
  strategy() = default;
  strategy(strategy const&) = delete;
  strategy& operator=(strategy const&) = delete;
  virtual ~strategy() = default;

  /// Returns the index of the candidate that runs next; or none, and then the run ends here, and
  /// does not count.
  virtual std::size_t choose(candidates const& who) = 0;
  /// Makes a decision in the middle of a step: returns the number of one of `ways` ways, from 0;
  /// there are two or more.
  virtual std::size_t decide(std::size_t ways) = 0;
  /// Called at the end of a step if choose() is not called next, since no process is ready, or all
  /// are being unwound.
  virtual void step_ends() {}
  /// Called after the last step of a run.
  virtual void on_run_end(run_end) {}
  /// Whether the last run counts.
  [[nodiscard]] virtual bool counts() const noexcept { return true; }
  /// The listener to the accesses of processes; null if there is none.
  [[nodiscard]] virtual location_listener* listener() noexcept { return nullptr; }
  /// Whether an allocation of the strategy has failed where it could not throw.  Since then
  /// choose() has returned none, and the strategy cannot be used any more.
  [[nodiscard]] virtual bool lacks_memory() const noexcept { return false; }
};

/// The ids as text: "1.1, 1.2 and 1.3".
template <class Ids>
std::string text_of_ids(Ids const& ids, std::size_t size) {
  std::string s;
  for (std::size_t i = 0; i != size; ++i)
    s += (i == 0 ? "" : i + 1 == size ? " and " : ", ") + ids[i].text();
  return s;
}

/// The text for candidates of which only the number is known.
inline std::string text_of_many(std::size_t n) { return std::to_string(n) + " processes"; }

inline std::string text_of_ways(std::size_t n) { return "one of " + std::to_string(n) + " ways"; }

}  // namespace weft::detail
