// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/path.hpp"

/// Stands in for Catch2's result capture while schedules are visited.
///
///   CATCH-1  No assertion is passed on to a reporter.  The first assertion of a run that fails is
///       kept, as text.
///   CATCH-2  A message belongs to the process that runs when it comes into scope, or to the part
///       of the run outside of all processes.  It is reported with a failed assertion of that
///       process, or of that part.
///   CATCH-3  SECTION and GENERATE are refused: they would choose anew in each run.  All other
///       calls are passed on to the capture that was there before.
///   CATCH-4  There is one capture object, which is never destroyed: objects that outlive a run may
///       hold its address (those of CAPTURE do).
namespace weft::detail {

/// A schedule, as a line of C++ that runs it.  A long path is split into several string literals,
/// since Catch2 breaks lines anywhere.
inline std::string catch2_recipe(schedule_path const& p) {
  std::string const path = p.text();
  static constexpr std::size_t most = 50;
  std::string s = "check_schedule(\"" + path.substr(0, most);
  for (std::size_t at = most; at < path.size(); at += most)
    s += "\"\n               \"" + path.substr(at, most);
  return s + "\", ...)";
}

/// What the capture knows of the current run.
struct catch2_notes {
  struct message {
    Catch::MessageInfo info;
    std::optional<process_id> whose;
    bool is_scoped;  // else it is dropped after the next assertion
  };
  std::optional<std::string> failure;
  std::vector<message> messages;
  std::optional<process_id> running;
  bool last_has_passed = true;
  /// Gives the schedule so far, for the report if the program dies.
  schedule_path (*path_so_far)(void const* of) = nullptr;
  void const* of = nullptr;
};

class catch2_capture final : public Catch::IResultCapture {
 public:
  static catch2_capture& instance() {
    static auto& only = *new catch2_capture;  // CATCH-4
    return only;
  }
  catch2_capture(catch2_capture const&) = delete;
  catch2_capture& operator=(catch2_capture const&) = delete;

  [[nodiscard]] catch2_notes& notes() noexcept { return notes_; }

  // ---- assertions (CATCH-1)

  void handleExpr(Catch::AssertionInfo const& info, Catch::ITransientExpression const& e,
                  Catch::AssertionReaction& reaction) override {
    bool const is_negated = Catch::isFalseTest(info.resultDisposition);
    if (e.getResult() != is_negated) return passes();
    std::ostringstream expansion;
    if (is_negated) expansion << (e.isBinaryExpression() ? "!(" : "!");
    e.streamReconstructedExpression(expansion);
    if (is_negated && e.isBinaryExpression()) expansion << ')';
    fails(info, "with expansion: " + expansion.str(), reaction);
  }
  void handleMessage(Catch::AssertionInfo const& info, Catch::ResultWas::OfType type,
                     Catch::StringRef const& message, Catch::AssertionReaction& reaction) override {
    if (type == Catch::ResultWas::Warning) return;
    if (Catch::isOk(type)) return passes();
    fails(info, "with message: " + std::string(message), reaction);
  }
  void handleUnexpectedExceptionNotThrown(Catch::AssertionInfo const& info,
                                          Catch::AssertionReaction& reaction) override {
    fails(info, "because no exception was thrown where one was expected", reaction);
  }
  void handleUnexpectedInflightException(Catch::AssertionInfo const& info,
                                         std::string const& message,
                                         Catch::AssertionReaction& reaction) override {
    fails(info, "due to an exception: " + message, reaction);
  }
  void handleIncomplete(Catch::AssertionInfo const& info) override {
    Catch::AssertionReaction none;
    fails(info, "due to an exception", none);
  }
  void handleNonExpr(Catch::AssertionInfo const& info, Catch::ResultWas::OfType type,
                     Catch::AssertionReaction& reaction) override {
    if (Catch::isOk(type)) return passes();
    fails(info, "", reaction);
  }
  bool lastAssertionPassed() override { return notes_.last_has_passed; }
  void assertionPassed() override { passes(); }

  // ---- messages (CATCH-2)

  void pushScopedMessage(Catch::MessageInfo const& m) override {
    notes_.messages.push_back({m, notes_.running, true});
  }
  void popScopedMessage(Catch::MessageInfo const& m) override {
    auto const n = std::erase_if(notes_.messages, [&m](auto const& its) { return its.info == m; });
    if (n == 0 && real_) real_->popScopedMessage(m);  // no real_: the search is over (CATCH-4)
  }
  void emplaceUnscopedMessage(Catch::MessageBuilder const& builder) override {
    auto m = builder.m_info;
    m.message = builder.m_stream.str();
    notes_.messages.push_back({std::move(m), notes_.running, false});
  }

