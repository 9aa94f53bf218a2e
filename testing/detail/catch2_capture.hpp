// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/catch2_notes.hpp"
#include "weft/testing/detail/test_framework.hpp"

/// Stands in for the result capture of Catch2 (version 2) while schedules are visited.
///
///   CATCH-1  SECTION and GENERATE are refused: they would choose anew in each run.  All other
///       calls but those for assertions and messages go on to the capture that this one replaces.
///   CATCH-2  There is one capture object, which is never destroyed: objects that outlive a run may
///       hold its address (those of CAPTURE do).
namespace weft::detail {

class catch2_capture final : public test_framework, public Catch::IResultCapture {
 public:
  static catch2_capture& instance() {
    static auto& only = *new catch2_capture;  // CATCH-2: never destroyed
    return only;
  }
  catch2_capture(catch2_capture const&) = delete;
  catch2_capture& operator=(catch2_capture const&) = delete;

  // ---- the framework

  [[nodiscard]] bool is_running() const override {
    return Catch::getCurrentContext().getResultCapture() != nullptr;
  }
  void begin_search() override {
    before_.push(&Catch::getResultCapture(), this);
    Catch::getCurrentMutableContext().setResultCapture(this);
  }
  void end_search() noexcept override {
    Catch::getCurrentMutableContext().setResultCapture(before_.pop(this));
  }
  void report(assertion_place const& at, bool has_passed, std::string const& text) override {
    auto const disposition = at.ends_test ? Catch::ResultDisposition::Normal
                                          : Catch::ResultDisposition::ContinueOnFailure;
    Catch::AssertionHandler says({at.name.data(), at.name.size()},
                                 {at.where.file_name(), at.where.line()}, {}, disposition);
    says.handleMessage(has_passed ? Catch::ResultWas::Ok : Catch::ResultWas::ExplicitFailure, text);
    says.complete();
  }

  // ---- assertions (NOTES-1)

  void handleExpr(Catch::AssertionInfo const& info, Catch::ITransientExpression const& e,
                  Catch::AssertionReaction& reaction) override {
    catch2_decides(info, e, reaction);
  }
  void handleMessage(Catch::AssertionInfo const& info, Catch::ResultWas::OfType type,
                     Catch::StringRef const& message, Catch::AssertionReaction& reaction) override {
    if (type == Catch::ResultWas::Warning) return;
    if (Catch::isOk(type)) return catch2_passes();
    catch2_fails(info, "with message: " + std::string(message), reaction);
  }
  void handleUnexpectedExceptionNotThrown(Catch::AssertionInfo const& info,
                                          Catch::AssertionReaction& reaction) override {
    catch2_fails(info, "because no exception was thrown where one was expected", reaction);
  }
  void handleUnexpectedInflightException(Catch::AssertionInfo const& info,
                                         std::string const& message,
                                         Catch::AssertionReaction& reaction) override {
    catch2_fails(info, "due to an exception: " + message, reaction);
  }
  void handleIncomplete(Catch::AssertionInfo const& info) override {
    Catch::AssertionReaction none;
    catch2_fails(info, "due to an exception", none);
  }
  void handleNonExpr(Catch::AssertionInfo const& info, Catch::ResultWas::OfType type,
                     Catch::AssertionReaction& reaction) override {
    if (Catch::isOk(type)) return catch2_passes();
    catch2_fails(info, "", reaction);
  }
  bool lastAssertionPassed() override { return assertion_notes::now().last_has_passed; }
  void assertionPassed() override { catch2_passes(); }

  // ---- messages (NOTES-2)

  void pushScopedMessage(Catch::MessageInfo const& m) override {
    catch2_message(m, m.message, true);
  }
  void popScopedMessage(Catch::MessageInfo const& m) override {
    // real() is null if the message has outlived the search (CATCH-2).
    if (!catch2_drops(m.sequence) && before_.real()) before_.real()->popScopedMessage(m);
  }
  void emplaceUnscopedMessage(Catch::MessageBuilder const& builder) override {
    catch2_message(builder.m_info, builder.m_stream.str(), false);
  }

  // ---- all other calls (CATCH-1)

  bool sectionStarted(Catch::SectionInfo const& section, Catch::Counts&) override {
    catch2_refuses("SECTION(\"" + section.name + "\")", section.lineInfo);
  }
  Catch::IGeneratorTracker& acquireGeneratorTracker(Catch::StringRef,
                                                    Catch::SourceLineInfo const& where) override {
    catch2_refuses("GENERATE", where);
  }
  void sectionEnded(Catch::SectionEndInfo const& s) override { before_.real()->sectionEnded(s); }
  void sectionEndedEarly(Catch::SectionEndInfo const& s) override {
    before_.real()->sectionEndedEarly(s);
  }
  void handleFatalErrorCondition(Catch::StringRef message) override {
    before_.real()->handleFatalErrorCondition(catch2_last_words(std::string(message)));
  }
  std::string getCurrentTestName() const override { return before_.real()->getCurrentTestName(); }
  Catch::AssertionResult const* getLastResult() const override {
    return before_.real()->getLastResult();
  }
  void exceptionEarlyReported() override { before_.real()->exceptionEarlyReported(); }
#if defined(CATCH_CONFIG_ENABLE_BENCHMARKING)
  void benchmarkPreparing(std::string const& name) override {
    before_.real()->benchmarkPreparing(name);
  }
  void benchmarkStarting(Catch::BenchmarkInfo const& b) override {
    before_.real()->benchmarkStarting(b);
  }
  void benchmarkEnded(Catch::BenchmarkStats<> const& b) override {
    before_.real()->benchmarkEnded(b);
  }
  void benchmarkFailed(std::string const& error) override {
    before_.real()->benchmarkFailed(error);
  }
#endif

 private:
  catch2_capture() = default;

  catch2_stand_ins<Catch::IResultCapture> before_;
};

}  // namespace weft::detail
