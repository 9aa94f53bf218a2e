// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/effects/detail/compiler.hpp"
#include "weft/sched/base/process_id.hpp"

namespace weft {

/// The points at which a process lets others run, where schedules are explored.
enum class granularity : std::uint8_t {
  cooperative,  ///< As on one thread: at a yield, a wait, a fork or the end.
  parallel      ///< As on several threads: also before each operation on shared state.
};

/// A schedule, as the choices that make it: for each step at which several processes could have
/// run, the number of the one that did, counted from 0 in the order of ids; and the decisions in
/// between.
///
/// Written "2c:1=1.2,0=1.1x2:1448": the version of this format; c or p, the granularity; the
/// choices, here 1 (process 1.2), and 0 (process 1.1) twice; and a checksum, which detects a path
/// that was not copied whole.  A choice names its process where its number occurs for the first
/// time, and where the number means another process than the last time.  A decision is a number
/// after a d.  "2c/50:..." is a schedule that was cut after 50 steps.  A path that names no process
/// is written in version 1, "1c:1.0x2:a2f6": it is an older path, or that of a program without a
/// choice of a process.
class schedule_path {
 public:
  schedule_path() = default;
  explicit schedule_path(granularity g) : granularity_(g) {}
  /// Reads a path.  Throws std::invalid_argument, with the reason, if the text is no path.
  explicit schedule_path(std::string_view text);

  /// Adds a decision, or a choice of a process of which only the number is known.  O(1), amortised;
  /// allocates as the path grows.
  void add(unsigned choice) { choices_.push_back({choice, {}}); }
  /// Adds the choice of the process `who`, which is number `choice` of those that could run.  O(1),
  /// amortised; allocates as the path grows.
  void add(unsigned choice, process_id who) {
    choices_.push_back({choice, who});
    names_processes_ = true;
  }
  /// Notes that the schedule was cut after `n` steps, at least one: follow() cuts it there, too.
  void cut_after(std::size_t n) noexcept { steps_ = n; }
  /// After how many steps the schedule was cut; 0 if it was not.
  [[nodiscard]] std::size_t steps_if_cut() const noexcept { return steps_; }
  /// Makes room for `n` choices.  O(n); allocates the room.
  void reserve(std::size_t n) { choices_.reserve(n); }
  /// The number of choices and decisions.
  [[nodiscard]] std::size_t length() const noexcept { return choices_.size(); }
  /// The number of the choice or decision `i`.  Throws std::out_of_range.
  [[nodiscard]] unsigned operator[](std::size_t i) const { return choices_.at(i).taken; }
  /// The process of the choice i; nullopt if that is a decision, or the path names no processes.
  /// Throws std::out_of_range.
  [[nodiscard]] std::optional<process_id> process(std::size_t i) const {
    return choices_.at(i).process;
  }
  /// Whether the choices name their processes.
  [[nodiscard]] bool names_processes() const noexcept { return names_processes_; }
  /// The granularity with which the path was recorded.
  [[nodiscard]] granularity grain() const noexcept { return granularity_; }

  /// The path as it is written.  O(n log n); allocates the text.
  [[nodiscard]] std::string text() const;
  friend bool operator==(schedule_path const&, schedule_path const&) = default;

 private:
  struct entry {
    unsigned taken;
    std::optional<process_id> process;
    friend bool operator==(entry const&, entry const&) = default;
  };

  void append(std::string& s, entry const& c, std::map<unsigned, process_id>& meant) const;
  [[noreturn]] static void refuse(std::string_view text, std::string const& why);
  static constexpr char const* numbers =
      "its choices are numbers with dots between them, as in 1.0x4.2";
  static constexpr char const* cut_form =
      "behind the slash is the number of steps after which it was cut";
  static constexpr char const* names =
      "its choices are numbers with commas between them, each with its process the first time, "
      "and decisions, as in 1=1.2,0=1.1x4,d2";

  void read(std::string_view whole, std::string_view rest);
  void read_named(std::string_view whole, std::string_view rest);
  static process_id process_meant(std::string_view whole, std::string_view& rest, unsigned taken,
                                  std::map<unsigned, process_id>& meant);
  void add_times(std::string_view whole, std::string_view& rest, entry const& c, char const* form);
  static unsigned number(std::string_view whole, std::string_view& rest, char const* form);
  /// Four hexadecimal digits: CRC-16/XMODEM.  Unlike a hash it finds every change within 16
  /// consecutive bits: one wrong character, or two neighbours that have changed places.
  static std::string checksum(std::string_view text);

  granularity granularity_ = granularity::cooperative;
  bool names_processes_ = false;
  std::size_t steps_ = 0;  // after how many steps the schedule was cut; 0 if it was not
  std::vector<entry> choices_;
};

}  // namespace weft
