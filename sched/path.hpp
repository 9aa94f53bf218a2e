// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace weft {

/// A schedule, as the choices that make it: at each step at which several processes could have
/// run, which one did, counted from 0 in the order of their ids.  Written "1.0.2"; of a program
/// that leaves no choice, "".
class schedule_path {
 public:
  schedule_path() = default;
  /// Throws std::invalid_argument, if that is no path.
  explicit schedule_path(std::string_view text) {
    while (!text.empty()) {
      unsigned n = 0;
      auto const end = text.data() + text.size();
      auto const [at, error] = std::from_chars(text.data(), end, n);
      bool const more = at != end;
      if (error != std::errc() || (more && (*at != '.' || at + 1 == end)))
        throw std::invalid_argument("weft: a path is numbers with dots between them, as in 1.0.2");
      choices_.push_back(n);
      text.remove_prefix(static_cast<std::size_t>(at - text.data()) + more);
    }
  }

  void add(unsigned choice) { choices_.push_back(choice); }
  [[nodiscard]] std::size_t length() const noexcept { return choices_.size(); }
  [[nodiscard]] unsigned operator[](std::size_t i) const { return choices_.at(i); }

  [[nodiscard]] std::string text() const {
    std::string s;
    for (unsigned const c : choices_) s += (s.empty() ? "" : ".") + std::to_string(c);
    return s;
  }
  friend bool operator==(schedule_path const&, schedule_path const&) = default;

 private:
  std::vector<unsigned> choices_;
};

}  // namespace weft
