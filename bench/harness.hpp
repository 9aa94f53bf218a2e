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

/// What a part of some work took, and an answer that depends on all of it.
struct timed {
  double ns = 0;
  std::uint64_t answer = 0;
};
/// Does some work from beginning to end and times a part of it, the same at each call.  For what
/// cannot be stopped at will: here the clock is read inside.
using timed_run = std::function<timed()>;

/// What stands for all repetitions.  The least, where several threads are busy: when another
/// program takes one of their cores, all may wait for the thread that was there.
enum class summary { median, least };

class suite {
 public:
  static constexpr double nothing_below = 0.3;  // ns: nothing that does its work is faster

  /// Takes --json and --quick out of the arguments; the others are Google Benchmark's.
  suite(std::string_view name, int argc, char** argv);

  /// Whether nothing is to take long.
  [[nodiscard]] bool is_quick() const noexcept { return quick_; }

  /// Nanoseconds an item of each, of which a step does `items`.  Their answers must be the same.
  /// A rival that takes less than `removed_below` has lost its work to the compiler.
  void compare(std::string_view which, make_work subject, std::string_view rival_name,
               make_work rival, std::size_t items = 1, double removed_below = nothing_below);

  /// Nanoseconds a step, without a rival.  `answer` is what the first 1000 steps must return.
  void measure(std::string_view which, make_work subject, std::uint64_t answer);

  /// Times a second of what a step does `items` times, without a rival.
  void measure_rate(std::string_view which, make_work subject, std::uint64_t answer,
                    std::size_t items);

  /// As `compare`, `measure` and `measure_rate`, of what runs have timed: `items` a run, and a run
  /// a repetition.  Every run of those that compare is checked.  Of rates the larger ratio is the
  /// better one.
  void compare_runs(std::string_view which, timed_run subject, std::string_view rival_name,
                    timed_run rival, std::size_t items, summary of = summary::median);
  void compare_rate_runs(std::string_view which, timed_run subject, std::string_view rival_name,
                         timed_run rival, std::size_t items, summary of = summary::median);
  void measure_runs(std::string_view which, timed_run subject, std::uint64_t answer,
                    std::size_t items);
  void measure_rate_runs(std::string_view which, timed_run subject, std::uint64_t answer,
                         std::size_t items);

  /// Seconds of one whole run of each, which takes long enough for that.  Both must return
  /// `answer`.
  void compare_seconds(std::string_view which, std::function<std::uint64_t()> subject,
                       std::string_view rival_name, std::function<std::uint64_t()> rival,
                       std::uint64_t answer);

  /// The same without a rival.
  void measure_seconds(std::string_view which, std::function<std::uint64_t()> subject,
                       std::uint64_t answer);

  /// A figure that is not a time, already known.
  void report(std::string_view which, double value, std::string_view unit);
  /// The same beside a rival's.
  void report(std::string_view which, double value, std::string_view unit, std::string_view rival,
              double rival_value);

  /// Measures and prints.  Returns what main returns: 1 if an answer was wrong, or if the
  /// compiler has removed a rival's work.
  int run();

 private:
  struct row {
    std::string which;
    std::string unit;
    std::optional<double> value;  // given, or the summary of what was measured
    std::string rival;            // empty: none
    std::optional<double> rival_value;
    std::size_t items = 1;  // an iteration of Google Benchmark's
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

/// `v`, of which the compiler no longer knows what it is.
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

/// Times all of it; the answer is what it returns.
template <class Run>
timed whole(Run run) {
  auto const begin = std::chrono::steady_clock::now();
  std::uint64_t const answer = run();
  return {ns_between(begin, std::chrono::steady_clock::now()), answer};
}

/// An object of one of two classes; the compiler cannot know which.  Were there but one, g++ would
/// guess it and inline its functions.
template <class Interface, template <int> class Class, class... Args>
std::unique_ptr<Interface> either(Args... args) {
  if (launder(true)) return std::make_unique<Class<0>>(args...);
  return std::make_unique<Class<1>>(args...);
}

}  // namespace weft::bench
