// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/effekt_model.hpp"
#include "tests/support/random_programs/program.hpp"

namespace weft::tests::effekt {

/// The text of a program in Effekt, with the handler and the fork of the original scheduler.
class in_effekt {
 public:
  static std::string text_of(block const& program) {
    in_effekt e;
    e.text_ = "interface Fail { def fail(): Unit }\ndef main() = {\n  var x = 0\n  scheduler {\n";
    e.text_ += "    var y = 0\n    var z = 0\n    try {\n";
    e.all(program, "      ");
    e.text_ += "    } with Fail { def fail() = () }\n  }\n  println(x)\n}\n";
    return e.text_;
  }

 private:
  void all(block const& b, std::string const& margin) {
    for (statement const& s : b) write(s, margin);
    if (b.empty()) text_ += margin + "()\n";
  }
  /// head, inside, } tail
  void braced(std::string const& head, block const& inside, std::string const& margin,
              std::string const& tail = "\n") {
    text_ += head + "\n";
    all(inside, margin + "  ");
    text_ += margin + "}" + tail;
  }
  void function(std::string const& variables, block const& body, std::string const& m) {
    std::string const f = "f" + std::to_string(functions_++);
    text_ += m + "def " + f + "() = {\n" + variables;
    all(body, m + "  ");
    text_ += m + "}\n" + m + f + "()\n";
  }
  static std::string quoted(std::string const& text) { return '"' + text + '"'; }

  void write(statement const& s, std::string const& m) {
    auto const line = [&](std::string const& text) { text_ += m + text + '\n'; };
    auto const name = [](int v) { return std::string(1, "xyz"[variable_of(v)]); };
    std::string const v = name(s.n);
    std::string const operand = std::to_string(operand_of(s.n));
    switch (s.what) {
      case act::prints:
        return line("println(" + quoted(label(s.n)) + ")");
      case act::yields:
        return line("do yield()");
      case act::exits:
        return line("do exit()");
      case act::forks_into:
        braced(m + "fork {", s.parts[0], m, "");
        return braced(" {", s.parts[1], m);
      case act::prints_which:
        return line("println(if (do fork()) " + quoted(label(s.n)) + " else " +
                    quoted(other_label(s.n)) + ")");
      case act::sets_variable:
        return line(v + " = " + operand);
      case act::adds:
        return line(v + " = " + v + " + " + operand);
      case act::copies_variable:
        return line(v + " = " + name(operand_of(s.n)));
      case act::shows_variable:
        return line("println(" + v + ")");
      case act::repeats:
        return braced(m + "each(0, " + std::to_string(s.n) + ") { i =>", s.parts[0], m);
      case act::calls:
        return function("", s.parts[0], m);
      case act::declares:
        return function(m + "  var y = 0\n" + m + "  var z = 0\n", s.parts[0], m);
      case act::attempts_else:
        braced(m + "try {", s.parts[0], m, "");
        return braced(" with Fail { def fail() = {", s.parts[1], m, " }\n");
      default:
        return line("do fail()");
    }
  }

  std::string text_;
  int functions_ = 1;
};

}  // namespace weft::tests::effekt
