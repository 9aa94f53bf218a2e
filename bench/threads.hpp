// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

/// Facts about threads for benches: which thread this is, how often the threads have done
/// something, how much processor time they used, whether they sleep.
namespace weft::bench {

/// An address for each thread.  Not inlined, and declared to touch memory: the compiler assumes
/// that a function, even a coroutine, stays on its thread, and would read it only once.
[[gnu::noinline]] inline char const* this_thread() {
  static thread_local char const mark = 0;
  char const* at = &mark;
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

/// Counts events of all threads; each thread has an instance of its own.
class count {
 public:
  count() {
    std::lock_guard const lock(all().mutex);
    all().alive.push_back(this);
  }
  count(count const&) = delete;
  count& operator=(count const&) = delete;
  ~count() {
    std::lock_guard const lock(all().mutex);
    std::erase(all().alive, this);
    all().of_the_dead += n_.load(std::memory_order_relaxed);  // this thread's own
  }
  void add() {
    // Relaxed: only this thread writes.
    n_.store(n_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Requires that no thread counts meanwhile.
  static std::uint64_t sum() {
    std::lock_guard const lock(all().mutex);
    std::uint64_t n = all().of_the_dead;
    for (count const* c : all().alive) n += c->n_.load(std::memory_order_relaxed);  // as above
    return n;
  }

 private:
  struct all_threads {
    std::mutex mutex;
    std::vector<count*> alive;
    std::uint64_t of_the_dead = 0;
  };
  static all_threads& all() {
    static all_threads e;
    return e;
  }
  alignas(64) std::atomic<std::uint64_t> n_ = 0;
};

/// Milliseconds of processor time used so far.
inline double processor_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto const ms = [](timeval t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

/// Whether no other thread runs or is runnable.
inline bool all_others_sleep() {
  std::string const self = std::to_string(gettid());
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == self) continue;
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);  // "12 (name) S ..."
    auto const name_end = line.rfind(") ");
    if (name_end != line.npos && line[name_end + 2] == 'R') return false;
  }
  return true;
}

}  // namespace weft::bench
