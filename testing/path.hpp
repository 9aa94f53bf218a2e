// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
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
/// after a d.  A path that names no process is written in version 1, "1c:1.0x2:a2f6": it is an
/// older path, or that of a program without a choice of a process.
class schedule_path {
 public:
  schedule_path() = default;
  explicit schedule_path(granularity g) : granularity_(g) {}
  /// Throws std::invalid_argument, with the reason, if the text is no path.
  explicit schedule_path(std::string_view text) {
    std::size_t const end = text.rfind(':');
    if (text.size() < 3 || (text[0] != '1' && text[0] != '2') || text[2] != ':' || end < 2 ||
        (text[1] != 'c' && text[1] != 'p'))
      refuse(text, "it must begin with 2c:, 2p:, 1c: or 1p:");
    if (end == 2 || text.substr(end + 1) != checksum(text.substr(0, end)))
      refuse(text, "its checksum, behind the last colon, is another one");
    if (text[1] == 'p') granularity_ = granularity::parallel;
    if (text[0] == '1')
      read(text, text.substr(3, end - 3));
    else
      read_named(text, text.substr(3, end - 3));
  }

  /// Adds a decision, or a choice of a process of which only the number is known.
  void add(unsigned choice) { choices_.push_back({choice, {}}); }
  /// Adds the choice of the process `who`, which is number `choice` of those that could run.
  void add(unsigned choice, process_id who) {
    choices_.push_back({choice, who});
    names_processes_ = true;
  }
  void reserve(std::size_t n) { choices_.reserve(n); }
  [[nodiscard]] std::size_t length() const noexcept { return choices_.size(); }
  [[nodiscard]] unsigned operator[](std::size_t i) const { return choices_.at(i).taken; }
  /// The process of the choice i; nullopt if that is a decision, or the path names no processes.
  [[nodiscard]] std::optional<process_id> process(std::size_t i) const {
    return choices_.at(i).process;
  }
  /// Whether the choices name their processes.
  [[nodiscard]] bool names_processes() const noexcept { return names_processes_; }
  [[nodiscard]] granularity grain() const noexcept { return granularity_; }

  [[nodiscard]] std::string text() const {
    std::string s = names_processes_ ? "2" : "1";
    s += granularity_ == granularity::cooperative ? "c:" : "p:";
    std::map<unsigned, process_id> meant;  // which process each number meant last
    for (std::size_t i = 0, n = 0; i != length(); i += n) {
      for (n = 1; i + n != length() && choices_[i + n] == choices_[i];) ++n;
      if (i != 0) s += names_processes_ ? ',' : '.';
      append(s, choices_[i], meant);
      if (n != 1) s += 'x' + std::to_string(n);
    }
    std::string const sum = checksum(s);
    return s += ':' + sum;
  }
  friend bool operator==(schedule_path const&, schedule_path const&) = default;

 private:
  struct entry {
    unsigned taken;
    std::optional<process_id> process;
    friend bool operator==(entry const&, entry const&) = default;
  };

  void append(std::string& s, entry const& c, std::map<unsigned, process_id>& meant) const {
    if (names_processes_ && !c.process) s += 'd';
    s += std::to_string(c.taken);
    if (!c.process) return;
    auto const [it, is_new] = meant.try_emplace(c.taken, *c.process);
    if (!is_new && it->second == *c.process) return;
    it->second = *c.process;
    s += '=' + c.process->text();
  }
  [[noreturn]] static void refuse(std::string_view text, std::string const& why) {
    throw std::invalid_argument("weft: \"" + std::string(text) + "\" is no path: " + why);
  }
  static constexpr char const* numbers =
      "its choices are numbers with dots between them, as in 1.0x4.2";
  static constexpr char const* names =
      "its choices are numbers with commas between them, each with its process the first time, "
      "and decisions, as in 1=1.2,0=1.1x4,d2";

  void read(std::string_view whole, std::string_view rest) {
    while (!rest.empty()) {
      entry const c{number(whole, rest, numbers), {}};
      add_times(whole, rest, c, numbers);
      if (rest.empty()) return;
      if (rest.front() != '.' || rest.size() == 1) refuse(whole, numbers);
      rest.remove_prefix(1);
    }
  }
  void read_named(std::string_view whole, std::string_view rest) {
    std::map<unsigned, process_id> meant;
    do {
      bool const is_decision = rest.starts_with('d');
      if (is_decision) rest.remove_prefix(1);
      entry c{number(whole, rest, names), {}};
      if (!is_decision) c.process = process_meant(whole, rest, c.taken, meant);
      add_times(whole, rest, c, names);
      if (!rest.empty() && (rest.front() != ',' || rest.size() == 1)) refuse(whole, names);
      rest.remove_prefix(rest.empty() ? 0 : 1);
    } while (!rest.empty());
    if (!names_processes_) refuse(whole, names);
  }
  static process_id process_meant(std::string_view whole, std::string_view& rest, unsigned taken,
                                  std::map<unsigned, process_id>& meant) {
    if (!rest.starts_with('=')) {
      auto const it = meant.find(taken);
      if (it == meant.end()) refuse(whole, names);
      return it->second;
    }
    rest.remove_prefix(1);
    auto const id = process_id::read(rest.substr(0, rest.find_first_of("x,")));
    if (!id) refuse(whole, names);
    rest.remove_prefix(std::min(rest.find_first_of("x,"), rest.size()));
    return meant[taken] = *id;
  }
  void add_times(std::string_view whole, std::string_view& rest, entry const& c, char const* form) {
    static constexpr std::size_t most = 100'000'000;
    std::size_t times = 1;
    if (rest.starts_with('x')) {
      rest.remove_prefix(1);
      times = number(whole, rest, form);
    }
    if (times == 0 || times > most - length())
      refuse(whole, "a choice is made 0 or too many times");
    choices_.insert(choices_.end(), times, c);
    names_processes_ = names_processes_ || c.process;
  }
  static unsigned number(std::string_view whole, std::string_view& rest, char const* form) {
    unsigned n = 0;
    auto const [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    if (error != std::errc()) refuse(whole, form);
    rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
    return n;
  }
  /// Four hexadecimal digits: CRC-16/XMODEM.  Unlike a hash it finds every change within 16
  /// consecutive bits: one wrong character, or two neighbours that have changed places.
  static std::string checksum(std::string_view text) {
    unsigned sum = 0;
    for (char const c : text) {
      sum ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
      for (int bit = 0; bit != 8; ++bit) sum = (sum << 1) ^ (sum & 0x8000u ? 0x11021u : 0u);
    }
    std::string s(4, '0');
    for (std::size_t i = 4; i-- != 0; sum >>= 4) s[i] = "0123456789abcdef"[sum & 15u];
    return s;
  }

  granularity granularity_ = granularity::cooperative;
  bool names_processes_ = false;
  std::vector<entry> choices_;
};

}  // namespace weft
