// SPDX-License-Identifier: MIT
#include "weft/testing/assertions.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/test_framework.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

namespace weft::detail {

namespace {

/// Returns a line break and the text, with its lines indented.
std::string indented(std::string const& text) {
  std::string s = "\n  ";
  for (char const c : text) {
    s += c;
    if (c == '\n') s += "    ";
  }
  return s;
}

std::vector<test_framework*>& frameworks() {
  static auto& all = *new std::vector<test_framework*>;
  return all;
}

}  // namespace

std::string schedule_recipe(schedule_path const& p) {
  std::string const path = p.text();
  static constexpr std::size_t most = 50;
  std::string s = "check_schedule(\"" + path.substr(0, most);
  for (std::size_t at = most; at < path.size(); at += most)
    s += "\"\n               \"" + path.substr(at, most);
  return s + "\", ...)";
}

assertion_notes& assertion_notes::now() {
  static auto& only = *new assertion_notes;
  return only;
}

void assertion_notes::on_failure(std::string const& what, std::string const& where,
                                 std::string const& how) {
  if (failure) return;
  std::string text = what + " at " + where;
  if (!how.empty()) text += indented(how);
  for (auto const& m : messages)
    if (m.whose == running) text += indented("with message: " + m.text);
  failure = std::move(text);
}

void assertion_notes::forget_unscoped() {
  std::erase_if(messages, [](message const& m) { return !m.is_scoped; });
}

std::string assertion_notes::on_refused(std::string const& what, std::string const& where) {
  std::string text = "weft: " + what + " at " + where +
                     " is inside a body that is run in many schedules: put it around the search";
  if (!failure) failure = text;
  return text;
}

test_framework& test_framework::current() {
  auto const& all = frameworks();
  if (all.empty())
    throw std::logic_error(
        "weft: no test framework is known: include the header of yours, such as "
        "weft/testing/catch2.hpp");
  auto* const now = running();
  return now ? *now : *all.front();
}
test_framework* test_framework::running() {
  auto const& all = frameworks();
  auto const runs = [](test_framework const* f) { return f->is_running(); };
  auto const now = std::ranges::find_if(all, runs);
  return now == all.end() ? nullptr : *now;
}

bool test_framework::enlist(test_framework& f) {
  auto& all = frameworks();
  if (std::ranges::find(all, &f) == all.end()) all.push_back(&f);
  return true;
}

kept_assertions::kept_assertions(test_framework& f)
    : framework_(f), outer_(std::exchange(assertion_notes::now(), {})) {
  framework_.begin_search();
}
kept_assertions::~kept_assertions() {
  framework_.end_search();
  assertion_notes::now() = std::move(outer_);
}

exploration reported(test_framework& framework, assertion_place const& at, exploration found,
                     std::string const& objection) {
  std::string text = found.summary() + objection;
  if (auto const* const o = found.first_failure())
    text +=
        "the first failure: " + exploration::story(*o) +
        (o->path.text().size() > most_to_copy ? too_long_to_copy
                                              : "to see it again:\n" + schedule_recipe(o->path));
  while (text.ends_with('\n')) text.pop_back();
  framework.report(at, found.ok() && objection.empty(), text);
  return found;
}

}  // namespace weft::detail
