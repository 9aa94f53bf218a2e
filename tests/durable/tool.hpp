// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/durable/support.hpp"
#include "weft/durable/engine.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// tools/weft-durable, and a store of three processes for it.
namespace weft::tests {

inline eff<std::string, durable::all<world>> greets(std::string whom) {
  co_await durable::publish(std::string("greeting"));
  int const n = co_await durable::step("count", act, "count", 2);
  auto const word = co_await durable::receive<std::string>();
  co_return word.message + " " + whom + " " + std::to_string(n);
}
inline constexpr durable::function greets_process{"greets", 1, greets};
inline eff<std::string, durable::all<world>> greets_otherwise(std::string whom) {
  co_return whom + std::to_string(co_await durable::step("other", act, "other", 1));
}
inline constexpr durable::function greets_otherwise_process{"greets", 1, greets_otherwise};

/// Runs what is ready, once.
template <class F>
void run_until_idle(durable::store& s, F f) {
  noted_world w;
  durable::engine e(until_idle(), s, f);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
}
/// Makes a process that has ended, one that waits and one that is quarantined.
inline void make_three_processes(durable::store& s) {
  durable::engine e(s, greets_process);
  e.start("ended", greets_process, "Ada");
  e.send("ended", std::string("hello"));
  e.start("waits", greets_process, "Bob");
  e.start("torn", greets_process, "Eve");
  run_until_idle(s, greets_process);
  e.send("torn", std::string("hello"));
  run_until_idle(s, greets_otherwise_process);
}

/// The exit status of the tool, and all that it prints, where the shell leads it.
inline std::pair<int, std::string> run_tool(std::string const& words,
                                            std::string const& before = {},
                                            std::string const& errors = "2>&1") {
  std::string const command = before + " tools/weft-durable " + words + " " + errors;
  FILE* const out = ::popen(command.c_str(), "r");
  if (!out) throw std::runtime_error("no process for the tool");
  std::string text;
  std::array<char, 4096> part{};
  while (std::size_t const n = std::fread(part.data(), 1, part.size(), out))
    text.append(part.data(), n);
  int const status = ::pclose(out);
  return {WEXITSTATUS(status), text};
}

}  // namespace weft::tests
