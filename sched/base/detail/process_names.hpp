// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "weft/sched/base/process_id.hpp"

namespace weft::detail {

/// The names of the processes of a report: those of their functions.  Processes with the same
/// function are numbered, in the order of ids.
class process_names {
 public:
  /// Adds a process.  `function`: the result of process::function(); empty if it is not known.
  void add(process_id id, std::string_view function);
  /// "process 1.2 (worker #2)"; "process 1.2" if its function is not known.
  [[nodiscard]] std::string text(process_id id) const { return "process " + short_text(id); }
  /// "1.2 (worker #2)"; "1.2" if its function is not known.
  [[nodiscard]] std::string short_text(process_id id) const;

 private:
  std::map<process_id, std::string> names_;
};

}  // namespace weft::detail
