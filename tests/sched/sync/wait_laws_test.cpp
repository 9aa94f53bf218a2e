// SPDX-License-Identifier: MIT
#include "tests/support/wait_laws.hpp"

#include "tests/prelude.hpp"

/// A wait is answered, or it is cancelled, wherever a process waits: each token that was given has
/// been taken once, or is still there.

struct place {
  char const* name;
  void (*run)(std::function<law_job()> const&);
};
template <class Where>
place place_of(char const* name) {
  return {name, [](std::function<law_job()> const& p) { run_on<Where>(virtual_time<Where>(), p); }};
}
auto const places = std::to_array<place>({
    place_of<on_one_thread>("one_thread"),
    place_of<on_locked_queue>("a locked queue"),
    place_of<in_random_order>("random_order"),
    place_of<on_sharing<2>>("sharing, 2 threads"),
    place_of<on_sharing<4>>("sharing, 4 threads"),
    place_of<on_stealing<2>>("stealing, 2 threads"),
    place_of<on_stealing<3>>("stealing, 3 threads"),
});

TEST_CASE("no token is lost when a wait is cancelled, and none is taken twice") {
  for (auto const& kind : kinds_of_tokens())
    for (auto const& where : places)
      for (int round = 0; round != rounds(40); ++round) {
        law_plan plan;
        plan.seed = static_cast<unsigned>(round) + 1;
        plan.impatient = 1 + round % 3;
        plan.patient = 1 + round / 3 % 2;
        plan.most_given = 1 + round % 2;
        CAPTURE(kind.name, where.name, plan.seed);
        every_frame_dies const check;
        token_law law(kind, plan);
        std::string wrong;
        try {
          where.run([&law] { return law.run(); });
          wrong = law.what_is_wrong();
        } catch (std::exception const& e) {
          wrong = e.what();
        }
        if (!wrong.empty()) CHECK(wrong == "");
      }
}
