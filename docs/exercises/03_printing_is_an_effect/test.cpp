// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/03_printing_is_an_effect/solutions.hpp"
#else
#include "docs/exercises/03_printing_is_an_effect/exercises.hpp"
#endif

namespace printing_is_an_effect {
namespace {

eff<void, console> letter() {
  co_await console::print_line("Dear Mr Grumble,");
  co_await console::print("your parrot ");
  co_await console::print_line("was here.");
  co_await console::print("Ann");
}

eff<void, console> half_a_letter() {
  co_await console::print_line("Dear Mr Grumble,");
  throw std::runtime_error("out of ink");
}

eff<void, console> pieces() {
  co_await console::print("one, ");
  co_await console::print("two\nthree\n");
  co_await console::print_line("");
  co_await console::print("four");
  co_await console::print(", five");
  co_await console::print_line(", six");
  co_await console::print("seven");
}

// What the console outside gets: "p" for a print, "l" for a print_line.
class operations_in : public handler<console> {
 public:
  explicit operations_in(std::string& text) : text_(text) {}
  void on(console::print const& p) const { text_ += "p(" + p.text + ")"; }
  void on(console::print_line const& p) const { text_ += "l(" + p.text + ")"; }

 private:
  std::string& text_;
};

template <class Handler, class Program>
std::string printed_under(Handler handler, Program program) {
  std::string text;
  run(handle(handler | console_to_string(text), program));
  return text;
}
template <class Program>
std::string operations_of(Program program) {
  std::string text;
  run(handle(operations_in(text), program));
  return text;
}

TEST_CASE("1: each line is indented once", "[1]") {
  CHECK(printed_under(indented(), letter) == "  Dear Mr Grumble,\n  your parrot was here.\n  Ann");
  CHECK(printed_under(indented() | numbered(), letter) ==
        "1   Dear Mr Grumble,\n2   your parrot was here.\n3   Ann");
  CHECK(printed_under(numbered() | indented(), letter) ==
        "  1 Dear Mr Grumble,\n  2 your parrot was here.\n  3 Ann");
}

TEST_CASE("2: the texts of two handlers in two orders are predicted", "[2]") {
  CHECK(censored_first() + '\n' == printed_under(censored("1") | numbered(), one_parrot));
  CHECK(numbered_first() + '\n' == printed_under(numbered() | censored("1"), one_parrot));
}

TEST_CASE("3: a program that fails prints nothing", "[3]") {
  CHECK(operations_of([] { return at_once(letter); }) ==
        "p(Dear Mr Grumble,\nyour parrot was here.\nAnn)");
  std::string text;
  CHECK_THROWS_AS(run(handle(console_to_string(text), at_once(half_a_letter))), std::runtime_error);
  CHECK(text.empty());
}

TEST_CASE("4: a program ends at the first text with a word", "[4]") {
  CHECK(printed_under(until_word("here"), letter) == "Dear Mr Grumble,\nyour parrot ");
  CHECK(printed_under(until_word("parrot"), letter) == "Dear Mr Grumble,\n");
  CHECK(printed_under(until_word("tiger"), letter) ==
        "Dear Mr Grumble,\nyour parrot was here.\nAnn");
}

TEST_CASE("5: the console outside gets whole lines, and the rest in the end", "[5]") {
  CHECK(operations_of([] { return line_by_line(pieces); }) ==
        "l(one, two)l(three)l()l(four, five, six)p(seven)");
  CHECK(operations_of([] { return line_by_line(one_parrot); }) == "l(1 parrot)");
}

}  // namespace
}  // namespace printing_is_an_effect
