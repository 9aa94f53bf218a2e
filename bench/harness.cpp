// SPDX-License-Identifier: MIT
#include "bench/harness.hpp"

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft::bench {
namespace {

constexpr std::size_t batch = 1000;  // steps between two readings of the clock
constexpr char per_second[] = "1/s";
constexpr char seconds[] = "s";
constexpr int repetitions_of_seconds = 5;  // each takes long, and so varies less
constexpr double shortest_repetition_s = 0.3;

/// Collects the nanoseconds an iteration of every repetition, by the name of the benchmark.
class collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override {
    for (Run const& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        times_[run.run_name.function_name].push_back(run.real_accumulated_time * 1e9 /
                                                     static_cast<double>(run.iterations));
  }
  std::optional<double> ns(std::string const& name, summary of) {
    auto& times = times_[name];
    if (times.empty()) return std::nullopt;
    std::sort(times.begin(), times.end());
    if (of == summary::least) return times.front();
    auto const middle = times.size() / 2;
    return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  }

 private:
  std::map<std::string, std::vector<double>> times_;
};

/// `v`, rounded to that many digits that count.
double with_digits(double v, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, v);
  return std::strtod(text.data(), nullptr);
}

std::string subject_name(std::string const& which) { return which + "/weft"; }
std::string rival_name(std::string const& which, std::string const& rival) {
  return which + "/" + rival;
}

void measure_later(std::string const& name, make_work make) {
  benchmark::RegisterBenchmark(name.c_str(), [make = std::move(make)](benchmark::State& state) {
    work const steps = make();
    for (auto _ : state) {
      auto answer = steps(batch);
      benchmark::DoNotOptimize(answer);
    }
  });
}
void measure_later(std::string const& name, timed_run run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run = std::move(run)](benchmark::State& state) {
                                 for (auto _ : state) {
                                   timed const t = run();
                                   benchmark::DoNotOptimize(t.answer);
                                   state.SetIterationTime(t.ns * 1e-9);
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1);
}

}  // namespace

suite::suite(std::string_view name, int argc, char** argv) : name_(name) {
  arguments_ = {argc > 0 ? argv[0] : "bench", "--benchmark_enable_random_interleaving=true",
                "--benchmark_repetitions=15", "--benchmark_min_time=0.04"};
  CLI::App line("Measures; all other arguments are Google Benchmark's.", name_);
  line.add_flag("--json", json_, "Print one object a line and rival");
  line.add_flag("--quick", quick_, "Measure next to nothing, and check the answers");
  line.allow_extras();
  try {
    line.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    std::exit(line.exit(e));
  }
  if (quick_)
    arguments_.insert(arguments_.end(),
                      {"--benchmark_repetitions=1", "--benchmark_min_time=0.001"});
  auto const others = line.remaining();
  arguments_.insert(arguments_.end(), others.begin(), others.end());
}

void suite::check(std::string const& which, std::uint64_t answer, std::uint64_t expected,
                  std::string_view whose) {
  if (answer == expected) return;
  std::fprintf(stderr, "%s: the answer is %llu and not %.*s%llu\n", which.c_str(),
               static_cast<unsigned long long>(answer), static_cast<int>(whose.size()),
               whose.data(), static_cast<unsigned long long>(expected));
  broken_ = true;
}

// Rows may share a subject or a rival: a name that is registered twice is measured twice, and both
// enter one summary.

void suite::compare(std::string_view which, make_work subject, std::string_view rival,
                    make_work make_rival, std::size_t items, double removed_below) {
  row r{std::string(which), "ns", {}, std::string(rival), {}, batch * items};
  r.removed_below = removed_below;
  check(r.which, subject()(batch), make_rival()(batch), "the rival's ");
  measure_later(subject_name(r.which), std::move(subject));
  measure_later(rival_name(r.which, r.rival), std::move(make_rival));
  rows_.push_back(std::move(r));
}

void suite::measure(std::string_view which, make_work subject, std::uint64_t answer) {
  row r{std::string(which), "ns", {}, {}, {}, batch};
  check(r.which, subject()(batch), answer, "");
  measure_later(subject_name(r.which), std::move(subject));
  rows_.push_back(std::move(r));
}

void suite::measure_rate(std::string_view which, make_work subject, std::uint64_t answer,
                         std::size_t items) {
  measure(which, std::move(subject), answer);
  rows_.back().unit = per_second;
  rows_.back().items *= items;
}

void suite::compare_runs(std::string_view which, timed_run subject, std::string_view rival,
                         timed_run run_rival, std::size_t items, summary of) {
  row r{std::string(which), "ns", {}, std::string(rival), {}, items, of};
  std::uint64_t const answer = run_rival().answer;
  check(r.which, subject().answer, answer, "the rival's ");
  auto const measure_checked = [&](std::string const& name, timed_run run) {
    measure_later(name, [this, name, run = std::move(run), answer] {
      timed const t = run();
      check(name, t.answer, answer, "the first run's ");
      return t;
    });
  };
  measure_checked(subject_name(r.which), std::move(subject));
  measure_checked(rival_name(r.which, r.rival), std::move(run_rival));
  rows_.push_back(std::move(r));
}

