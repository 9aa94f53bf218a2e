// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/testing/detail/assertion_notes.hpp"

/// Notes assertions and messages of Catch2, for the versions 2 and 3.  Neither is included: the
/// types are deduced, and functions of Catch2 are found by argument-dependent lookup.
namespace weft::detail {

template <class SourceLine>
std::string catch2_place(SourceLine const& where) {
  return std::string(where.file) + ':' + std::to_string(where.line);
}

inline void catch2_passes() {
  assertion_notes::now().last_has_passed = true;
  assertion_notes::now().forget_unscoped();
}

template <class Info, class Reaction>
void catch2_fails(Info const& info, std::string const& how, Reaction& reaction) {
  using disposition = std::remove_cvref_t<decltype(info.resultDisposition)>;
  auto& notes = assertion_notes::now();
  notes.last_has_passed = false;
  reaction.shouldThrow = (info.resultDisposition & disposition::Normal) != 0;
  if (!shouldSuppressFailure(info.resultDisposition)) {
    std::string what(info.macroName);
    if (!info.capturedExpression.empty())
      what += "( " + std::string(info.capturedExpression) + " )";
    notes.on_failure(what, catch2_place(info.lineInfo), how);
  }
  notes.forget_unscoped();
}

template <class Info, class Expression, class Reaction>
void catch2_decides(Info const& info, Expression const& e, Reaction& reaction) {
  bool const is_negated = isFalseTest(info.resultDisposition);
  if (e.getResult() != is_negated) return catch2_passes();
  std::ostringstream expansion;
  if (is_negated) expansion << (e.isBinaryExpression() ? "!(" : "!");
  e.streamReconstructedExpression(expansion);
  if (is_negated && e.isBinaryExpression()) expansion << ')';
  catch2_fails(info, "with expansion: " + expansion.str(), reaction);
}

/// Notes a message of the process that runs.
template <class Info>
void catch2_message(Info const& m, std::string text, bool is_scoped) {
  auto& notes = assertion_notes::now();
  notes.messages.push_back({m.sequence, std::move(text), notes.running, is_scoped});
}
/// Drops the message.  Returns false if the search has no message with that id.
inline bool catch2_drops(unsigned id) {
  return std::erase_if(assertion_notes::now().messages,
                       [id](auto const& m) { return m.id == id; }) != 0;
}

/// Throws, and makes the run fail, even if the program catches the exception.
template <class SourceLine>
[[noreturn]] void catch2_refuses(std::string const& what, SourceLine const& where) {
  throw std::logic_error(assertion_notes::now().on_refused(what, catch2_place(where)));
}

/// Adds the schedule so far to the message of a program that dies, by a signal or by std::abort.
inline std::string catch2_last_words(std::string message) {
  auto const& notes = assertion_notes::now();
  if (notes.path_so_far)
    message += ", in a schedule that begins with\n" + schedule_recipe(notes.path_so_far(notes.of));
  return message;
}

/// The captures that weft's capture has replaced, the innermost last: searches may be nested.
template <class Capture>
class catch2_stand_ins {
 public:
  /// `before` is the capture of Catch2, `own` the one that takes its place.
  void push(Capture* before, Capture const* own) {
    before_.push_back(before);
    if (before != own) real_ = before;
  }
  /// Returns the capture to install.
  Capture* pop(Capture const* own) noexcept {
    auto* const last = before_.back();
    before_.pop_back();
    real_ = nullptr;
    for (auto* const b : before_)
      if (b != own) real_ = b;
    return last;
  }
  /// The capture of the framework itself; null if no search is under way.
  [[nodiscard]] Capture* real() const noexcept { return real_; }

 private:
  std::vector<Capture*> before_;
  Capture* real_ = nullptr;
};

}  // namespace weft::detail
