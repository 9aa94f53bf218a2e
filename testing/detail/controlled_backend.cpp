// SPDX-License-Identifier: MIT
#include "weft/testing/detail/controlled_backend.hpp"

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/testing/exploration.hpp"

namespace weft::detail {

std::size_t controlled_backend::decide(std::size_t n, std::string_view const* names) try {
  if (!is_in_step_ || n == 1) return 0;  // CHOICE-2: one way is no decision
  // A step that decides for ever is cut.  Its further decisions take all ways in turn, since one of
  // the ways may end the step.
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

void controlled_backend::note_value(std::string (*text)(void const*), void const* value) noexcept {
  if (!log_->trace || !is_in_step_) return;
  try {
    log_->trace->back().values.push_back(text(value));
  } catch (std::bad_alloc const&) {
    log_->lacks_memory = true;
  } catch (...) {  // a to_string of the program has thrown: the report lacks the value
  }
}
void controlled_backend::note_woken(process_id id) noexcept {
  if (!is_in_step_) return;
  try {
    // The wake of a waiter for a mutex or a semaphore is not recorded: where schedules are
    // explored, a release wakes all of them (gate::release).
    if (char const* const call = log_->known[id].call)
      for (std::string_view const name : {"weft::mutex::", "weft::semaphore::"})
        if (std::string_view(call).starts_with(name)) return;
    log_->trace->back().wakes.push_back(id);
  } catch (...) {
    log_->lacks_memory = true;
  }
}

schedule_step controlled_backend::worker::step_of(process const& p, bool switches, bool preempts) {
  if (auto const event = home_.events_.first_of(p); !event.empty())
    return {p.id(), event, {}, switches, preempts, {}, true};
  if (home_.events_.end_of(p)) return {p.id(), "its end", {}, switches, preempts, {}, true};
  auto const [operation, where] = p.resumes_at();
  auto& known = home_.log_->known[p.id()];
  if (operation.empty()) return {p.id(), {}, known.spawned_at, switches, preempts};
  if (known.function.empty()) known.function = p.function();
  bool const is_in_call = known.call && site::same_place(where, known.called_at);
  return {p.id(),        is_in_call ? known.call : operation, where, switches, preempts, {}, false,
          known.function};
}

}  // namespace weft::detail
