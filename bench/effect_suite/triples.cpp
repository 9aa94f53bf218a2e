// SPDX-License-Identifier: MIT
#include "examples/effect_suite/triples.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

/// Triples of a sum, by a handler that resumes twice.
///
/// The rival is a search with an explicit stack.  At a flip the state of the program is pushed on
/// the stack as a value, the search continues with a copy, and later comes back to the state with
/// the other side.  The program between two flips is a function that the compiler does not see
/// through, as a handler cannot see into its resumption: else all of it would become three loops.
///
/// With replay a flip costs all flips before it, 225 in the mean: the row is there to show that.
namespace {

namespace triples = effect_suite::triples;
using weft::bench::launder;

constexpr int input = 300;
constexpr std::uint64_t answer = 460'212'934;

/// The state of the program at a flip.
struct at_flip {
  int sum;
  int chosen[3];  // the choice is about the last known one: this, or a smaller one?
  int known;
};
enum class came_to { flip, fail, end };

came_to choose(at_flip const& p) { return p.chosen[p.known] >= 1 ? came_to::flip : came_to::fail; }

[[gnu::noinline]] came_to go_on(at_flip& p, bool this_one) {
  if (!this_one) {
    --p.chosen[p.known];
    return choose(p);
  }
  if (p.known == 2)
    return p.chosen[0] + p.chosen[1] + p.chosen[2] == p.sum ? came_to::end : came_to::fail;
  ++p.known;
  p.chosen[p.known] = p.chosen[p.known - 1] - 1;
  return choose(p);
}

std::uint64_t plain(int n) {
  auto const resume = launder(&go_on);
  std::uint64_t total = 0;
  std::vector<at_flip> waiting;
  at_flip p{n, {n, 0, 0}, 0};
  for (came_to at = choose(p);;) {
    if (at == came_to::flip) {
      waiting.push_back(p);
      at = resume(p, true);
      continue;
    }
    if (at == came_to::end)
      total = (total + triples::hash({p.chosen[0], p.chosen[1], p.chosen[2]})) % triples::modulus;
    if (waiting.empty()) return total;
    p = waiting.back();
    waiting.pop_back();
    at = resume(p, false);
  }
}

template <class Policy>
void add_row(weft::bench::suite& bench, std::string_view name) {
  // With replay the whole input takes a quarter of a minute; the smaller one is checked with the
  // rival.
  int const n = bench.is_quick() ? 50 : input;
  bench.compare_seconds(
      name, [n] { return triples::program<Policy>(launder(n)); }, "stack",
      [n] { return plain(launder(n)); }, bench.is_quick() ? plain(n) : answer);
}

}  // namespace

void weft::bench::effect_suite_triples(suite& bench) {
  add_row<replay>(bench, "triples/replay");
  add_row<bitwise>(bench, "triples/bitwise");
}
