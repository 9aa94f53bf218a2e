// SPDX-License-Identifier: MIT
#include <filesystem>
#include <iostream>
#include <string>

#include <weft/durable/engine.hpp>
#include <weft/durable/sqlite_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

namespace durable = weft::durable;

weft::eff<int, weft::console> add(int a, int b) {
  co_await weft::console::print_line("adding");
  co_return a + b;
}
weft::eff<int, durable::all<weft::console>> sum(int n) {
  int all = 0;
  for (int i = 1; i <= n; ++i) all = co_await durable::step("add", add, all, i);
  co_return all;
}
constexpr durable::function sum_process{"sum", 1, sum};

int main() {
  std::string const file = std::filesystem::temp_directory_path() / "weft_consumer_durable.db";
  std::filesystem::remove(file);
  for (int run = 0; run != 2; ++run) {  // the second run has nothing to do
    durable::sqlite_store store(file);
    durable::engine e({.until = durable::run_until::all_ended}, store, sum_process);
    e.start("sum", sum_process, 3);
    weft::schedule([&] { return e.run(); }, weft::console_to_stream(std::cout));
    std::cout << e.result<int>("sum") << '\n';
  }
  std::filesystem::remove(file);
}
