// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"

/// Effects and handlers that the tests of effects/ share.
namespace weft::tests {

struct ask {
  struct get : op<int> {};
  using operations = op_list<get>;
};
struct tick {
  struct now : op<void> {};
  using operations = op_list<now>;
};
struct stop {
  struct here : op<never> {
    explicit here(int w) : why(w) {}
    int why;
  };
  using operations = op_list<here>;
};

/// Answers each question with `n`.
struct answers {
  int n;
  int on(ask::get) const { return n; }
};

/// Keeps the resumption of the last question, and answers -1.
struct keeps : region, handler<ask> {
  resumption<int, int> k;
  int on(ask::get, resumption<int, int> r) {
    k = std::move(r);
    return -1;
  }
};
/// Keeps the resumption of the last tick.
struct parks : region, handler<tick> {
  resumption<void> k;
  void on(tick::now, resumption<void> r) { k = std::move(r); }
};

/// Appends its letter when it is destroyed.
class leaves {
 public:
  leaves(std::string& to, char letter) noexcept : to_(to), letter_(letter) {}
  leaves(leaves const&) = delete;
  leaves& operator=(leaves const&) = delete;
  ~leaves() { to_ += letter_; }

 private:
  std::string& to_;
  char letter_;
};

inline eff<int, ask> asks() { co_return co_await ask::get{}; }

}  // namespace weft::tests
