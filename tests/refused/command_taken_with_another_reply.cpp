// SPDX-License-Identifier: MIT

/// Refused:
///   weft: no dispatcher takes this command: add to dispatchers{...} a function of the
///   command and a reply<result>, its result
/// Naming: issuing<resolve>

#include <string>
#include <utility>

#include "weft/sched/commands/commands.hpp"
#include "weft/sched/schedule.hpp"

struct resolve : weft::command<std::string> {
  explicit resolve(std::string h) : host(std::move(h)) {}
  std::string host;
};

weft::eff<void, weft::commands<resolve>> program() {
  std::string const at = co_await weft::perform(resolve("a"));
}

int main() {
  weft::schedule(program, weft::dispatchers{[](resolve, weft::reply<int> r) { r.complete(1); }});
}
