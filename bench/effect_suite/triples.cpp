// SPDX-License-Identifier: MIT
#include "examples/effect_suite/triples.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

/// Triples of a sum, by a handler that resumes twice.
///
/// The rival is a search with a stack of its own.  What the program knows at a flip is put on the
/// stack as a value, the search goes on with a copy, and comes back to it later with the other
/// side.  The program between two flips is a function into which the compiler does not see, as a
/// handler cannot see what it resumes: else all would become three loops.
///
/// By replay a flip costs all flips before it, 225 in the mean: the row is there to show it.
namespace {

namespace triples = effect_suite::triples;
using weft::bench::launder;

constexpr int input = 300;
constexpr std::uint64_t answer = 460'212'934;

/// The program, as it waits at a flip.
struct at_flip {
  int sum;
  int chosen[3];  // the last known one is what is asked for: this, or a smaller one?
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
  // By replay the whole input takes a quarter of a minute; a smaller one has the rival's answer.
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
