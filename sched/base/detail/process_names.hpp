// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "weft/sched/base/process_id.hpp"

namespace weft::detail {

/// The processes of a report: each is named by its function, and numbered, in the order of ids, where
/// several have the same.
class process_names {
 public:
  /// `function`: what process::function() has returned; empty if it is not known.
  void add(process_id id, std::string_view function);
  /// "process 1.2 (worker #2)"; "process 1.2" if its function is not known.
  [[nodiscard]] std::string text(process_id id) const { return "process " + short_text(id); }
  /// "1.2 (worker #2)"
  [[nodiscard]] std::string short_text(process_id id) const;

 private:
  std::map<process_id, std::string> names_;
};

}  // namespace weft::detail
