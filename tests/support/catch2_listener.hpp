// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weft::tests {

/// Replaces the result capture of Catch2, and records the calls.
class catch2_listener final : public Catch::IResultCapture {
 public:
  struct assertion {
    bool passed;
    std::string macro, file, text;
    std::size_t line;
  };
  struct heard {
    std::vector<assertion> assertions;
    std::vector<std::string> fatal;
    std::size_t others = 0;  // all other calls
  };

  /// Returns the calls that are recorded while `f` runs, and the result of `f`.
  template <class F>
  static auto hears(F f) {
    catch2_listener l;
    auto result = f();
    return std::pair(std::move(l.heard_), std::move(result));
  }

  catch2_listener(catch2_listener const&) = delete;
  catch2_listener& operator=(catch2_listener const&) = delete;
  ~catch2_listener() override { Catch::getCurrentMutableContext().setResultCapture(&before_); }

  void handleMessage(Catch::AssertionInfo const& info, Catch::ResultWas::OfType type,
                     Catch::StringRef const& message, Catch::AssertionReaction& reaction) override {
    bool const has_passed = Catch::isOk(type);
    heard_.assertions.push_back({has_passed, std::string(info.macroName), info.lineInfo.file,
                                 std::string(message), info.lineInfo.line});
    reaction.shouldThrow =
        !has_passed && (info.resultDisposition & Catch::ResultDisposition::Normal) != 0;
  }
  void handleFatalErrorCondition(Catch::StringRef message) override {
    heard_.fatal.emplace_back(message);
  }
  void handleExpr(Catch::AssertionInfo const&, Catch::ITransientExpression const&,
                  Catch::AssertionReaction&) override {
    ++heard_.others;
  }
  void handleUnexpectedExceptionNotThrown(Catch::AssertionInfo const&,
                                          Catch::AssertionReaction&) override {
    ++heard_.others;
  }
  void handleUnexpectedInflightException(Catch::AssertionInfo const&, std::string const&,
                                         Catch::AssertionReaction&) override {
    ++heard_.others;
  }
  void handleIncomplete(Catch::AssertionInfo const&) override { ++heard_.others; }
  void handleNonExpr(Catch::AssertionInfo const&, Catch::ResultWas::OfType,
                     Catch::AssertionReaction&) override {
    ++heard_.others;
  }
  void assertionPassed() override { ++heard_.others; }
  bool lastAssertionPassed() override { return true; }
  void pushScopedMessage(Catch::MessageInfo const&) override { ++heard_.others; }
  void popScopedMessage(Catch::MessageInfo const&) override { ++heard_.others; }
  void emplaceUnscopedMessage(Catch::MessageBuilder const&) override { ++heard_.others; }
  bool sectionStarted(Catch::SectionInfo const&, Catch::Counts&) override {
    ++heard_.others;
    return false;
  }
  void sectionEnded(Catch::SectionEndInfo const&) override { ++heard_.others; }
  void sectionEndedEarly(Catch::SectionEndInfo const&) override { ++heard_.others; }
  Catch::IGeneratorTracker& acquireGeneratorTracker(Catch::StringRef name,
                                                    Catch::SourceLineInfo const& where) override {
    ++heard_.others;
    return before_.acquireGeneratorTracker(name, where);
  }
  std::string getCurrentTestName() const override { return before_.getCurrentTestName(); }
  Catch::AssertionResult const* getLastResult() const override { return before_.getLastResult(); }
  void exceptionEarlyReported() override { ++heard_.others; }

 private:
  catch2_listener() : before_(Catch::getResultCapture()) {
    Catch::getCurrentMutableContext().setResultCapture(this);
  }

  Catch::IResultCapture& before_;
  heard heard_;
};

}  // namespace weft::tests
