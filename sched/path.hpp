// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft {

/// Between which of its operations a process lets others run, where schedules are explored.
enum class granularity : std::uint8_t {
  cooperative,  ///< As on one thread: when it yields, waits, forks or ends.
  parallel      ///< As on several: also before each operation on something that others share.
};

/// A schedule, as the choices that make it: at each step at which several processes could have
/// run, which one did, counted from 0 in the order of their ids.
///
/// Written "1c:0.1x3.2:e23d": the version of this text; c or p, the granularity; the choices, the
/// 1 three times here; and a checksum, by which a path that was not copied whole is known.  Of a
/// program that leaves no choice, "1c::" and the checksum.
class schedule_path {
 public:
  schedule_path() = default;
  explicit schedule_path(granularity g) : granularity_(g) {}
  /// Throws std::invalid_argument, which says why, if that is no path.
  explicit schedule_path(std::string_view text) {
    std::size_t const end = text.rfind(':');
    if (text.size() < 3 || text[0] != '1' || text[2] != ':' || end < 2)
      refuse(text, "it is to begin with 1c: or 1p:");
    if (text[1] != 'c' && text[1] != 'p') refuse(text, "it is to begin with 1c: or 1p:");
    if (end == 2 || text.substr(end + 1) != checksum(text.substr(0, end)))
      refuse(text, "its checksum, behind the last colon, is another one");
    if (text[1] == 'p') granularity_ = granularity::parallel;
    read(text, text.substr(3, end - 3));
  }

  void add(unsigned choice) { choices_.push_back(choice); }
  void reserve(std::size_t n) { choices_.reserve(n); }
  [[nodiscard]] std::size_t length() const noexcept { return choices_.size(); }
  [[nodiscard]] unsigned operator[](std::size_t i) const { return choices_.at(i); }
  [[nodiscard]] granularity grain() const noexcept { return granularity_; }

  [[nodiscard]] std::string text() const {
    std::string s = granularity_ == granularity::cooperative ? "1c:" : "1p:";
    for (std::size_t i = 0, n = 0; i != length(); i += n) {
      for (n = 1; i + n != length() && choices_[i + n] == choices_[i];) ++n;
      if (i != 0) s += '.';
      s += std::to_string(choices_[i]);
      if (n != 1) s += 'x' + std::to_string(n);
    }
    std::string const sum = checksum(s);
    return s += ':' + sum;
  }
  friend bool operator==(schedule_path const&, schedule_path const&) = default;

 private:
  [[noreturn]] static void refuse(std::string_view text, std::string const& why) {
    throw std::invalid_argument("weft: \"" + std::string(text) + "\" is no path: " + why);
  }
  void read(std::string_view whole, std::string_view rest) {
    static constexpr std::size_t most = 100'000'000;
    while (!rest.empty()) {
      auto const choice = number(whole, rest);
      std::size_t times = 1;
      if (rest.starts_with('x')) {
        rest.remove_prefix(1);
        times = number(whole, rest);
      }
      if (times == 0 || times > most - length())
        refuse(whole, "a choice is made 0 or too many times");
      choices_.insert(choices_.end(), times, choice);
      if (rest.empty()) return;
      if (rest.front() != '.' || rest.size() == 1)
        refuse(whole, "its choices are numbers with dots between them, as in 1.0x4.2");
      rest.remove_prefix(1);
    }
  }
  static unsigned number(std::string_view whole, std::string_view& rest) {
    unsigned n = 0;
    auto const [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    if (error != std::errc())
      refuse(whole, "its choices are numbers with dots between them, as in 1.0x4.2");
    rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
    return n;
  }
  /// Four hexadecimal digits: CRC-16/XMODEM.  Unlike a hash it finds every change within 16 bits in
  /// a row, as that of one character, or of two that change places.
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
  std::vector<unsigned> choices_;
};

}  // namespace weft
