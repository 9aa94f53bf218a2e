// SPDX-License-Identifier: MIT
#include "weft/sched/commands/coroutine_stepper.hpp"

#include "tests/prelude.hpp"
#include "tests/support/commands.hpp"
#include "tests/support/line_parsers.hpp"
#include "weft/sched/commands/stepper.hpp"

/// Coroutines that are stepped by hand, without a scheduler except in the last test.

/// Counts its objects, by a pointer that outlives the coroutine.
class alive {
 public:
  explicit alive(int* n) : n_(n) { ++*n_; }
  alive(alive const&) = delete;
  alive& operator=(alive const&) = delete;
  ~alive() { --*n_; }

 private:
  int* n_;
};
struct notes {
  int alive = 0;
  std::string text{};
};
using body = eff<void, commands<twice, nap>>;
using machine = coroutine_stepper<notes*, twice, nap>;
using output = step_output<twice, nap>;

body in_turn(notes* to) {
  alive const here(&to->alive);
  int const four = co_await perform(twice(2));
  to->text += std::to_string(four) + " ";
  co_await perform(nap());
  to->text += "awake ";
}
body at_once(notes* to) {
  alive const here(&to->alive);
  auto a = co_await issue(twice(1));
  auto b = co_await issue(twice(2));
  co_await perform(nap());
  int const at_b = co_await b.wait();
  int const at_a = co_await a.wait();
  to->text += std::to_string(at_a) + " " + std::to_string(at_b) + " ";
}
body fails(notes* to) {
  alive const here(&to->alive);
  try {
    (void)co_await perform(twice(1));
  } catch (std::runtime_error const& e) {
    to->text += e.what();
  }
  throw std::runtime_error("the coroutine's own");
}
body cleans_up(notes* to) {
  alive const here(&to->alive);
  try {
    (void)co_await perform(twice(1));
  } catch (cancelled const&) {
    to->text += "cancelled ";
  }
  co_await perform(nap());  // throws cancelled again
  to->text += "never";
}
body minds_the_time(notes* to) {
  auto f = co_await issue(twice(1));
  try {
    auto const n = co_await f.wait_until(instant::max());
    to->text += n ? "in time" : "late";
  } catch (std::logic_error const& e) {
    to->text += e.what();
  }
}
body says_nothing(notes*) { co_return; }

machine make_stepper() {
  return {{"in turn", in_turn},     {"at once", at_once},      {"fails", fails},
          {"cleans up", cleans_up}, {"minds", minds_the_time}, {"nothing", says_nothing}};
}
event answer(std::uint64_t tag) { return event(event_type::completed, tag); }
event answer(std::uint64_t tag, int value) {
  event e(event_type::completed, tag);
  e.data = unique_any(value);
  return e;
}
void step(machine& m, output& out, event e) {
  out.clear();
  m.step(std::span(&e, 1), out);
}

TEST_CASE("a coroutine is stepped by hand, from command to command") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  m.init("in turn", &n);
  CHECK(n.alive == 0);
  m.step({}, out);
  REQUIRE(out.all().size() == 1);
  CHECK(out.all()[0].tag == 1);
  CHECK(std::get<twice>(out.all()[0].what).number == 2);
  CHECK(out.status == step_status::waiting);
  CHECK(n.alive == 1);

  step(m, out, answer(1, 4));
  CHECK(n.text == "4 ");
  REQUIRE(out.all().size() == 1);
  CHECK(std::holds_alternative<nap>(out.all()[0].what));
  CHECK(out.status == step_status::waiting);

  step(m, out, answer(2));
  CHECK(n.text == "4 awake ");
  CHECK(out.all().empty());
  CHECK(out.status == step_status::done);
  CHECK(n.alive == 0);
  m.close();
}

TEST_CASE("a coroutine may have several commands in flight, answered in any order") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  m.init("at once", &n);
  m.step({}, out);
  CHECK(out.all().size() == 3);
  step(m, out, answer(1, 10));
  CHECK(out.status == step_status::waiting);
  step(m, out, answer(3));
  CHECK(n.text.empty());
  step(m, out, answer(2, 20));
  CHECK(n.text == "10 20 ");
  CHECK(out.status == step_status::done);

  notes all;
  m.init("at once", &all);
  out = output();
  m.step({}, out);
  event events[] = {answer(3), answer(2, 5), answer(1, 4)};
  m.step(events, out);
  CHECK(all.text == "4 5 ");
  CHECK(out.status == step_status::done);
  m.close();
}

