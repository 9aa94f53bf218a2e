// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/running.hpp"
#include "tests/support/random_programs/world.hpp"

/// Random programs of everything that a scheduler does, on several threads.

BACKENDS_TEST_CASE("random programs end, whatever they do, and leave nothing", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<3>, on_sharing<4>) {
  int well = 0, deadlocks = 0, stopped = 0, failed = 0;
  auto const tried = seeds::as_many_as(rounds(3000));
  check_law(tried, dialect_of_threads(),
            [&](program_of_acts const& p, unsigned seed) -> std::string {
              shared_world w(p);
              std::atomic<bool> over = false;
              // A thread outside completes, or drops, the completers that it finds.
              std::thread outside([&] {
                while (!over) {
                  auto c = w.take();
                  if (!c)
                    std::this_thread::yield();
                  else if (seed % 3 != 0)
                    c->complete(shared_world::given);
                }
              });
              try {
                run_on(chosen, options(true, w.stop.get_token()), w);
                ++well;
              } catch (deadlock const&) {
                ++deadlocks;
              } catch (cancelled const&) {
                ++stopped;
              } catch (std::exception const&) {
                ++failed;
              }
              over = true;
              outside.join();
              if (w.alive == 0 && w.wrong == 0) return "";
              return std::to_string(w.alive) + " alive, " + std::to_string(w.wrong) + " wrong";
            });
  if (tried.only_some()) return;
  CHECK(well > 0);
  CHECK(deadlocks > 0);
  CHECK(stopped > 0);
  CHECK(failed > 0);
}
