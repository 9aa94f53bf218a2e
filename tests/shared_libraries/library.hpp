// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/commands/unique_any.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// The abilities of each module of these tests: the program and two shared libraries.  All have one
/// source, library.cpp; with hidden visibility each has types, tables and functions of its own.
namespace weft::tests {

struct ask {
  struct get : op<int> {};
  using operations = op_list<get>;
};
struct pick {
  struct one : op<int> {};
  using operations = op_list<one>;
};
/// A message of a type that only these modules use.
struct message {
  int n;
};
struct trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using whole_row = row<ask, proc, syncing, mail, routing, completions, timing>;
using job = eff<void, whole_row>;
using parent = eff<void, spawning<whole_row>, tasking<whole_row>, whole_row>;
template <class T, class... More>
using tasks = eff<T, tasking<whole_row>, whole_row, More...>;
using program = std::function<parent()>;
using snapshot = scheduler<>::snapshot;
enum class backends { one_thread, sharing, stealing };
enum class thrown { nothing, trouble, eff_empty, cancelled, no_senders };

class library {
 public:
  library() = default;
  library(library const&) = delete;
  library& operator=(library const&) = delete;

  // ---- computations

  /// Adds up the answers of `n` operations, each performed in a call of its own.
  [[nodiscard]] virtual eff<int, ask> sums(int n) const = 0;
  /// Handles and runs `body`.
  [[nodiscard]] virtual int answers(int with, eff<int, ask> body) const = 0;
  /// As answers(); each operation is answered by `to`, which resumes with 7.
  [[nodiscard]] virtual int answers_by(library const& to, eff<int, ask> body) const = 0;
  [[nodiscard]] virtual int resumes(resumption<int, int> k) const = 0;
  /// Destroys `body` before it is awaited.
  virtual void drops(eff<int, ask> body) const = 0;
  /// Destroys `body` while it is suspended.
  virtual void unwinds(eff<int, ask> body) const = 0;
  [[nodiscard]] virtual eff<int, ask> throws(thrown what) const = 0;
  /// Runs `body` and returns the kind of its exception.
  [[nodiscard]] virtual thrown catches(eff<int, ask> body) const = 0;
  /// A number of three bits, each of which is picked.
  [[nodiscard]] virtual eff<int, pick> picks() const = 0;
  /// Resumes each operation of `of` twice: by replay, or bitwise.
  [[nodiscard]] virtual std::vector<int> tries_all(library const& of, bool is_bitwise) const = 0;
  /// The count of frames that this module sees.
  [[nodiscard]] virtual detail::frame_count frames() const = 0;

  [[nodiscard]] virtual unique_any packs(int n) const = 0;
  [[nodiscard]] virtual int unpacks(unique_any& p) const = 0;
  /// A value of a type in an unnamed namespace, or of a type that is local to a static function.
  [[nodiscard]] virtual unique_any packs_own(bool is_local) const = 0;
  [[nodiscard]] virtual bool has_packed_own(unique_any const& p, bool is_local) const = 0;

  // ---- processes

  /// Runs `p`; each ask::get is answered with 7.
  virtual void runs(backends on, program p) const = 0;
  /// Yields between operations to a handler inside, and appends each answer.
  [[nodiscard]] virtual job counts(std::string& to, char name, int times) const = 0;
  [[nodiscard]] virtual job increments(mutex& m, long& n, int times) const = 0;
  /// Spawns `n` processes of `of`, each of which adds 7.
  [[nodiscard]] virtual parent spawns(library const& of, std::atomic<int>& sum, int n) const = 0;
  [[nodiscard]] virtual job adds(std::atomic<int>& sum) const = 0;
  [[nodiscard]] virtual parent forks(std::string& to) const = 0;
  [[nodiscard]] virtual job receives(int& sum, int n) const = 0;
  [[nodiscard]] virtual job sends(process_id to, int n) const = 0;
  /// Runs a scheduler to which two threads submit; the threads run code of `by`.
  virtual void is_submitted_to(library const& by, std::atomic<int>& sum, int n) const = 0;
  virtual void submits(submitter<sharing, whole_row> const& to, std::atomic<int>& sum,
                       int n) const = 0;
  /// Fibonacci numbers, with a task for each call.
  [[nodiscard]] virtual tasks<int> fib(library const& of, int n) const = 0;
  /// Performs an operation in a scope while a task waits.  Counts the end of both.
  [[nodiscard]] virtual tasks<int, pick> asks_in_scope(int& ends) const = 0;
  /// Handles `body`, and drops its continuation at its operation.
  [[nodiscard]] virtual tasks<int> gives_up(tasks<int, pick> body) const = 0;

  // ---- checkpoints and schedules

  [[nodiscard]] virtual snapshot checkpoint() const = 0;
  /// Makes `n` schedulers.  Returns whether one of them runs the checkpoint of another scheduler.
  [[nodiscard]] virtual bool run_any(snapshot const& from, int n) const = 0;
  /// The choice of a handler between two ways.
  [[nodiscard]] virtual std::size_t decides() const = 0;

 protected:
  ~library() = default;
};

}  // namespace weft::tests

extern "C" {
[[gnu::visibility("default")]] weft::tests::library const* program_library();
[[gnu::visibility("default")]] weft::tests::library const* first_library();
[[gnu::visibility("default")]] weft::tests::library const* second_library();
}
