// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <string>

#include "weft/adapters/clock_time.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

/// The texts that formatters write.
namespace weft::detail {

inline std::string printed(process_id id) { return id.text(); }
inline std::string printed(schedule_path const& p) { return p.text(); }
inline std::string printed(schedule_step const& s) { return s.text(); }
inline std::string printed(exploration const& e) { return e.report(); }
inline std::string printed(exploration::outcome const& o) { return exploration::text(o); }
inline std::string printed(deadlock::waiter const& w) { return w.text(); }
inline std::string printed(clock_time t) {
  std::array<char, 32> s{};
  double const seconds = std::chrono::duration<double>(t.at.time_since_epoch()).count();
  auto const end = std::to_chars(s.data(), s.data() + s.size(), seconds).ptr;
  return std::string(s.data(), end) + 's';
}

/// The types that have a formatter.
template <class T, class... Types>
concept one_of_types = (std::same_as<T, Types> || ...);
template <class T>
concept printable = one_of_types<T, process_id, schedule_path, schedule_step, exploration,
                                 exploration::outcome, deadlock::waiter, clock_time>;

}  // namespace weft::detail
