// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/searches.hpp"
#include "tests/support/random_programs/searches_model.hpp"

/// Random searches, by every policy of resuming twice.
///
/// Each search is run by weft and by a model that copies everything
/// (searches_model.hpp).  All ways through it must end alike and in the same order,
/// with a result, a failure or an exception, and must have asked the handlers outside equally
/// often.
///
/// A seed that fails is printed; tests/support/seeds.hpp explains how to run it alone.

using namespace weft::tests::searches;

TEMPLATE_TEST_CASE("a search that is resumed at once ends like a model that copies", "", replay,
                   bitwise) {
  seeds const tried(300);
  tally happened;
  check_law(tried, dialect_of_searches(),
            [&](program_of_acts const& p, unsigned seed) -> std::string {
              tactics what_to_do(seed);
              model expected([&what_to_do](int n, model::rest const& k) {
                for (int const answer : what_to_do.answers(n)) k(answer);
              });
              expected.run(p.all[0].acts);

              at_once h(seed);
              int asked = 0;
              start<TestType>(p.all[0].acts, h, asked);
              happened.add(h.endings);
              if (asked != expected.asked) return "asks another number of times";
              return h.endings == expected.endings ? "" : "ends otherwise";
            });
  if (!tried.only_some()) happened.check_all_occurred();
}

/// Keeps the resumptions of several searches, and resumes them later from ordinary code.
class later : public notes, public region, public handler<search> {
 public:
  explicit later(unsigned seed) : waiting(seed), tactics_(seed) {}
  using notes::on;
  void on(search::pick p, multi_resumption<int, void> k) {
    waiting.add(std::move(k), tactics_.answers(p.n));
  }
  agenda<multi_resumption<int, void>> waiting;

 private:
  tactics tactics_;
};

TEMPLATE_TEST_CASE("searches that are resumed later, in any order, end like a model that copies",
                   "", replay, bitwise) {
  dialect several = dialect_of_searches();
  several.more_processes = 2;
  several.size = 300;
  seeds const tried(300);
  tally happened;
  check_law(tried, several, [&](program_of_acts const& p, unsigned seed) -> std::string {
    int const steps = seed % 4 == 0 ? 10 : 1000;  // sometimes leaves resumptions that wait
    tactics what_to_do(seed);
    agenda<model::rest> waiting(seed);
    model expected([&](int n, model::rest k) { waiting.add(std::move(k), what_to_do.answers(n)); });
    for (life const& each : p.all) expected.run(each.acts);
    waiting.work_off(steps, [](auto const& k, int answer) { k(answer); });

    later h(seed);
    int asked = 0;
    for (life const& each : p.all) start<TestType>(each.acts, h, asked);
    h.waiting.work_off(steps,
                       [&h](auto k, int answer) { h.note([&] { resume(std::move(k), answer); }); });
    happened.add(h.endings);
    if (asked != expected.asked) return "asks another number of times";
    return h.endings == expected.endings ? "" : "ends otherwise";
  });
  if (!tried.only_some()) happened.check_all_occurred();
}
