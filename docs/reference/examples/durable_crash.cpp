// SPDX-License-Identifier: MIT
// A store in memory that crashes: before a commit, and after it.
#include <iostream>
#include <memory>
#include <string>

#include <weft/durable/memory_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

struct world {
  durable::memory_store store{durable::memory_store_options{.crashes = 1}};
  bool crashed = false;
};

eff<void, proc> starts_a_process(world& w) {
  try {
    w.store.start({"a", "f", 1, {}, {}});
  } catch (durable::simulated_crash const&) {
    w.crashed = w.store.has_crashed();
  }
  w.store.restart();
  co_return;
}

int main() {
  auto const found = explore(
      {}, [] { return std::make_unique<world>(); },
      [](std::unique_ptr<world>& w) { return starts_a_process(*w); },
      [](std::unique_ptr<world> const& w) {
        return std::string(w->crashed ? "crashed, " : "no crash, ") +
               (w->store.find("a") ? "stored" : "not stored");
      });
  for (auto const& o : found.outcomes) std::cout << o.result.text << '\n';
}
