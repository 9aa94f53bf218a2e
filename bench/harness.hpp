// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Measures how fast something is, beside a rival in the same process.
///
///     int main(int argc, char** argv) {
///       weft::bench::suite deque("deque", argc, argv);
///       deque.compare("unique/2", on<persistent_deque>, "ring", on<ring>);
///       return deque.run();
///     }
///
/// Google Benchmark measures: many repetitions, subject and rival interleaved at random.  The
/// output is the median of each and their ratio, as a table or (--json) as one object a line.
/// --quick measures next to nothing and checks the answers.
namespace weft::bench {

/// Does `n` more steps of some work.  The answer depends on each of them.
using work = std::function<std::uint64_t(std::size_t n)>;
/// Makes work in its first state.
using make_work = std::function<work()>;

/// The time of a part of some work, and an answer that depends on the whole work.
struct timed {
  double ns = 0;
  std::uint64_t answer = 0;
};
/// Does some work from beginning to end, the same at each call, and times a part of it.  For work
/// that cannot be cut into steps.
using timed_run = std::function<timed()>;

/// The value that represents all repetitions.  Use the least where several threads are busy: if
/// another program takes one of their cores, all threads may wait for the one that ran there.
enum class summary { median, least };

class suite {
 public:
  static constexpr double nothing_below = 0.3;  // ns: no work is faster

  /// Takes --json and --quick out of the arguments; the others are Google Benchmark's.
  suite(std::string_view name, int argc, char** argv);

  /// Whether to measure next to nothing.
  [[nodiscard]] bool is_quick() const noexcept { return quick_; }

  /// Nanoseconds an item, of which a step does `items`.  The answers of subject and rival must be
  /// equal.  If the rival takes less than `removed_below`, the compiler has removed its work.
  void compare(std::string_view which, make_work subject, std::string_view rival_name,
               make_work rival, std::size_t items = 1, double removed_below = nothing_below);

  /// Nanoseconds a step, without a rival.  `answer` is the answer of the first 1000 steps.
  void measure(std::string_view which, make_work subject, std::uint64_t answer);

  /// Items a second, of which a step does `items`, without a rival.
  void measure_rate(std::string_view which, make_work subject, std::uint64_t answer,
                    std::size_t items);

  /// As `compare`, `measure` and `measure_rate`, for timed runs: a run has `items` and is one
  /// repetition.  compare_runs checks every run.  Of rates the larger ratio is the better one.
  void compare_runs(std::string_view which, timed_run subject, std::string_view rival_name,
                    timed_run rival, std::size_t items, summary of = summary::median);
  void compare_rate_runs(std::string_view which, timed_run subject, std::string_view rival_name,
                         timed_run rival, std::size_t items, summary of = summary::median);
  void measure_runs(std::string_view which, timed_run subject, std::uint64_t answer,
                    std::size_t items);
  void measure_rate_runs(std::string_view which, timed_run subject, std::uint64_t answer,
                         std::size_t items);

  /// Seconds of one whole run of each, which must be long enough to time.  Both must return
  /// `answer`.
  void compare_seconds(std::string_view which, std::function<std::uint64_t()> subject,
                       std::string_view rival_name, std::function<std::uint64_t()> rival,
                       std::uint64_t answer);

  /// The same without a rival.
  void measure_seconds(std::string_view which, std::function<std::uint64_t()> subject,
                       std::uint64_t answer);

  /// A figure that is already known, and is not a time.
  void report(std::string_view which, double value, std::string_view unit);
  /// The same beside a rival's.
  void report(std::string_view which, double value, std::string_view unit, std::string_view rival,
              double rival_value);

  /// Measures and prints.  Returns the exit status: 1 if an answer was wrong, or if the compiler
  /// has removed a rival's work.
  int run();

 private:
  struct row {
    std::string which;
    std::string unit;
    std::optional<double> value;  // given, or the summary of the repetitions
    std::string rival;            // empty if there is none
    std::optional<double> rival_value;
    std::size_t items = 1;  // in one iteration of Google Benchmark
    summary of = summary::median;
    double removed_below = nothing_below;
  };
  void measure_seconds_later(std::string const& name, std::function<std::uint64_t()> run,
                             std::uint64_t answer);
  void check(std::string const& which, std::uint64_t answer, std::uint64_t expected,
             std::string_view whose);
  void print(row const& r) const;

  std::string name_;
  std::vector<std::string> arguments_;
  std::vector<row> rows_;
  bool json_ = false;
  bool quick_ = false;
  bool broken_ = false;
};

/// `v`, whose value is hidden from the compiler.
template <class V>
V launder(V v) {
  static_assert(std::is_pointer_v<V> || std::is_integral_v<V>, "it passes through a register");
  asm volatile("" : "+r"(v));
  return v;
}

inline double ns_between(std::chrono::steady_clock::time_point from,
                         std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

/// Times the whole run; the answer is its result.
template <class Run>
timed whole(Run run) {
  auto const begin = std::chrono::steady_clock::now();
  std::uint64_t const answer = run();
  return {ns_between(begin, std::chrono::steady_clock::now()), answer};
}

/// An object of one of two classes; the compiler cannot know which.  If there were only one class,
/// g++ would guess it and inline its functions.
template <class Interface, template <int> class Class, class... Args>
std::unique_ptr<Interface> either(Args... args) {
  if (launder(true)) return std::make_unique<Class<0>>(args...);
  return std::make_unique<Class<1>>(args...);
}

}  // namespace weft::bench
