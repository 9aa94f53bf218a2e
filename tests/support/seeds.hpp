// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string>

namespace weft::tests {

/// The seeds of a test: from 0 on; four times as many if the environment has WEFT_IN_FULL
/// (.ci/nightly).  WEFT_SEED=123 in the environment selects that one alone, and
/// with WEFT_SEEDS=1000 as many from there on (bazel: --test_env=WEFT_SEED=123).
class seeds {
 public:
  explicit seeds(unsigned usual)
      : seeds(exactly{std::getenv("WEFT_IN_FULL") != nullptr ? 4 * usual : usual}) {}

  /// n of them, which rounds() has made more for WEFT_IN_FULL.
  [[nodiscard]] static seeds as_many_as(int n) { return seeds(exactly{static_cast<unsigned>(n)}); }

  /// Whether the environment selects the seeds; otherwise every event that must occur once has
  /// occurred.
  [[nodiscard]] bool only_some() const { return only_some_; }

  template <class F>
  void for_each(F f) const {
    for (unsigned i = 0; i != count_; ++i) f(first_ + i);
  }

 private:
  struct exactly {
    unsigned count;
  };
  explicit seeds(exactly n)
      : only_some_(std::getenv("WEFT_SEED") != nullptr),
        first_(setting("WEFT_SEED", 0)),
        count_(setting("WEFT_SEEDS", only_some_ ? 1 : n.count)) {}

  static unsigned setting(char const* name, unsigned otherwise) {
    char const* const given = std::getenv(name);
    return given ? static_cast<unsigned>(std::stoul(given)) : otherwise;
  }

  bool only_some_;
  unsigned first_;
  unsigned count_;
};

}  // namespace weft::tests
