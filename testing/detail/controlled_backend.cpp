// SPDX-License-Identifier: MIT
#include "weft/testing/detail/controlled_backend.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "weft/testing/path.hpp"

namespace weft::detail {

schedule_path run_log::path(granularity g) const {
  schedule_path p(g);
  p.reserve(choices.size());
  for (auto const& c : choices)
    if (c.is_decision())
      p.add(c.taken);
    else
      p.add(c.taken, ids[c.first + c.taken]);
  return p;
}
std::string run_log::candidates_at(std::size_t i, std::size_t step) const {
  if (step_of_choice(i) != step) return "";
  auto const& c = choices[i];
  return c.is_decision() ? text_of_ways(c.of) : text_of_ids(ids.data() + c.first, c.of);
}
bool run_log::chooses_as(run_log const& other, std::size_t i, std::size_t step) const noexcept {
  bool const is_here = step_of_choice(i) == step;
  if (is_here != (other.step_of_choice(i) == step)) return false;
  if (!is_here) return true;
  auto const& a = choices[i];
  auto const& b = other.choices[i];
  if (a.of != b.of || a.is_decision() != b.is_decision()) return false;
  return a.is_decision() || std::equal(&ids[a.first], &ids[a.first] + a.of, &other.ids[b.first]);
}

}  // namespace weft::detail