void suite::compare_rate_runs(std::string_view which, timed_run subject, std::string_view rival,
                              timed_run run_rival, std::size_t items, summary of) {
  compare_runs(which, std::move(subject), rival, std::move(run_rival), items, of);
  rows_.back().unit = per_second;
}

void suite::measure_runs(std::string_view which, timed_run subject, std::uint64_t answer,
                         std::size_t items) {
  row r{std::string(which), "ns", {}, {}, {}, items};
  check(r.which, subject().answer, answer, "");
  measure_later(subject_name(r.which), std::move(subject));
  rows_.push_back(std::move(r));
}

void suite::measure_rate_runs(std::string_view which, timed_run subject, std::uint64_t answer,
                              std::size_t items) {
  measure_runs(which, std::move(subject), answer, items);
  rows_.back().unit = per_second;
}

// Every timed run is checked; there are no extra runs for the check.
void suite::compare_seconds(std::string_view which, std::function<std::uint64_t()> subject,
                            std::string_view rival, std::function<std::uint64_t()> run_rival,
                            std::uint64_t answer) {
  measure_seconds(which, std::move(subject), answer);
  row& r = rows_.back();
  r.rival = rival;
  measure_seconds_later(rival_name(r.which, r.rival), std::move(run_rival), answer);
}
void suite::measure_seconds(std::string_view which, std::function<std::uint64_t()> subject,
                            std::uint64_t answer) {
  row r{std::string(which), seconds, {}, {}, {}};
  measure_seconds_later(subject_name(r.which), std::move(subject), answer);
  rows_.push_back(std::move(r));
}
void suite::measure_seconds_later(std::string const& name, std::function<std::uint64_t()> run,
                                  std::uint64_t answer) {
  auto const measured = [this, name, run = std::move(run), answer](benchmark::State& state) {
    for (auto _ : state) check(name, run(), answer, "");
  };
  auto* const b = benchmark::RegisterBenchmark(name.c_str(), measured);
  if (quick_)
    b->Iterations(1);
  else
    b->Repetitions(repetitions_of_seconds)->MinTime(shortest_repetition_s);
}

void suite::report(std::string_view which, double value, std::string_view unit) {
  rows_.push_back({std::string(which), std::string(unit), value, {}, {}});
}
void suite::report(std::string_view which, double value, std::string_view unit,
                   std::string_view rival, double rival_value) {
  rows_.push_back({std::string(which), std::string(unit), value, std::string(rival), rival_value});
}

int suite::run() {
  std::vector<char*> argv;
  for (auto& argument : arguments_) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (benchmark::ReportUnrecognizedArguments(argc, argv.data())) return 1;

  collector times;
  if (std::any_of(rows_.begin(), rows_.end(), [](row const& r) { return !r.value; }))
    benchmark::RunSpecifiedBenchmarks(&times);  // it complains if there is none

  if (!json_)
    std::printf("%-28s %12s %-6s %-22s %12s %8s\n", name_.c_str(), "value", "unit", "rival",
                "rival value", "ratio");
  for (row& r : rows_) {
    auto const an_item = [&](std::string const& name) {
      std::optional<double> ns = times.ns(name, r.of);
      if (ns) *ns /= static_cast<double>(r.items);
      return ns;
    };
    bool const is_known = r.value.has_value();
    if (!is_known) r.value = an_item(subject_name(r.which));
    if (!is_known && !r.rival.empty()) r.rival_value = an_item(rival_name(r.which, r.rival));
    if (!r.value) continue;  // filtered out by --benchmark_filter
    if (r.unit == "ns" && r.rival_value && *r.rival_value < r.removed_below) {
      std::fprintf(stderr, "%s: the rival %s takes %.2f ns: its work was removed\n",
                   r.which.c_str(), r.rival.c_str(), *r.rival_value);
      broken_ = true;
    }
    for (auto* const v : {&r.value, &r.rival_value}) {
      if (!*v || is_known) continue;
      if (r.unit == seconds) **v *= 1e-9;
      if (r.unit == per_second) **v = 1e9 / **v;
    }
    print(r);
  }
  return broken_ ? 1 : 0;
}

void suite::print(row const& r) const {
  if (!json_) {
    int const digits = r.unit == seconds ? 3 : 2;
    std::printf("%-28s %12.*f %-6s", r.which.c_str(), digits, *r.value, r.unit.c_str());
    if (r.rival_value)
      std::printf(" %-22s %12.*f %8.2f", r.rival.c_str(), digits, *r.rival_value,
                  *r.value / *r.rival_value);
    std::printf("\n");
    return;
  }
  nlohmann::ordered_json line = {
      {"bench", name_},  {"case", r.which},  {"value", with_digits(*r.value, 4)},
      {"unit", r.unit},  {"rival", nullptr}, {"rival_value", nullptr},
      {"ratio", nullptr}};
  if (r.rival_value) {
    line["rival"] = r.rival;
    line["rival_value"] = with_digits(*r.rival_value, 4);
    line["ratio"] = with_digits(*r.value / *r.rival_value, 4);
  }
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace weft::bench
