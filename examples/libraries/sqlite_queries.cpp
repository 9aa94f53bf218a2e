// SPDX-License-Identifier: MIT

/// Queries of SQLite, which block a thread, beside other processes; and one that is interrupted when
/// its process is cancelled.
#include <sqlite3.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/adapters/stop_token.hpp>
#include <weft/effects/effects.hpp>
#include <weft/io/thread_pool.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>
using namespace weft;
using namespace std::chrono_literals;

namespace {

using database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

database open_in_memory() {
  sqlite3* db = nullptr;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) throw std::runtime_error("no database");
  return {db, &sqlite3_close};
}

int append(void* rows, int columns, char** values, char**) {
  std::string row;
  for (int i = 0; i != columns; ++i) row += (i == 0 ? "" : " ") + std::string(values[i]);
  static_cast<std::vector<std::string>*>(rows)->push_back(std::move(row));
  return 0;
}

/// Runs on a thread of the pool.  A stop interrupts SQLite.
std::vector<std::string> query(std::stop_token const& stop, sqlite3* db, std::string const& sql) {
  auto const interrupts = [db] { sqlite3_interrupt(db); };
  std::stop_callback const on_stop(stop, interrupts);
  std::vector<std::string> rows;
  char* text = nullptr;
  if (sqlite3_exec(db, sql.c_str(), append, &rows, &text) != SQLITE_OK) {
    std::unique_ptr<char, decltype(&sqlite3_free)> const error(text, &sqlite3_free);
    throw std::runtime_error(error.get());
  }
  return rows;
}

/// The rows of a query: the process waits, its thread does not.
eff<std::vector<std::string>, blocking_work> rows_of(sqlite3* db, std::string sql) {
  co_return co_await off_thread_until_cancelled(query, db, std::move(sql));
}

eff<void, blocking_work> fills(sqlite3* db) {
  (void)co_await rows_of(db, "create table stars (name text, magnitude real)");
  (void)co_await rows_of(
      db, "insert into stars values ('Sirius', -1.46), ('Vega', 0.03), ('Polaris', 1.98)");
}

eff<void, blocking_work> asks(sqlite3* db) {
  auto const rows =
      co_await rows_of(db, "select name, magnitude from stars order by magnitude desc");
  for (auto const& row : rows) std::cout << row << '\n';
  try {
    (void)co_await rows_of(db, "select colour from stars");
  } catch (std::runtime_error const& e) {
    std::cout << "error: " << e.what() << '\n';
  }
}

constexpr char const* endless =
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

using in_scope = eff<void, tasking<timing>, timing, blocking_work>;

eff<void, timing> counts(int& times, std::stop_source& stop) {
  for (; times != 3; ++times) co_await timing::sleep_for(1ms);
  stop.request_stop();
}

/// A query without an end, and a process that counts meanwhile; then it stops the scope, which
/// cancels the query, and SQLite stops working.
in_scope gives_up(sqlite3* db) {
  int times = 0;
  std::stop_source stop;
  try {
    co_await with_scope(stop.get_token(), [&](auto& scope) -> in_scope {
      scope.start(counts, std::ref(times), std::ref(stop));
      (void)co_await rows_of(db, endless);
    });
  } catch (cancelled const&) {
    std::cout << "given up; the other process has counted to " << times << '\n';
  }
  auto const rows = co_await rows_of(db, "select count(*) from stars");
  std::cout << rows.front() << " stars are left\n";
}

}  // namespace

int main() {
  auto const db = open_in_memory();
  auto const program = [&db]() -> in_scope {
    co_await fills(db.get());
    co_await asks(db.get());
    co_await gives_up(db.get());
  };
  // One thread: SQLite runs one statement of a connection at a time.
  schedule(program, thread_pool(1));
}