  // ---- all other calls (CATCH-3)

  bool sectionStarted(Catch::SectionInfo const& section, Catch::Counts&) override {
    refuse("SECTION(\"" + section.name + "\")", section.lineInfo);
  }
  Catch::IGeneratorTracker& acquireGeneratorTracker(Catch::StringRef,
                                                    Catch::SourceLineInfo const& where) override {
    refuse("GENERATE", where);
  }
  void sectionEnded(Catch::SectionEndInfo const& s) override { real_->sectionEnded(s); }
  void sectionEndedEarly(Catch::SectionEndInfo const& s) override { real_->sectionEndedEarly(s); }
  /// Called if the program dies, by a signal or by std::abort: adds the schedule so far to the
  /// message.
  void handleFatalErrorCondition(Catch::StringRef message) override {
    std::string s(message);
    if (notes_.path_so_far)
      s += ", in a schedule that begins with\n" + catch2_recipe(notes_.path_so_far(notes_.of));
    real_->handleFatalErrorCondition(s);
  }
  std::string getCurrentTestName() const override { return real_->getCurrentTestName(); }
  Catch::AssertionResult const* getLastResult() const override { return real_->getLastResult(); }
  void exceptionEarlyReported() override { real_->exceptionEarlyReported(); }
#if defined(CATCH_CONFIG_ENABLE_BENCHMARKING)
  void benchmarkPreparing(std::string const& name) override { real_->benchmarkPreparing(name); }
  void benchmarkStarting(Catch::BenchmarkInfo const& b) override { real_->benchmarkStarting(b); }
  void benchmarkEnded(Catch::BenchmarkStats<> const& b) override { real_->benchmarkEnded(b); }
  void benchmarkFailed(std::string const& error) override { real_->benchmarkFailed(error); }
#endif

 private:
  friend class catch2_stand_in;
  catch2_capture() = default;

  void passes() {
    notes_.last_has_passed = true;
    forget_unscoped();
  }
  void fails(Catch::AssertionInfo const& info, std::string const& how,
             Catch::AssertionReaction& reaction) {
    notes_.last_has_passed = false;
    reaction.shouldThrow = (info.resultDisposition & Catch::ResultDisposition::Normal) != 0;
    if (!notes_.failure && !Catch::shouldSuppressFailure(info.resultDisposition)) {
      std::string text(info.macroName);
      if (!info.capturedExpression.empty())
        text += "( " + std::string(info.capturedExpression) + " )";
      text += " at " + place(info.lineInfo);
      if (!how.empty()) text += line(how);
      for (auto const& m : notes_.messages)
        if (m.whose == notes_.running) text += line("with message: " + m.info.message);
      notes_.failure = std::move(text);
    }
    forget_unscoped();
  }
  void forget_unscoped() {
    std::erase_if(notes_.messages, [](auto const& m) { return !m.is_scoped; });
  }
  /// Makes the run fail, even if the program catches the exception.
  [[noreturn]] void refuse(std::string const& what, Catch::SourceLineInfo const& where) {
    std::string text = "weft: " + what + " at " + place(where) +
                       " is inside a body that is run in many schedules: put it around the search";
    if (!notes_.failure) notes_.failure = text;
    throw std::logic_error(text);
  }
  [[nodiscard]] static std::string place(Catch::SourceLineInfo const& where) {
    return std::string(where.file) + ':' + std::to_string(where.line);
  }
  [[nodiscard]] static std::string line(std::string const& what) {
    std::string s = "\n  ";
    for (char const c : what) s += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return s;
  }

  Catch::IResultCapture* real_ = nullptr;  // the capture before (CATCH-3); null without a stand-in
  catch2_notes notes_;
};

/// Installs the capture as Catch2's while this object lives.  May be nested.
class catch2_stand_in {
 public:
  catch2_stand_in()
      : before_(&Catch::getResultCapture()), outer_(std::exchange(capture_.notes_, {})) {
    if (before_ != &capture_) capture_.real_ = before_;
    Catch::getCurrentMutableContext().setResultCapture(&capture_);
  }
  catch2_stand_in(catch2_stand_in const&) = delete;
  catch2_stand_in& operator=(catch2_stand_in const&) = delete;
  ~catch2_stand_in() {
    capture_.notes_ = std::move(outer_);
    if (before_ != &capture_) capture_.real_ = nullptr;
    Catch::getCurrentMutableContext().setResultCapture(before_);
  }

 private:
  catch2_capture& capture_ = catch2_capture::instance();
  Catch::IResultCapture* const before_;
  catch2_notes outer_;
};

}  // namespace weft::detail
