// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <future>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/each_backend.hpp"
#include "tests/support/operator_new.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/base/errors.hpp"

/// For a test of one source file, whose operator new this replaces: the n-th allocation of a
/// program fails, for every n, or several in a row do.
///
/// A program runs in a child process of the test, so that a crash, or a run that never ends, is a
/// failure like another.
namespace weft::tests {

/// Selects the allocations that fail, of those made while it is armed, on any thread.
class failing_memory {
 public:
  static void arm(long first, long in_a_row) noexcept {
    first_ = first;
    last_ = first + in_a_row;
    next_ = 0;
  }
  /// Returns whether one has failed.
  static bool disarm() noexcept {
    long const made = next_.exchange(never);
    return made > first_;
  }
  static bool admit() noexcept {
    if (next_ < 0) return true;
    long const n = next_++;
    return n < first_ || n >= last_;
  }

 private:
  static constexpr long never = std::numeric_limits<long>::min() / 2;
  static inline std::atomic<long> next_ = never;
  static inline std::atomic<long> first_ = 0;
  static inline std::atomic<long> last_ = 0;
};

bool admit(allocation const&) noexcept { return failing_memory::admit(); }

/// A program: returns its result, the same each time; or throws.
struct program_without_memory {
  char const* name;
  std::string (*call)(chosen_backend);
  chosen_backend where;

  [[nodiscard]] std::string run() const { return call(where); }
};

/// Which allocations fail.
struct failures_to_try {
  long in_a_row = 1;
  long first = 0;
  long apart = 1;  ///< Only every `apart`-th of them.
};

/// The result.
struct tried {
  long runs = 0;
  long places = 0;                 ///< Allocations that failed.
  std::vector<std::string> wrong;  ///< The failures of the test, each with its place.
};

namespace in_child {

/// The messages of a child to the test, in shared memory.
struct said_by_child {
  std::atomic<long> at = 0;
  std::atomic<long> runs = 0;
  std::atomic<bool> is_done = false;
  std::array<char, 400> what{};

  void say(std::string_view text) noexcept {
    std::size_t const n = std::min(text.size(), what.size() - 1);
    std::copy_n(text.begin(), n, what.begin());
    what[n] = 0;
  }
};

/// Whether the program has failed for lack of memory; else `what` is set to its exception.
inline bool is_for_want_of_memory(std::exception_ptr const& error, std::string& what) {
  try {
    std::rethrow_exception(error);
  } catch (std::bad_alloc const&) {
    return true;
  } catch (exceptions const& all) {
    what = all.what();
    return std::ranges::any_of(all.all, [](auto const& f) {
      std::string one;
      return is_for_want_of_memory(f.error, one);
    });
  } catch (std::exception const& e) {
    what = e.what();
    return what.find("no memory") != std::string::npos;
  } catch (...) {
    what = "something else";
  }
  return false;
}

/// Runs the program once, with that allocation failing.  False if none failed.
inline bool run_without(program_without_memory const& p, std::string const& expected, long n,
                        long in_a_row, said_by_child& says) {
  auto const frames = weft::detail::frames_so_far().alive();
  long const blocks = live_blocks;
  bool has_failed = false;
  std::string what;
  {
    std::string came_to;
    std::exception_ptr error;
    failing_memory::arm(n, in_a_row);
    try {
      came_to = p.run();
    } catch (...) {
      error = std::current_exception();
    }
    has_failed = failing_memory::disarm();
    if (error) {
      std::string thrown;
      if (!is_for_want_of_memory(error, thrown)) what += " threw " + thrown;
    } else if (came_to != expected) {
      what += " came to " + came_to + " for " + expected;
    }
  }
  if (weft::detail::frames_so_far().alive() != frames) what += " frames are left";
  if (what.empty() && !weft::detail::pooling && live_blocks != blocks)
    what = std::to_string(live_blocks - blocks) + " blocks are left";
  if (!what.empty()) {
    says.say(what);
    _exit(2);
  }
  return has_failed;
}

inline void run_child(program_without_memory const& p, failures_to_try const& how,
                      said_by_child& says) {
  long const n = says.at;
  says.say("with memory");
  alarm(60);
  std::string const expected = p.run();
  (void)p.run();
  for (says.at = n;; says.at += how.apart) {
    alarm(10);
    says.say("ended the program");
    ++says.runs;
    if (!run_without(p, expected, says.at, how.in_a_row, says)) break;
  }
  says.is_done = true;
}

}  // namespace in_child

/// Runs the program until a run has no allocation that fails.
inline void try_without_memory(program_without_memory const& p, failures_to_try const& how,
                               std::string_view where, tried& all) {
  using said = in_child::said_by_child;
  void* const shared =
      mmap(nullptr, sizeof(said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  said& says = *::new (shared) said;
  says.at = how.first;
  while (!says.is_done) {
    pid_t const child = ::fork();
    if (child < 0) throw std::bad_alloc();
    if (child == 0) {
      in_child::run_child(p, how, says);
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) != child) {
    }
    if (status == 0) continue;
    std::string text(where);
    text += std::string(", ") + p.name + ", allocation " + std::to_string(says.at) + " and " +
            std::to_string(how.in_a_row - 1) + " more: " + says.what.data();
    if (WIFSIGNALED(status))
      text += WTERMSIG(status) == SIGALRM ? " (did not end)"
                                          : " (signal " + std::to_string(WTERMSIG(status)) + ")";
    all.wrong.push_back(std::move(text));
    says.at += how.apart;
  }
  all.runs += says.runs;
  all.places += (says.at - how.first) / how.apart;
  munmap(shared, sizeof(said));
}

}  // namespace weft::tests
