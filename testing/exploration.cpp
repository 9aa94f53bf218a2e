// SPDX-License-Identifier: MIT
#include "weft/testing/exploration.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/process_names.hpp"
#include "weft/testing/path.hpp"

namespace weft {

std::string schedule_step::text() const {
  std::string s = preempts ? "! " : switches ? "> " : "  ";
  detail::process_names name;
  name.add(process, function);
  s += name.text(process);
  if (is_event)
    s += ": " + std::string(operation) + " takes effect";
  else if (operation.empty())
    s += " begins" + (where.line() != 0 ? ", spawned at " + detail::text(where) : "");
  else
    s += " goes on from " + std::string(operation) + " at " + detail::text(where);
  char const* between = "; decided: ";
  for (auto const& d : decisions)
    if (d.taken != 0) s += std::exchange(between, ", ") + d.text();
  return s;
}

namespace {

detail::process_names names_in(std::vector<schedule_step> const& steps) {
  detail::process_names names;
  for (auto const& s : steps) names.add(s.process, s.function);
  return names;
}

/// Writes the steps of a schedule as text, with a line for each turn: the steps of one process in a
/// row.  In a turn, after the first step that is no deferred event, a deferred event is told only
/// if it wakes a process.
class turns_writer {
 public:
  explicit turns_writer(std::vector<schedule_step> const& all) : names_(names_in(all)) {}
  void add(schedule_step const& step) {
    if (step.switches || step.preempts || line_.empty()) {
      end_turn();
      line_ = step.preempts ? "! " : step.switches ? "> " : "  ";
      line_ += names_.short_text(step.process) + ':';
      is_first_ = true;
      has_gone_on_ = false;
    } else if (step.is_event && has_gone_on_ && step.wakes.empty()) {
      return;
    }
    has_gone_on_ |= !step.is_event;
    if (!item_.empty() && is_like(step, *last_)) {
      ++times_;
    } else {
      end_item();
      item_ = item_of(step);
      times_ = 1;
    }
    last_ = &step;
  }
  [[nodiscard]] std::string end() && {
    end_turn();
    return std::move(text_);
  }

 private:
  static constexpr std::size_t width = 100;

  std::string item_of(schedule_step const& step) {
    std::string s;
    if (step.is_event)
      s = std::string(step.operation) + " takes effect";
    else if (step.operation.empty())
      s = step.where.line() != 0 ? "spawned at " + place(step.where) : "begins";
    else
      s = short_name(step.operation) + " at " + place(step.where);
    char const* between = " = ";
    for (auto const& v : step.values) s += std::exchange(between, ", ") + v;
    between = "; wakes ";
    for (auto const& w : step.wakes) s += std::exchange(between, " and ") + names_.short_text(w);
    between = "; decided: ";
    for (auto const& d : step.decisions)
      if (d.taken != 0) s += std::exchange(between, " and ") + d.text();
    return s;
  }
  static bool is_like(schedule_step const& a, schedule_step const& b) {
    return a.operation == b.operation && a.where.line() == b.where.line() &&
           a.is_event == b.is_event &&
           std::string_view(a.where.file_name()) == b.where.file_name() && a.decisions.empty() &&
           b.decisions.empty() && a.values == b.values && a.wakes.empty() && b.wakes.empty();
  }
  static std::string short_name(std::string_view operation) {
    if (operation.starts_with("weft::")) operation.remove_prefix(6);
    return std::string(operation);
  }
  /// The place as text; a file that was named before is named without its folder.
  std::string place(std::source_location const& where) {
    std::string s = detail::text(where);
    std::string const file = s.substr(0, s.rfind(':'));
    if (std::ranges::find(files_, file) == files_.end())
      files_.push_back(file);
    else if (auto const folder = file.rfind('/'); folder != std::string::npos)
      s.erase(0, folder + 1);
    return s;
  }
  void end_item() {
    if (item_.empty()) return;
    std::string item = std::move(item_);
    item_.clear();
    if (times_ != 1) item += " (" + std::to_string(times_) + " times)";
    if (!std::exchange(is_first_, false)) line_ += ',';
    if (line_.size() - (line_.rfind('\n') + 1) + item.size() > width && line_.size() > 20)
      line_ += "\n     ";
    line_ += ' ' + item;
  }
  void end_turn() {
    end_item();
    if (!line_.empty()) text_ += line_ + '\n';
    line_.clear();
  }

