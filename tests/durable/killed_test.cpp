// SPDX-License-Identifier: MIT
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <random>
#include <string>
#include <thread>

#include "tests/durable/killed_programs.hpp"
#include "tests/durable/support.hpp"
#include "tests/support/threads.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/sqlite_store.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

/// An engine in a process of its own is killed, again and again, until all its durable processes
/// have ended.  A ledger outside of the store has each act of a step.
using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;

namespace {

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

TEST_CASE("processes that are killed at random moments end, and nothing is lost or done twice") {
  int killed = 0;
  for (unsigned round = 0; round != 5; ++round) {
    own_directory folder;
    auto const seed = static_cast<unsigned>(next_seed());
    INFO("seed " << seed);
    killed += kill_at_random(folder.file("store.db"), folder.file("acts"), 40, seed);
    require_all_done(folder.file("store.db"), folder.file("acts"));
  }
  CHECK(killed > 20);
}

TEST_CASE("ten thousand kills", "[.][full]") {
  int killed = 0;
  while (killed < 10'000) {
    own_directory folder;
    auto const seed = static_cast<unsigned>(next_seed());
    INFO("seed " << seed);
    killed += kill_at_random(folder.file("store.db"), folder.file("acts"), 1'000, seed);
    require_all_done(folder.file("store.db"), folder.file("acts"));
  }
  WARN(killed << " kills");
}

}  // namespace
