// SPDX-License-Identifier: MIT
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/durable/killed_programs.hpp"
#include "tests/durable/support.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/sqlite_store.hpp"

/// An engine in a process of its own is killed, again and again, until all its durable processes
/// have ended.  A ledger outside of the store has each act of a step.
///
/// A seed that fails is printed, with the number of kills before; tests/support/seeds.hpp explains how
/// to run it alone (WEFT_SEED=3).  The seed gives the moments of the kills; what the child has done
/// by such a moment differs from run to run, so a seed that failed may have to be run several times.

constexpr forest all;

/// What the child process does: runs the engine until all have ended.
[[noreturn]] void run_to_the_end(std::string const& store, std::string const& acts) {
  int status = 1;
  try {
    durable::sqlite_store s(store);
    durable::engine e({.until = durable::run_until::all_ended}, s, leaf_process, tree_process,
                      collector_process);
    all.start(e);
    ledger_file l(acts);
    schedule<sharing>({.threads = 2}, [&] { return e.run(); }, l);
    status = 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  _exit(status);
}

/// Kills the child `kills` times at the most.  Returns how often it was killed.
int kill_at_random(std::string const& store, std::string const& acts, int kills, unsigned seed) {
  std::mt19937 random(seed);
  for (int killed = 0;; ++killed) {
    CAPTURE(killed);
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) run_to_the_end(store, acts);
    if (killed < kills) {
      timespec const moment{0, static_cast<long>(random() % 5'000'000)};
      ppoll(nullptr, 0, &moment, nullptr);
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      REQUIRE(WEXITSTATUS(status) == 0);
      return killed;
    }
  }
}

void require_all_done(std::string const& store, std::string const& acts) {
  durable::sqlite_store s(store);
  CHECK(s.check().empty());
  durable::engine e(s, leaf_process, tree_process, collector_process);
  all.require_all_done(e, acts_in(acts));
}

/// Begins with an empty store, and ends when all processes have.  Returns the number of kills.
int kill_until_all_ended(unsigned seed, int kills) {
  CAPTURE(seed);
  own_directory folder;
  int const killed = kill_at_random(folder.file("store.db"), folder.file("acts"), kills, seed);
  require_all_done(folder.file("store.db"), folder.file("acts"));
  return killed;
}

TEST_CASE("processes that are killed at random moments end, and nothing is lost or done twice") {
  seeds const tried(5);
  int killed = 0;
  tried.for_each([&](unsigned seed) { killed += kill_until_all_ended(seed, 40); });
  if (!tried.only_some()) CHECK(killed > 20);
}

TEST_CASE("ten thousand kills", "[.][full]") {
  int killed = 0;
  seeds(10'000).for_each([&](unsigned seed) {
    if (killed < 10'000) killed += kill_until_all_ended(seed, 1'000);
  });
  WARN(killed << " kills");
}
