// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a step issues a command that the stepper does not list: name it in command_list<...> and
///   step_output<...>
/// Naming: resolve

#include <string>
#include <string_view>
#include <utility>

#include "weft/sched/commands/stepper.hpp"

struct resolve : weft::command<std::string> {
  explicit resolve(std::string h) : host(std::move(h)) {}
  std::string host;
};
struct nap : weft::command<> {};

struct parser {
  using commands = weft::command_list<nap>;
  using input = std::string;
  void init(std::string_view, std::string) {}
  void step(std::span<weft::event>, weft::step_output<nap>& out) { out.issue(resolve("a")); }
  void close() noexcept {}
};

int main() {
  parser p;
  weft::step_output<nap> out;
  p.step({}, out);
}
