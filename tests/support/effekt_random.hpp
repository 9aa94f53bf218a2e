// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "tests/support/dice.hpp"
#include "tests/support/effekt_model.hpp"

/// Random programs for the model, and their text in Effekt.
namespace weft::tests::effekt {

/// Small programs: of at most 40 statements, in which a process forks at most 6 times.
class random_program {
 public:
  static block of(unsigned seed) {
    random_program p(seed);
    int forks_left = 6;
    unsigned const n = 4 + p.random_(9);
    return p.statements(n, 4, forks_left);
  }

 private:
  explicit random_program(unsigned seed) : random_(seed) {}

  /// `n` statements, if as many are left; subtracts the forks that a process may execute in them.
  block statements(unsigned n, int depth, int& forks_left) {
    block b;
    while (b.size() < n && statements_left_ > 0) {
      --statements_left_;
      b.push_back(one(depth, forks_left));
    }
    return b;
  }
  /// Up to `most` statements, sometimes none.
  block some(unsigned most, int depth, int& forks_left) {
    unsigned const n = random_(8) == 0 ? 0 : 1 + random_(most);
    return statements(n, depth, forks_left);
  }

  statement one(int depth, int& forks_left) {
    switch (random_(depth > 0 ? 24 : 14)) {
      case 0:
      case 1:
      case 2:
        return prints{label()};
      case 3:
      case 4:
      case 5:
        return yields{};
      case 6: {
        variable const v = any();
        return sets{v, small()};
      }
      case 7:
      case 8: {
        variable const v = any();
        return adds{v, small()};
      }
      case 9: {
        variable const to = any();
        return copies{to, any()};
      }
      case 10:
      case 11:
        return shows{any()};
      case 12:
        return which(forks_left);
      case 13:
        if (random_(3) == 0) return exits{};
        return random_(2) == 0 ? statement(fails{}) : shows{any()};
      case 14:
      case 15:
        return calls{some(5, depth - 1, forks_left)};
      case 16:
        return declares{some(6, depth - 1, forks_left)};
      case 17:
        return loop(depth, forks_left);
      case 18:
      case 19: {
        block body = some(5, depth - 1, forks_left);
        block otherwise = some(3, depth - 1, forks_left);
        return attempts{std::move(body), std::move(otherwise)};
      }
      default:
        return fork(depth, forks_left);
    }
  }

  statement which(int& forks_left) {
    std::string first = label();
    if (forks_left == 0) return prints{std::move(first)};
    --forks_left;
    return prints_which{std::move(first), label()};
  }
  statement fork(int depth, int& forks_left) {
    if (forks_left == 0) return yields{};
    int left_in_first = --forks_left;
    int left_in_second = forks_left;
    block first = some(5, depth - 1, left_in_first);
    block second = some(5, depth - 1, left_in_second);
    forks_left = std::min(left_in_first, left_in_second);
    return forks{std::move(first), std::move(second)};
  }
  statement loop(int depth, int& forks_left) {
    int const times = 2 + static_cast<int>(random_(2));
    int const each = forks_left / times;
    int left = each;
    block body = some(5, depth - 1, left);
    forks_left -= times * (each - left);
    return repeats{times, std::move(body)};
  }

  variable any() { return static_cast<variable>(random_(3)); }
  int small() { return 1 + static_cast<int>(random_(9)); }
  std::string label() { return "p" + std::to_string(labels_++); }

  dice random_;
  int statements_left_ = 40;
  int labels_ = 1;
};

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
    for (statement const& s : b) std::visit([&](auto const& is) { write(is, margin); }, s);
    if (b.empty()) text_ += margin + "()\n";
  }
  /// head, inside, } tail
  void braced(std::string const& head, block const& inside, std::string const& margin,
              std::string const& tail = "\n") {
    text_ += head + "\n";
    all(inside, margin + "  ");
    text_ += margin + "}" + tail;
  }
  void line(std::string const& margin, std::string const& text) { text_ += margin + text + '\n'; }
  static std::string quoted(std::string const& text) { return '"' + text + '"'; }
  static char name(variable v) { return "xyz"[static_cast<int>(v)]; }

  void write(prints const& s, std::string const& m) { line(m, "println(" + quoted(s.text) + ")"); }
  void write(yields, std::string const& m) { line(m, "do yield()"); }
  void write(exits, std::string const& m) { line(m, "do exit()"); }
  void write(forks const& s, std::string const& m) {
    braced(m + "fork {", s.first, m, "");
    braced(" {", s.second, m);
  }
  void write(prints_which const& s, std::string const& m) {
    line(m, "println(if (do fork()) " + quoted(s.first) + " else " + quoted(s.second) + ")");
  }
  void write(sets s, std::string const& m) {
    line(m, std::string() + name(s.v) + " = " + std::to_string(s.n));
  }
  void write(adds s, std::string const& m) {
    line(m, std::string() + name(s.v) + " = " + name(s.v) + " + " + std::to_string(s.n));
  }
  void write(copies s, std::string const& m) {
    line(m, std::string() + name(s.to) + " = " + name(s.from));
  }
  void write(shows s, std::string const& m) { line(m, std::string("println(") + name(s.v) + ")"); }
  void write(repeats const& s, std::string const& m) {
    braced(m + "each(0, " + std::to_string(s.times) + ") { i =>", s.body, m);
  }
  void write(calls const& s, std::string const& m) { function("", s.body, m); }
  void write(declares const& s, std::string const& m) {
    function(m + "  var y = 0\n" + m + "  var z = 0\n", s.body, m);
  }
  void function(std::string const& variables, block const& body, std::string const& m) {
    std::string const f = "f" + std::to_string(functions_++);
    text_ += m + "def " + f + "() = {\n" + variables;
    all(body, m + "  ");
    text_ += m + "}\n" + m + f + "()\n";
  }
  void write(attempts const& s, std::string const& m) {
    braced(m + "try {", s.body, m, "");
    braced(" with Fail { def fail() = {", s.otherwise, m, " }\n");
  }
  void write(fails, std::string const& m) { line(m, "do fail()"); }

  std::string text_;
  int functions_ = 1;
};

}  // namespace weft::tests::effekt