  detail::process_names const names_;
  std::string text_;
  std::string line_;  // the current turn
  std::string item_;  // the last step of the turn: not yet in line_, since it may be repeated
  std::size_t times_ = 0;
  schedule_step const* last_ = nullptr;
  bool is_first_ = true;
  bool has_gone_on_ = false;  // the turn has a step that is no event
  std::vector<std::string> files_;
};
std::string kind_of(verdict v) {
  return v == verdict::deadlock ? "deadlock" : v == verdict::no_progress ? "livelock" : "failure";
}
/// The second half of a schedule that was cut: which process comes to which places, and how often.
std::string loop_text(std::vector<schedule_step> const& steps) {
  static constexpr std::size_t most_places = 12;
  if (steps.empty()) return {};
  auto const names = names_in(steps);
  std::map<std::string, std::size_t> places;
  for (std::size_t i = steps.size() / 2; i != steps.size(); ++i)
    if (auto const& s = steps[i]; !s.is_event)
      ++places[names.text(s.process) + (s.operation.empty() ? " begins"
                                                            : ": " + std::string(s.operation) +
                                                                  " at " + detail::text(s.where))];
  if (places.size() > most_places) return "the second half of its steps has many places\n";
  std::string s = "the last " + std::to_string(steps.size() - steps.size() / 2) + " of its " +
                  std::to_string(steps.size()) + " steps:\n";
  for (auto const& [place, times] : places)
    s += "  " + place + (times == 1 ? "\n" : " (" + std::to_string(times) + " times)\n");
  return s;
}
std::string turns_text(std::vector<schedule_step> const& steps) {
  turns_writer w(steps);
  for (auto const& s : steps) w.add(s);
  return std::move(w).end();
}

}  // namespace

std::string exploration::report() const {
  std::string s = summary();
  if (auto const* const o = first_failure()) return s += "the first failure: " + text(*o);
  for (auto const& o : outcomes)
    if (o.result.verdict == verdict::cut) return s += text(o);
  return s;
}
std::string exploration::conclusion() const {
  auto const any_of = [](std::size_t n) {
    return n == 1 ? "the only schedule" : "any of the " + std::to_string(n) + " schedules";
  };
  std::string const orders =
      covered.granularity == granularity::parallel ? " of several threads" : " of one thread";
  if (nondeterminism) return "no conclusion: the program does not always do the same";
  if (auto const* const o = first_failure())
    return kind_of(o->result.verdict) + " in a schedule" + orders + " with " +
           several(o->preemptions, "preemption");
  if (leaked != 0) return "leak: the program does not free all that it allocates";
  if (schedules == 0)
    return "no schedule was visited" +
           (covered.cut_by.empty() ? "" : ": " + std::string(covered.cut_by));
  if (schedules == cut)
    return "no schedule was run to its end: " + std::to_string(cut) +
           (cut == 1 ? " was cut" : " were cut") + " at max_steps";
  std::string s;
  if (complete) {
    s = "complete";
    if (covered.is_reduced) s += ", if processes share state by operations only";
    s += ": no failure in " + any_of(covered.within) + orders;
    if (covered.is_reduced)
      s += ", one of each set that differ in the order of independent operations";
  } else {
    s = "no failure in ";
    std::size_t others = schedules - covered.random;
    if (covered.preemptions) {
      s += any_of(covered.within) + orders + " with at most " +
           several(*covered.preemptions, "preemption");
      others -= covered.within;
    }
    char const* between = covered.preemptions ? ", nor in " : "";
    if (others != 0)
      s += std::exchange(between, ", nor in ") +
           several(others, covered.preemptions ? "other" : "schedule");
    if (covered.random != 0) s += between + several(covered.random, "random one");
    if (!covered.preemptions) s += orders;
    s += "; not complete";
    between = ": ";
    auto const because = [&](std::string const& why) { s += std::exchange(between, ", ") + why; };
    if (!covered.cut_by.empty()) because(std::string(covered.cut_by));
    if (cut != 0)
      because(std::to_string(cut) + (cut == 1 ? " was cut" : " were cut") + " at max_steps");
    if (covered.leaves_spins) because("a process that spins lets the others go first");
  }
  if (covered.granularity != granularity::parallel)
    s += "; those of several threads were not tried";
  return s;
}
std::string exploration::summary() const {
  bool const some_are_random = covered.random != 0 && covered.random != schedules;
  std::string s = conclusion() + '\n' + several(schedules, "schedule") +
                  (some_are_random ? " (" + std::to_string(covered.random) + " random), " : ", ") +
                  std::to_string(failed) + " failed, " + several(deadlocks, "deadlock");
  if (cut) s += ", " + std::to_string(cut) + " cut";
  if (livelocks) s += ", " + std::to_string(livelocks) + " of these without progress";
  if (redundant) s += ", " + std::to_string(redundant) + " given up as redundant";
  if (!complete)
    s += covered.cut_by == detail::at_failure ? ", at which the search has stopped"
                                              : ", not all there are";
  s += '\n';
  if (nondeterminism) s += "nondeterminism: " + what_differed + '\n';
  if (leaked)
    s += "leak: " + std::to_string(leaked) + " frames are left, first by follow(\"" +
         leak_path.text() + "\", ...)\n";
  if (!page.empty()) s += "page: " + page + '\n';
  return s;
}
std::string exploration::text(outcome const& o) {
  std::string const path = o.path.text();
  return story(o) + (path.size() > detail::most_to_copy
                         ? detail::too_long_to_copy
                         : "to see it again: follow(\"" + path + "\", ...)\n");
}
std::string exploration::story(outcome const& o) {
  if (o.result.verdict == verdict::no_progress)
    return "in twice as many steps each process came to the same places again and again, and no "
           "operation changed anything\n" +
           loop_text(o.trace);
  if (o.result.verdict == verdict::cut)
    return "a schedule that was cut\n" + loop_text(o.trace) +
           (o.last_change <= o.trace.size() / 2 ? "no operation changes anything in these steps\n"
                                                : "");
  std::string s = o.result.text.empty() && o.is_wrong() ? "the check failed" : o.result.text;
  s += '\n' + several(o.preemptions, "preemption") + " (!), " +
       several(o.switches - o.preemptions, "other switch", "es") + " (>)";
  if (o.decisions != 0) s += ", " + several(o.decisions, "decision") + " (decided)";
  s += '\n';
  return s += turns_text(o.trace);
}
exploration::outcome* exploration::add(run_result const& result) {
  ++schedules;
  failed += result.verdict == verdict::failed;
  deadlocks += result.verdict == verdict::deadlock;
  bool const was_cut = result.verdict == verdict::cut || result.verdict == verdict::no_progress;
  cut += was_cut;
  livelocks += result.verdict == verdict::no_progress;
  complete = complete && !was_cut;
  if (outcome* const known = find(result)) {
    ++known->schedules;
    return nullptr;
  }
  if (outcomes.empty()) outcomes.reserve(4);
  outcome& fresh = outcomes.emplace_back();
  fresh.result = result;
  fresh.schedules = 1;
  index_last();
  return &fresh;
}
void exploration::add(exploration&& later) {
  schedules += later.schedules;
  failed += later.failed;
  deadlocks += later.deadlocks;
  cut += later.cut;
  livelocks += later.livelocks;
  redundant += later.redundant;
  complete = complete && later.complete;
  if (later.nondeterminism && !nondeterminism) {
    nondeterminism = true;
    what_differed = std::move(later.what_differed);
  }
  if (later.leaked != 0 && leaked == 0) leak_path = std::move(later.leak_path);
  leaked += later.leaked;
  if (covered.cut_by.empty()) covered.cut_by = later.covered.cut_by;
  covered.leaves_spins |= later.covered.leaves_spins;
  for (auto& o : later.outcomes) {
    if (outcome* const known = find(o.result)) {
      known->schedules += o.schedules;
    } else {
      outcomes.push_back(std::move(o));
      index_last();
    }
  }
}
namespace {
/// With this many outcomes or more, find() uses the index.
constexpr std::size_t many_outcomes = 16;
std::size_t hash_of(run_result const& r) {
  return std::hash<std::string>()(r.text) * 4 + static_cast<std::size_t>(r.verdict);
}
}  // namespace
exploration::outcome* exploration::find(run_result const& result) {
  if (outcomes.size() < many_outcomes) {
    auto const known = std::ranges::find(outcomes, result, &outcome::result);
    return known == outcomes.end() ? nullptr : &*known;
  }
  for (std::size_t i = slot_of(result); index_[i] != 0; i = (i + 1) % index_.size())
    if (outcome& o = outcomes[index_[i] - 1]; o.result == result) return &o;
  return nullptr;
}
std::size_t exploration::slot_of(run_result const& result) const noexcept {
  return hash_of(result) % index_.size();
}
void exploration::index_last() {
  if (outcomes.size() < many_outcomes) return;
  std::size_t from = outcomes.size() - 1;
  if (2 * outcomes.size() > index_.size()) {
    index_.assign(4 * outcomes.size(), 0);
    from = 0;
  }
  for (; from != outcomes.size(); ++from) {
    std::size_t i = slot_of(outcomes[from].result);
    while (index_[i] != 0) i = (i + 1) % index_.size();
    index_[i] = from + 1;
  }
}
std::string exploration::several(std::size_t n, std::string const& what, std::string const& s) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : s);
}
exploration::outcome const* exploration::first_failure() const noexcept {
  for (auto const& o : outcomes)
    if (o.is_wrong()) return &o;
  return nullptr;
}

}  // namespace weft