TEST_CASE("a coroutine may end in its first step") {
  every_frame_dies const check;
  machine m = make_stepper();
  output out;
  m.init("nothing", nullptr);
  m.step({}, out);
  CHECK(out.status == step_status::done);
}

TEST_CASE("errors are thrown where the coroutine waits, and its own exceptions leave the step") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  m.init("fails", &n);
  m.step({}, out);
  event e(event_type::completed, 1);
  e.error = std::make_exception_ptr(std::runtime_error("an error "));
  CHECK_THROWS_WITH(m.step(std::span(&e, 1), out), "the coroutine's own");
  CHECK(n.text == "an error ");
  CHECK(n.alive == 0);
}

TEST_CASE("an answer of another type is refused with both names") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  m.init("in turn", &n);
  m.step({}, out);
  event e(event_type::completed, 1);
  e.data = unique_any('c');
  CHECK_THROWS_WITH(m.step(std::span(&e, 1), out), Contains("asked for int, and holds char"));
}

TEST_CASE("a coroutine ignores messages, and answers with unknown tags") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  m.init("in turn", &n);
  m.step({}, out);
  step(m, out, answer(9, 1));
  step(m, out, event(event_type::message));
  CHECK(out.status == step_status::waiting);
  CHECK(n.text.empty());
  step(m, out, answer(1, 1));
  step(m, out, answer(1, 2));
  CHECK(n.text == "1 ");
}

TEST_CASE("a coroutine that is cancelled receives that, and may clean up, but not wait") {
  every_frame_dies const check;
  notes n;
  notes other;
  machine m = make_stepper();
  output out;
  m.init("cleans up", &n);
  m.step({}, out);
  step(m, out, event(event_type::cancelled));
  CHECK(n.text == "cancelled ");
  CHECK(n.alive == 0);

  m.init("in turn", &other);
  m.step({}, out);
  step(m, out, event(event_type::cancelled));  // does not catch it
  CHECK(other.alive == 0);

  m.init("in turn", &other);
  step(m, out, event(event_type::cancelled));  // before its first step
  CHECK(out.all().empty());
  CHECK(other.text.empty());
}

TEST_CASE("a coroutine that is closed where it waits is unwound there") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  m.init("at once", &n);
  m.step({}, out);
  CHECK(n.alive == 1);
  m.close();
  CHECK(n.alive == 0);
  m.init("in turn", &n);
  m.close();  // never stepped
  CHECK(n.alive == 0);
}

TEST_CASE("a stepped coroutine has no clock, and only the methods that it was given") {
  every_frame_dies const check;
  notes n;
  machine m = make_stepper();
  output out;
  CHECK_THROWS_AS(m.step({}, out), std::logic_error);
  CHECK_THROWS_WITH(m.init("in trun", &n),
                    Contains("has no method \"in trun\": it has \"in turn\""));
  m.init("minds", &n);
  m.step({}, out);
  CHECK_THAT(n.text, Contains("has no clock"));
}

/// The lines that a parser finds, stepped by hand with chunks of `size` bytes.
template <class Parser>
std::vector<std::string> lines_of(Parser parser, std::string text, std::size_t size) {
  std::vector<std::string> lines;
  std::vector<event> events;
  step_output<more, line> out;
  parser.init("lines", "here");
  for (;;) {
    out.clear();
    parser.step(events, out);
    events.clear();
    for (auto& issued : out.all()) {
      event& e = events.emplace_back(event_type::completed, issued.tag);
      if (auto* const l = std::get_if<line>(&issued.what)) {
        lines.push_back(l->text);
      } else {
        e.data = unique_any(text.substr(0, size));
        text.erase(0, size);
      }
    }
    if (out.status == step_status::done) break;
    if (events.empty()) throw std::logic_error("it waits for nothing");
  }
  parser.close();
  return lines;
}

TEST_CASE(
    "a parser by hand and a parser that is a coroutine find the same lines, stepped by hand") {
  every_frame_dies const check;
  std::string const text = "one\n\nthree, and it is longer\nfour\nno newline at its end";
  std::vector<std::string> const expected{"one", "", "three, and it is longer", "four",
                                          "no newline at its end"};
  for (std::size_t size = 1; size != text.size() + 2; ++size) {
    CHECK(lines_of(line_parser(), text, size) == expected);
    CHECK(lines_of(line_parser_as_a_coroutine(), text, size) == expected);
  }
  CHECK(lines_of(line_parser(), "", 1).empty());
  CHECK(lines_of(line_parser_as_a_coroutine(), "", 1).empty());
}
