// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <weft/effects/effects.hpp>

/// Parses lines of dollar signs, and adds up how many there are.  The file has n lines, after an
/// empty one; line i has i dollars.
///
/// Three effects.  The parser `read`s a character, `emit`s the length of a line at its end, and
/// `stop`s at any other character.  The handler of `read` has no file but generates the characters,
/// and stops when n lines have been read: so its clause performs an operation itself, outwards.
///
/// Three handlers, nested: `feeding` within `failure_to_exception` within `summing`.  All clauses
/// are value clauses, and that of `read` asks outwards, `outer<stopping>`.  Such an operation must
/// be answered at once, or throw: so `stop` is weft's `failure`, and its handler turns it into an
/// exception, which ends the parser.  It measures reads, one for each character; lines are few.
namespace effect_suite::parsing_dollars {

using weft::eff;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::outer;

struct reading {
  struct [[nodiscard]] read : op<int> {};
  using operations = op_list<read>;
};

struct emission {
  struct [[nodiscard]] emit : op<void> {
    explicit emit(int v) : value(v) {}
    int value;
  };
  using operations = op_list<emit>;
};

struct stop {};
using stopping = weft::failure<stop>;

// ---- the parser

constexpr int newline = '\n';
constexpr int dollar = '$';

inline eff<void, reading, emission, stopping> parse() {
  int dollars = 0;
  for (;;) {
    int const c = co_await reading::read{};
    if (c == dollar) {
      ++dollars;
    } else if (c == newline) {
      co_await emission::emit(dollars);
      dollars = 0;
    } else {
      co_await stopping::fail(stop());
    }
  }
}

// ---- its handlers

class feeding : public handler<reading> {
 public:
  explicit feeding(int lines) : lines_(lines) {}

  int on(reading::read, outer<stopping> up) {
    if (line_ > lines_) up(stopping::fail(stop()));
    if (left_ == 0) {
      left_ = ++line_;
      return newline;
    }
    --left_;
    return dollar;
  }

 private:
  int lines_;
  int line_ = 0;
  int left_ = 0;  // dollars of this line
};

class summing : public handler<emission> {
 public:
  void on(emission::emit e) { sum_ += e.value; }
  std::int64_t on_return() { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

inline eff<void, emission> parse_until_stopped(int lines) {
  try {
    co_await handle(feeding(lines) | weft::failure_to_exception<stop>(), parse());
  } catch (stop const&) {
  }
}

inline std::int64_t program(int n) { return run(handle(summing(), parse_until_stopped(n))); }

}  // namespace effect_suite::parsing_dollars
