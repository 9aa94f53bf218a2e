// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>

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

/// Writes each act to a file, at once.
class ledger : public handler<world> {
 public:
  static constexpr bool thread_safe = true;
  explicit ledger(std::string const& path)
      : file_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {}
  ledger(ledger const&) = delete;
  ledger& operator=(ledger const&) = delete;
  ~ledger() { close(file_); }
  int on(world::act const& a) const {
    std::string const line = a.what + "\n";
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("the ledger is full");
    return a.number;
  }

 private:
  int file_;
};
eff<int, world> note(durable::idempotency_key const& key, int n) {
  co_return co_await world::act(key.text, n);
}

using row = durable::all<world>;

eff<int, row> leaf(int n) {
  int const a = co_await durable::step("leaf", note, n);
  co_await timing::sleep_for{1ms};
  co_await durable::send("collector", a);
  co_return co_await durable::step("leaf again", note, a);
}
constexpr durable::function leaf_process{"leaf", 1, leaf};
eff<int, row> tree(int n) {
  int const a = co_await durable::step("tree", note, n);
  auto x = co_await durable::start("leaf/" + std::to_string(n) + "/1", leaf_process, 1);
  auto y = co_await durable::start("leaf/" + std::to_string(n) + "/2", leaf_process, 2);
  auto const [p, q] = co_await durable::when_all(x, y);
  co_return a + p + q;
}
constexpr durable::function tree_process{"tree", 1, tree};
eff<int, row> collector(int expected) {
  int sum = 0;
  for (int i = 0; i != expected; ++i) {
    auto const m = co_await durable::receive<int>();
    sum += m.message;
  }
  co_return sum;
}
constexpr durable::function collector_process{"collector", 1, collector};

constexpr int trees = 20;

/// What the child process does: runs the engine until all have ended.
[[noreturn]] void run_to_the_end(std::string const& store, std::string const& acts) {
  int status = 1;
  try {
    durable::sqlite_store s(store);
    durable::engine e({.until = durable::run_until::all_ended}, s, leaf_process, tree_process,
                      collector_process);
    e.start("collector", collector_process, 2 * trees);
    for (int i = 0; i != trees; ++i) e.start("tree/" + std::to_string(i), tree_process, i);
    ledger l(acts);
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
  std::map<std::string, int> noted;
  std::ifstream in(acts);
  for (std::string line; std::getline(in, line);) ++noted[line];
  for (int i = 0; i != trees; ++i) {
    std::string const n = std::to_string(i);
    CHECK(e.result<int>("tree/" + n) == i + 3);
    CHECK(noted["tree/" + n + "#0"] >= 1);
    for (char const* const which : {"/1", "/2"}) {
      std::string const leaf = "leaf/" + n + which;
      CHECK(noted[leaf + "#0"] >= 1);
      CHECK(e.find(leaf)->messages == 0);
    }
  }
  CHECK(e.result<int>("collector") == 3 * trees);  // each message once
  CHECK(e.find("collector")->messages == 0);
  CHECK(noted.size() == trees * 5);  // and no act of another key
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
