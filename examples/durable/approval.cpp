// SPDX-License-Identifier: MIT

/// A request that waits for a person: an expense is paid when a manager has approved it, however
/// long that takes.  While it waits it is a row in a file: the process has no frame in memory.
///
/// `query` shows what the process has published; `send` is the manager's answer.  The tool
/// weft-durable does both from a command line.

#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>

#include <weft/durable/engine.hpp>
#include <weft/durable/sqlite_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;
using namespace std::chrono_literals;

struct decision {
  std::string by;
  bool approves = false;
  MSGPACK_DEFINE(by, approves)
};

eff<void, console> pay(std::string const& what) { co_await console::print_line("paid: " + what); }
eff<void, console> remind(int weeks) {
  co_await console::print_line("a reminder, after " + std::to_string(weeks) + " weeks");
}

eff<std::string, durable::all<console>> expense(std::string what) {
  co_await durable::publish("waits for a decision: " + what);
  for (int weeks = 1;; ++weeks) {
    instant const in_a_week = co_await timing::now{} + 7 * 24h;
    auto const answer = co_await durable::receive_until<decision>(in_a_week);
    if (!answer) {
      co_await durable::step("remind", remind, weeks);
      if (weeks == 3) co_return "forgotten";
      continue;
    }
    auto const& [by, approves] = answer->message;
    co_await durable::publish((approves ? "approved by " : "refused by ") + by);
    if (approves) co_await durable::step("pay", pay, what);
    co_return approves ? "paid" : "refused";
  }
}
constexpr durable::function expense_process{"expense", 1, expense};

int main() {
  auto const folder = std::filesystem::temp_directory_path() / "weft_example_approval";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  durable::engine_options how{.until = durable::run_until::idle,
                              .clock = durable::clock_source::scheduler,
                              .keep_waiting = 1s};
  {
    durable::sqlite_store store(folder / "expenses.db");
    durable::engine e(how, store, expense_process);
    e.start("lunch", expense_process, "a lunch");
    e.start("yacht", expense_process, "a yacht");
    e.start("pens", expense_process, "some pens");
    schedule({.virtual_time = true}, [&] { return e.run(); }, console_to_stream(std::cout));
    std::cout << "lunch " << *e.query<std::string>("lunch") << '\n';

    e.send("lunch", decision{"Ada", true});
    e.send("yacht", decision{"Ada", false});
    schedule({.virtual_time = true}, [&] { return e.run(); }, console_to_stream(std::cout));
    std::cout << "yacht " << *e.query<std::string>("yacht") << '\n';

    how.until = durable::run_until::all_ended;
    durable::engine last(how, store, expense_process);
    schedule({.virtual_time = true}, [&] { return last.run(); }, console_to_stream(std::cout));
    for (char const* const id : {"lunch", "yacht", "pens"})
      std::cout << id << ": " << last.result<std::string>(id) << '\n';
  }
  std::filesystem::remove_all(folder);
}
