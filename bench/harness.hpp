// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Asks how fast something is, beside a rival in the same process.
///
///     int main(int argc, char** argv) {
///       weft::bench::suite deque("deque", argc, argv);
///       deque.compare("unique/2", on<persistent_deque>, "ring", on<ring>);
///       return deque.run();
///     }
///
/// Google Benchmark does the measuring: many repetitions, subject and rival interleaved at
/// random.  We print the median of each and their ratio, as a table or (--json) as one object a
/// line.  --quick measures next to nothing and checks the answers.
namespace weft::bench {

/// Does `n` more steps of some work and returns an answer that depends on each of them.
using work = std::function<std::uint64_t(std::size_t n)>;
/// Makes work in its first state.
using make_work = std::function<work()>;

class suite {
 public:
  /// Takes --json and --quick out of the arguments; the others are Google Benchmark's.
  suite(std::string_view name, int argc, char** argv);

  /// Nanoseconds a step of each.  Their answers must be the same.
  void compare(std::string_view which, make_work subject, std::string_view rival_name,
               make_work rival);

  /// Nanoseconds a step, without a rival.  `answer` is what the first 1000 steps must return.
  void measure(std::string_view which, make_work subject, std::uint64_t answer);

  /// A figure that is not a time, already known.
  void report(std::string_view which, double value, std::string_view unit);

  /// Measures and prints.  Returns what main returns: 1 if an answer was wrong, or if a rival
  /// took less than 0.3 ns a step, which means that the compiler has removed its work.
  int run();

 private:
  struct row {
    std::string which;
    std::string unit;
    std::optional<double> value;  // given, or the median of what was measured
    std::string rival;            // empty: none
    std::optional<double> rival_value;
  };
  void print(row const& r) const;

  std::string name_;
  std::vector<std::string> arguments_;
  std::vector<row> rows_;
  bool json_ = false;
  bool broken_ = false;
};

/// `f`, of which the compiler no longer knows what it is.
template <class F>
F* launder(F* f) {
  asm volatile("" : "+r"(f));
  return f;
}

}  // namespace weft::bench
