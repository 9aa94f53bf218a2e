// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/backends/random_order.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
#include <weft/sched/stealing.hpp>
#include <weft/trace/trace_files.hpp>
#include <weft/trace/tracing.hpp>

namespace examples {

/// The arguments of an example: they select the backend that runs its processes, and a file for the
/// trace of the run: `.html` is a page that shows it, `.json` is for ui.perfetto.dev, `.jsonl` has a
/// line for each event.
///
///     int main(int argc, char** argv) {
///       examples::backend(argc, argv).schedule(hello, weft::console_to_stream(std::cout));
///     }
///
/// An example with an argument of its own passes its description, and may ask for the value.  An
/// unknown argument prints the usage and exits with 2.
class backend {
 public:
  explicit backend(int argc, char** argv, std::string const& own = "");

  /// The example's own argument; empty if it was not given.
  [[nodiscard]] std::string_view argument() const { return argument_; }
  /// Parses a whole number >= 0.
  [[nodiscard]] int number(std::string_view text) const;
  [[noreturn]] void refuse() const;

  /// Under sharing and stealing several threads use the handlers: each handler that does not
  /// declare itself thread_safe gets a lock.
  template <class Program, class... Handlers>
  void schedule(Program program, Handlers&&... handlers) const {
    run(false, std::move(program), std::forward<Handlers>(handlers)...);
  }
  /// The same in virtual time, which passes only when all processes sleep: so it is deterministic,
  /// and takes no real time.
  template <class Program, class... Handlers>
  void schedule_in_virtual_time(Program program, Handlers&&... handlers) const {
    run(true, std::move(program), std::forward<Handlers>(handlers)...);
  }

 private:
  enum class kind { one_thread, sharing, stealing, random };

  template <class Handler>
  static decltype(auto) shareable(Handler&& handler) {
    if constexpr (requires { std::remove_cvref_t<Handler>::thread_safe; })
      return std::forward<Handler>(handler);
    else
      return weft::synchronized(std::forward<Handler>(handler));
  }
  template <class Program, class... Handlers>
  void run(bool virtual_time, Program program, Handlers&&... handlers) const {
    unsigned const threads = threads_ < 0 ? 0 : static_cast<unsigned>(threads_);
    if (which_ == kind::sharing) {
      run_on<weft::sharing>({.threads = threads, .virtual_time = virtual_time}, std::move(program),
                            shareable(std::forward<Handlers>(handlers))...);
    } else if (which_ == kind::stealing) {
      run_on<weft::stealing>({.threads = threads, .virtual_time = virtual_time}, std::move(program),
                             shareable(std::forward<Handlers>(handlers))...);
    } else if (which_ == kind::random) {
      std::uint64_t const seed = seed_ < 0 ? 1 : static_cast<std::uint64_t>(seed_);
      run_on<weft::random_order>({.seed = seed, .virtual_time = virtual_time}, std::move(program),
                                 std::forward<Handlers>(handlers)...);
    } else {
      run_on<weft::one_thread>({.virtual_time = virtual_time}, std::move(program),
                               std::forward<Handlers>(handlers)...);
    }
  }
  template <class Backend, class Program, class... Handlers>
  void run_on(typename weft::scheduler<Backend>::options how, Program program,
              Handlers&&... handlers) const {
    if (trace_file_.empty())
      return weft::schedule<Backend>(how, std::move(program), std::forward<Handlers>(handlers)...);
    weft::trace trace;
    how.trace = &trace;
    try {
      weft::schedule<weft::tracing<Backend>>(how, std::move(program),
                                             std::forward<Handlers>(handlers)...);
    } catch (...) {
      weft::write_trace(trace, trace_file_);
      throw;
    }
    weft::write_trace(trace, trace_file_);
  }

  std::string usage_;
  std::string argument_;
  std::string trace_file_;
  kind which_ = kind::one_thread;
  int threads_ = -1;  // not given
  int seed_ = -1;     // not given
};

}  // namespace examples
