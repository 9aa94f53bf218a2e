// SPDX-License-Identifier: MIT

/// What does it cost to be durable?  Files are in the working directory's file system, in a folder
/// that is removed at the end; both sides wait for the disk (synchronous=FULL).
///
///   step/1        One process, one step after the other.  ns a step.  Rival, `raw sqlite`: one
///                 INSERT a transaction.
///   step/1000     A thousand processes, whose steps share commits.  ns a step.  Rival: as many
///                 INSERTs in one transaction as processes that share a commit.
///   replay/100k   A process is run again from a log of 100 000 answers, in memory.  ns an answer.
///                 Rival, `in memory`: the replay of a process that forks (bench/fork.cpp).
///   recover/100k  100 000 processes of 20 answers each are made ready again from a file: each is
///                 run again and waits.  ns a process.  Rival, `raw sqlite`: reads the same rows.
///   dbos/1, /100  Processes of ten steps, one at a time and a hundred at once.  Processes a second.
///                 Rival, if it was measured before (bench/dbos/run.sh): DBOS Transact, the same
///                 workflows on PostgreSQL.
///   sleeping/1M   Resident bytes a process, of a million that sleep in a file, with an engine that
///                 serves it.

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/durable_steps.hpp"
#include "bench/harness.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/memory_store.hpp"
#include "weft/durable/sqlite_store.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace {

using namespace std::chrono_literals;
using weft::eff;
using weft::proc;
using weft::schedule;
using weft::bench::durable_steps;
using weft::bench::steps;
using weft::bench::steps_process;
using weft::bench::timed;
using weft::bench::whole;
namespace durable = weft::durable;

using row = durable::all<>;

/// A folder of files, removed at the end.
struct scratch {
  scratch() {
    std::string name = std::filesystem::current_path() / "weft_bench_XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder for the files");
    path = name;
  }
  ~scratch() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string fresh() { return path / (std::to_string(++files) + ".db"); }
  std::filesystem::path path;
  int files = 0;
};
scratch files;

// ---- subject

/// Waits when its steps are done.
eff<void, row> steps_and_waits(int n) {
  co_await steps(n);
  co_await durable::receive<int>();
}
constexpr durable::function waits_process{"steps and waits", 1, steps_and_waits};

timed steps_in_a_file(int processes, int each) {
  durable::sqlite_store store(files.fresh());
  return durable_steps(store, processes, each);
}

// ---- rival

