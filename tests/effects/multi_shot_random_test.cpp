// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/captures.hpp"
#include "tests/support/random_programs/captures_machine.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"

/// Random programs that resume twice, inside one another, compared with a machine that can copy.
///
/// A program asks, chooses, throws, catches, seals, and installs handlers around parts of itself.
/// It is run by weft and by a machine of a hundred lines (captures_machine.hpp) whose stack is an immutable list, so to
/// resume twice the machine continues from it twice.  Both must give the same result and must have
/// asked the handlers outside equally often, in the same order; so no handler has heard a replay.
///
/// This holds for every policy of resuming twice, since a program keeps only numbers and pointers
/// across a capture.  Three things depend on the policy.  An operation that seals ends the log of a
/// replay; without replay no program signs.  Bitwise, a handler that resumes twice cannot be
/// copied, nor can its clause, so a capture through one is refused.  By replay there are keys:
/// answers that hold their own resumption, even before it is resumed.  Programs keep keys and
/// clauses outside trade them, so they are in the logs that they refer to.
///
/// A seed that fails is printed; tests/support/seeds.hpp explains how to run it alone.

using namespace weft::tests::captures;

TEMPLATE_TEST_CASE(
    "programs that resume twice inside one another have the results of a machine that copies", "",
    replay, bitwise) {
  constexpr unsigned usual = 2000;
  constexpr bool by_replay = std::is_same_v<TestType, replay>;
  seeds const tried(usual);
  unsigned ended = 0, failed = 0, refused = 0;
  check_law(tried, dialect_of_captures(by_replay),
            [&](program_of_acts const& p, unsigned seed) -> std::string {
              auto const expected = machine(by_replay).run(p.all[0].acts);
              if (!expected) return "";
              bool const is_refused = expected->what.starts_with("un");
              ++(expected->what == "boom" ? failed : is_refused ? refused : ended);
              auto const found = run_by_weft<TestType>(p.all[0].acts, seed % 4);
              if (found == *expected) return "";
              std::ostringstream s;
              s << found << ", not " << *expected;
              return s.str();
            });
  if (tried.only_some()) return;
  CHECK(ended > usual / 8);
  CHECK(failed > 0);
  CHECK(refused > 0);
}
