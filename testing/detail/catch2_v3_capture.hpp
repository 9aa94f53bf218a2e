// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_assertion_info.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <catch2/internal/catch_assertion_handler.hpp>
#include <catch2/internal/catch_context.hpp>
#include <catch2/internal/catch_decomposer.hpp>
#include <catch2/internal/catch_stringref.hpp>
#include <string>
#include <utility>

#include "weft/testing/detail/assertion_notes.hpp"
#include "weft/testing/detail/catch2_notes.hpp"
#include "weft/testing/detail/test_framework.hpp"

/// Stands in for the result capture of Catch2 (version 3) while schedules are visited.
///
///   CATCH3-1  SECTION, GENERATE and SKIP are refused: they would choose anew in each run.  All
///       other calls but those for assertions and messages go on to the capture that this one
///       replaces.
///   CATCH3-2  There is one capture object, which is never destroyed: objects that outlive a run
///       may hold its address (those of CAPTURE do).
namespace weft::detail {

/// No function is marked `override`: some stand here twice, as older and as newer minor versions of
/// Catch2 declare them.
class catch2_v3_capture final : public test_framework, public Catch::IResultCapture {
  using info = Catch::AssertionInfo;
  using reaction = Catch::AssertionReaction;

 public:
  static catch2_v3_capture& instance() {
    static auto& only = *new catch2_v3_capture;  // CATCH3-2: never destroyed
    return only;
  }
  catch2_v3_capture(catch2_v3_capture const&) = delete;
  catch2_v3_capture& operator=(catch2_v3_capture const&) = delete;

  // ---- the framework

  [[nodiscard]] bool is_running() const {
    return Catch::getCurrentContext().getResultCapture() != nullptr;
  }
  void begin_search() {
    before_.push(&Catch::getResultCapture(), this);
    Catch::getCurrentMutableContext().setResultCapture(this);
  }
  void end_search() noexcept {
    Catch::getCurrentMutableContext().setResultCapture(before_.pop(this));
  }
  void report(assertion_place const& at, bool has_passed, std::string const& text) {
    auto const disposition = at.ends_test ? Catch::ResultDisposition::Normal
                                          : Catch::ResultDisposition::ContinueOnFailure;
    Catch::AssertionHandler says({at.name.data(), at.name.size()},
                                 {at.where.file_name(), at.where.line()}, {}, disposition);
    says.handleMessage(has_passed ? Catch::ResultWas::Ok : Catch::ResultWas::ExplicitFailure,
                       std::string(text));
    says.complete();
  }

  // ---- assertions (NOTES-1)

  void notifyAssertionStarted(info const&) {}
  void handleExpr(info const& i, Catch::ITransientExpression const& e, reaction& r) {
    catch2_decides(i, e, r);
  }
  void handleMessage(info const& i, Catch::ResultWas::OfType type, std::string&& text,
                     reaction& r) {
    on_message(i, type, text, r);
  }
  void handleMessage(info const& i, Catch::ResultWas::OfType type, Catch::StringRef text,
                     reaction& r) {
    on_message(i, type, std::string(text), r);
  }
  void handleUnexpectedExceptionNotThrown(info const& i, reaction& r) {
    catch2_fails(i, "because no exception was thrown where one was expected", r);
  }
  void handleUnexpectedInflightException(info const& i, std::string&& message, reaction& r) {
    catch2_fails(i, "due to an exception: " + message, r);
  }
  void handleIncomplete(info const& i) {
    reaction none;
    catch2_fails(i, "due to an exception", none);
  }
  void handleNonExpr(info const& i, Catch::ResultWas::OfType type, reaction& r) {
    if (Catch::isOk(type)) return catch2_passes();
    catch2_fails(i, "", r);
  }
  bool lastAssertionPassed() { return assertion_notes::now().last_has_passed; }
  void assertionPassed() { catch2_passes(); }

  // ---- messages (NOTES-2)

  void pushScopedMessage(Catch::MessageInfo const& m) { catch2_message(m, m.message, true); }
  void popScopedMessage(Catch::MessageInfo const& m) {
    // real() is null if the message has outlived the search (CATCH3-2).
    if (!catch2_drops(m.sequence) && before_.real()) before_.real()->popScopedMessage(m);
  }
  void emplaceUnscopedMessage(Catch::MessageBuilder&& builder) {
    catch2_message(builder.m_info, builder.m_stream.str(), false);
  }

  // ---- all other calls (CATCH3-1)

  bool sectionStarted(Catch::StringRef name, Catch::SourceLineInfo const& where, Catch::Counts&) {
    catch2_refuses("SECTION(\"" + std::string(name) + "\")", where);
  }
  Catch::IGeneratorTracker* acquireGeneratorTracker(Catch::StringRef,
                                                    Catch::SourceLineInfo const& where) {
    catch2_refuses("GENERATE", where);
  }
  Catch::IGeneratorTracker* createGeneratorTracker(Catch::StringRef, Catch::SourceLineInfo where,
                                                   Catch::Generators::GeneratorBasePtr&&) {
    catch2_refuses("GENERATE", where);
  }
  void sectionEnded(Catch::SectionEndInfo&& s) { before_.real()->sectionEnded(std::move(s)); }
  void sectionEndedEarly(Catch::SectionEndInfo&& s) {
    before_.real()->sectionEndedEarly(std::move(s));
  }
  void handleFatalErrorCondition(Catch::StringRef message) {
    before_.real()->handleFatalErrorCondition(catch2_last_words(std::string(message)));
  }
  std::string getCurrentTestName() const { return before_.real()->getCurrentTestName(); }
  Catch::AssertionResult const* getLastResult() const { return before_.real()->getLastResult(); }
  void exceptionEarlyReported() { before_.real()->exceptionEarlyReported(); }
  void benchmarkPreparing(Catch::StringRef name) { before_.real()->benchmarkPreparing(name); }
  void benchmarkStarting(Catch::BenchmarkInfo const& b) { before_.real()->benchmarkStarting(b); }
  void benchmarkEnded(Catch::BenchmarkStats<> const& b) { before_.real()->benchmarkEnded(b); }
  void benchmarkFailed(Catch::StringRef error) { before_.real()->benchmarkFailed(error); }

 private:
  catch2_v3_capture() = default;

  static void on_message(info const& i, Catch::ResultWas::OfType type, std::string const& text,
                         reaction& r) {
    if (type == Catch::ResultWas::Warning) return;
    if (type == Catch::ResultWas::ExplicitSkip) catch2_refuses("SKIP", i.lineInfo);
    if (Catch::isOk(type)) return catch2_passes();
    catch2_fails(i, "with message: " + text, r);
  }

  catch2_stand_ins<Catch::IResultCapture> before_;
};

}  // namespace weft::detail