/// A table like the log, with one statement that inserts.
class raw {
 public:
  explicit raw(std::string const& path) {
    check(sqlite3_open(path.c_str(), &db_));
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE log (process INTEGER, position INTEGER, operation TEXT, answer BLOB, "
        "PRIMARY KEY (process, position)) WITHOUT ROWID");
    check(sqlite3_prepare_v2(db_, "INSERT INTO log VALUES (?, ?, ?, ?)", -1, &insert_, nullptr));
  }
  raw(raw const&) = delete;
  raw& operator=(raw const&) = delete;
  ~raw() {
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
  }
  void run(char const* text) { check(sqlite3_exec(db_, text, nullptr, nullptr, nullptr)); }
  void insert(std::int64_t process, std::int64_t position) {
    static constexpr unsigned char answer[] = {0x92, 0, 7};
    sqlite3_reset(insert_);
    sqlite3_bind_int64(insert_, 1, process);
    sqlite3_bind_int64(insert_, 2, position);
    sqlite3_bind_text(insert_, 3, "step one more", -1, SQLITE_STATIC);
    sqlite3_bind_blob(insert_, 4, answer, sizeof answer, SQLITE_STATIC);
    if (sqlite3_step(insert_) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
  }

 private:
  void check(int result) {
    if (result != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
  }
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};
timed raw_steps(int processes, int each) {
  raw db(files.fresh());
  return whole([&] {
    for (int i = 0; i != each; ++i) {
      if (processes != 1) db.run("BEGIN");
      for (int p = 0; p != processes; ++p) db.insert(p, i);
      if (processes != 1) db.run("COMMIT");
    }
    return static_cast<std::uint64_t>(processes) * static_cast<std::uint64_t>(each);
  });
}

// ---- running again

/// A store in which `processes` have done their steps, and wait.
void fill(durable::store& s, int processes, int each) {
  durable::engine e({.until = durable::run_until::idle, .keep_waiting = 0ns}, s, waits_process);
  for (int i = 0; i != processes; ++i) e.start(std::to_string(i), waits_process, each);
  schedule([&] { return e.run(); });
}
/// Runs all of them again, up to where they wait.
timed run_again(durable::store& s, int processes) {
  // As after a crash in which they ran: a message that they do not take makes them ready.
  durable::engine e({.until = durable::run_until::idle, .keep_waiting = 0ns}, s, waits_process);
  for (int i = 0; i != processes; ++i) e.send(std::to_string(i), std::string("go on"));
  timed t = whole([&] {
    schedule([&] { return e.run(); });
    return std::uint64_t{0};
  });
  t.answer = static_cast<std::uint64_t>(processes);
  return t;
}

struct source {
  struct get : weft::op<int> {};
  using operations = weft::op_list<get>;
};
struct counting : weft::handler<source> {
  int on(source::get) { return ++count; }
  int count = 0;
};
eff<void, proc, source> gets(int n, bool forks) {
  for (int i = 0; i != n; ++i) co_await source::get{};
  if (forks) co_await proc::fork{};
}
/// The median of the differences, as in bench/fork.cpp.
timed fork_replay(int n) {
  auto const run = [n](bool forks) {
    return whole([&] {
      schedule([=] { return gets(n, forks); }, counting());
      return std::uint64_t{1};
    });
  };
  std::array<double, 11> longer{};
  for (auto& by : longer) {
    by = -run(false).ns;
    by += run(true).ns;
  }
  std::ranges::sort(longer);
  return {longer[longer.size() / 2], 1};
}

timed raw_read(std::string const& path) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  timed const t = whole([&] {
    std::uint64_t bytes = 0;
    auto const read = [&](char const* query, int columns) {
      sqlite3_stmt* s = nullptr;
      sqlite3_prepare_v2(db, query, -1, &s, nullptr);
      while (sqlite3_step(s) == SQLITE_ROW)
        for (int c = 0; c != columns; ++c)
          bytes += std::string(static_cast<char const*>(sqlite3_column_blob(s, c)),
                               static_cast<std::size_t>(sqlite3_column_bytes(s, c)))
                       .size();
      sqlite3_finalize(s);
    };
    read("SELECT id, function, arguments, parent FROM processes", 4);
    read("SELECT operation, answer FROM log ORDER BY process, position", 2);
    read("SELECT type, data FROM inbox ORDER BY process, sequence", 2);
    return bytes;
  });
  sqlite3_close(db);
  return t;
}

/// Processes of ten steps a second, of which `at_once` are started and awaited together.
double workflows_a_second(int rounds, int at_once) {
  durable::sqlite_store store(files.fresh());
  durable::engine e({.until = durable::run_until::all_ended}, store, steps_process);
  timed const t = whole([&] {
    for (int r = 0; r != rounds; ++r) {
      auto const id = [&](int i) { return std::to_string(r) + "/" + std::to_string(i); };
      for (int i = 0; i != at_once; ++i) e.start(id(i), steps_process, 10);
      schedule([&] { return e.run(); });
      for (int i = 0; i != at_once; ++i)
        if (e.result<int>(id(i)) != 10) throw std::runtime_error("a wrong answer");
    }
    return std::uint64_t{0};
  });
  return 1e9 * rounds * at_once / t.ns;
}
void report_workflows(weft::bench::suite& bench, int at_once, int rounds) {
  std::string const n = std::to_string(at_once);
  double const ours = workflows_a_second(rounds, at_once);
  if (char const* const theirs = std::getenv(("WEFT_DBOS_" + n).c_str()))
    bench.report("dbos/" + n, ours, "1/s", "dbos", std::stod(theirs));
  else
    bench.report("dbos/" + n, ours, "1/s");
}

double resident() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("durable", argc, argv);
  int const each = bench.is_quick() ? 3 : 300;
  bench.compare_runs(
      "step/1", [=] { return steps_in_a_file(1, each); }, "raw sqlite",
      [=] { return raw_steps(1, each); }, static_cast<std::size_t>(each));
  int const many = bench.is_quick() ? 2 : 20;
  bench.compare_runs(
      "step/1000", [=] { return steps_in_a_file(1000, many); }, "raw sqlite",
      [=] { return raw_steps(1000, many); }, 1000 * static_cast<std::size_t>(many));
  int const answers = bench.is_quick() ? 100 : 100'000;
  durable::memory_store memory;
  fill(memory, 1, answers);
  bench.compare_runs(
      "replay/100k", [&] { return run_again(memory, 1); }, "in memory",
      [=] { return fork_replay(answers); }, static_cast<std::size_t>(answers));
  {
    int const processes = bench.is_quick() ? 100 : 100'000;
    std::string const path = files.fresh();
    durable::sqlite_store store(path, {.waits_for_disk = false});
    fill(store, processes, 20);
    timed const ours = run_again(store, processes);
    timed const theirs = raw_read(path);
    bench.report("recover/100k", ours.ns / processes, "ns", "raw sqlite", theirs.ns / processes);
  }
  report_workflows(bench, 1, bench.is_quick() ? 2 : 100);
  report_workflows(bench, 100, bench.is_quick() ? 1 : 5);
  {
    int const processes = bench.is_quick() ? 1000 : 1'000'000;
    std::string const path = files.fresh();
    {
      durable::sqlite_store const made(path);
    }
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    // As an engine leaves a process that sleeps.
    std::string const text =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
        std::to_string(processes) +
        ") INSERT INTO processes (id, function, version, arguments, status, wake) SELECT "
        "'sleeper/' || i, 'steps and waits', 1, x'9101', 2, 4000000000000000000 + i FROM n";
    sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(db);
    double const before = resident();
    durable::sqlite_store store(path);
    durable::engine e({.until = durable::run_until::idle, .keep_waiting = 0ns}, store,
                      waits_process);
    schedule([&] { return e.run(); });
    bench.report("sleeping/1M", (resident() - before) / processes, "bytes");
  }
  return bench.run();
}
