// SPDX-License-Identifier: MIT

/// The rival: the parser reads and emits by virtual functions, whose classes the compiler does not
/// know there; the source stops by one too.  That throws, as weft does: once a run.

#include "examples/effect_suite/parsing_dollars.hpp"

#include <cstdint>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

namespace {

using weft::bench::either;
using weft::bench::launder;

constexpr int input = 20'000;
constexpr std::uint64_t answer = 200'010'000;

constexpr int newline = '\n';
constexpr int dollar = '$';

class stopper {
 public:
  virtual ~stopper() = default;
  [[noreturn]] virtual void stop() = 0;
};
struct stopped {};
template <int>
class throwing final : public stopper {
 public:
  [[noreturn]] void stop() override { throw stopped(); }
};

class source {
 public:
  virtual ~source() = default;
  virtual int read() = 0;
};
template <int>
class feeding final : public source {
 public:
  feeding(int lines, stopper* up) : lines_(lines), up_(*up) {}
  int read() override {
    if (line_ > lines_) up_.stop();
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
  int left_ = 0;
  stopper& up_;
};

class sink {
 public:
  virtual ~sink() = default;
  virtual void emit(int v) = 0;
  [[nodiscard]] virtual std::int64_t result() const = 0;
};
template <int>
class summing final : public sink {
 public:
  void emit(int v) override { sum_ += v; }
  [[nodiscard]] std::int64_t result() const override { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

[[gnu::noinline]] void parse(source& from, sink& to, stopper& stops) {
  int dollars = 0;
  for (;;) {
    int const c = from.read();
    if (c == dollar) {
      ++dollars;
    } else if (c == newline) {
      to.emit(dollars);
      dollars = 0;
    } else {
      stops.stop();
    }
  }
}

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::parsing_dollars::program(launder(input)));
}
std::uint64_t virtually() {
  auto const to = either<sink, summing>();
  auto const stops = either<stopper, throwing>();
  auto const from = either<source, feeding>(launder(input), stops.get());
  try {
    parse(*from, *to, *stops);
  } catch (stopped const&) {
  }
  return static_cast<std::uint64_t>(to->result());
}

}  // namespace

void weft::bench::effect_suite_parsing_dollars(suite& bench) {
  bench.compare_seconds("parsing_dollars", handled, "virtual-call", virtually, answer);
}
