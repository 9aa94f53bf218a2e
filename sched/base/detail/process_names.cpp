// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/process_names.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/process_id.hpp"

namespace weft::detail {

void process_names::add(process_id id, std::string_view function) {
  if (function.empty()) return;
  if (auto const [at, is_new] = names_.try_emplace(id); is_new)
    at->second = short_name_of_function(function);
}
std::string process_names::short_text(process_id id) const {
  std::string s = id.text();
  auto const found = names_.find(id);
  if (found == names_.end() || found->second.empty()) return s;
  s += " (" + found->second;
  auto const is_alike = [&](auto const& each) { return each.second == found->second; };
  if (std::ranges::count_if(names_, is_alike) != 1)
    s += " #" + std::to_string(std::count_if(names_.begin(), std::next(found), is_alike));
  return s + ')';
}

}  // namespace weft::detail
