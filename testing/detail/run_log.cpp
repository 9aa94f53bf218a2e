// SPDX-License-Identifier: MIT
#include "weft/testing/detail/run_log.hpp"

#include <cstddef>
#include <string>

#include "weft/testing/detail/strategy.hpp"
#include "weft/testing/path.hpp"

namespace weft::detail {

schedule_path run_log::path(granularity g) const {
  schedule_path p(g);
  if (was_cut) p.cut_after(steps);
  p.reserve(choices.size());
  for (std::size_t i = 0; i != choices.size(); ++i)
    if (auto const& c = choices[i]; c.is_decision)
      p.add(c.taken);
    else
      p.add(c.taken, c.process);
  return p;
}
std::string run_log::candidates_at(std::size_t i, std::size_t step) const {
  if (step_of_choice(i) != step) return "";
  auto const& c = choices[i];
  if (c.is_decision) return text_of_ways(c.of);
  return c.of > candidates::most_named ? text_of_many(c.of) : text_of_ids(c.names, c.of);
}
bool run_log::chooses_as(run_log const& other, std::size_t i, std::size_t step) const noexcept {
  bool const is_here = step_of_choice(i) == step;
  if (is_here != (other.step_of_choice(i) == step)) return false;
  if (!is_here) return true;
  auto const& a = choices[i];
  auto const& b = other.choices[i];
  return a.of == b.of && a.is_decision == b.is_decision && a.sum == b.sum;
}

}  // namespace weft::detail
