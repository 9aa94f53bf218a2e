// SPDX-License-Identifier: MIT
#include "weft/testing/detail/controlled_backend.hpp"

#include <cstddef>
#include <string>
#include <utility>

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

std::size_t controlled_backend::decide(std::size_t n, std::string_view const* names) try {
  if (!is_in_step_ || n == 1) return 0;  // CHOICE-2
  // A step that decides for ever is cut, with all ways in turn: one may end it.
  static constexpr std::size_t most_in_a_step = 10'000;
  std::size_t const made = log_->choices.size();
  if (made > most_in_a_step && log_->choices[made - most_in_a_step].step == log_->steps)
      [[unlikely]] {
    log_->was_cut = true;
    limits_.max_steps = log_->steps;
    return ++refused_ % n;
  }
  std::size_t const taken = strategy_->decide(n);
  run_log::choice& c = log_->choices.push();
  c.taken = static_cast<unsigned>(taken);
  c.of = static_cast<unsigned>(n);
  c.step = log_->steps;
  c.is_decision = true;
  c.sum = 0;
  log_->decisions += taken != 0;
  if (log_->trace)
    log_->trace->back().decisions.push_back(
        {static_cast<unsigned>(taken), std::string(names ? names[taken] : "")});
  return taken;
} catch (std::bad_alloc const&) {
  log_->lacks_memory = true;
  throw;
}

void controlled_backend::worker::put_slow(thunk&& t, process_id id) {
  if (gap_ != candidates::none) {
    if (fits_gap(id)) return fill_gap(std::move(t), id);
    close_gap();
  }
  std::size_t const at = ready_.place_of(id);
  ready_.insert(at, id, std::move(t));
  sum_ += candidates::part_of(id);
  if (last_at_ != candidates::none && at <= last_at_) ++last_at_;
  if (id == last_) last_at_ = at;
}

void controlled_backend::worker::close_gap_slow() noexcept {
  sum_ -= candidates::part_of(ready_[gap_].id);
  ready_.erase(gap_);
  if (last_at_ != candidates::none && last_at_ > gap_) --last_at_;
  gap_ = candidates::none;
}

schedule_step controlled_backend::worker::step_of(process const& p, bool switches,
                                                  bool preempts) const {
  if (auto const event = home_.events_.first_of(p); !event.empty())
    return {p.id(), event, {}, switches, preempts, {}, true};
  if (home_.events_.end_of(p)) return {p.id(), "its end", {}, switches, preempts, {}, true};
  auto const [operation, where] = p.resumes_at();
  return {p.id(), operation, where, switches, preempts, {}, false};
}

}  // namespace weft::detail
