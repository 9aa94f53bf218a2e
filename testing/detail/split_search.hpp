// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/testing/detail/dpor_strategy.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/exploration.hpp"

/// Several threads visit the schedules of a strategy within bounds.  The result is that of one
/// thread with the same bounds.
///
///   SPLIT-1  The tree of choices is cut into parts.  Each is an interval of the order in which one
///       thread visits the schedules, and the list of parts is in that order.  The thread that
///       visits a part may give away the end of that part, which then is the next one in the list.
///   SPLIT-2  The results of the parts are added up in the order of the list.  So the first
///       failure, the path of each outcome, and the order of the outcomes are those of one thread.
///   SPLIT-3  A part that ends the search, by a failure or by the limit of schedules, ends it for
///       all parts behind it; those before it are visited to their ends.  If a part passes the
///       limit, or reaches it and then has runs that do not count, the beginning of that part is
///       visited again.  When the time is up, the results are those of all parts, as far as they
///       were visited.
///   SPLIT-4  A part is given away at its choice nearest to the root that has candidates left:
///       most schedules are behind that choice.  A search that reduces gives parts away only at
///       choices where it tries all candidates from the beginning: at other ones races may add
///       candidates (DPOR-11).
///   SPLIT-5  The list and its parts are accessed under the lock; but `begin` is constant,
///       `was_ended` is atomic, and the results of a part belong to the thread that visits it.
namespace weft::detail {

/// `Strategy` visits the parts: every_schedule, or dpor_strategy.
template <class Strategy>
class split_search {
 public:
  using bounds = typename Strategy::bounds;

  split_search(subject& s, search_limits const& l, unsigned threads);
  split_search(split_search const&) = delete;
  split_search& operator=(split_search const&) = delete;
  ~split_search() = default;

  /// Visits all schedules within the bounds.  False if the search has ended.
  [[nodiscard]] bool visit(bounds const& within);
  /// Whether the bound has excluded a schedule in the last visit.
  [[nodiscard]] bool is_pruned() const noexcept { return is_pruned_; }
  [[nodiscard]] exploration& found() noexcept { return found_; }
  /// Reports the progress a last time, at the end of the search, and returns its results.
  [[nodiscard]] exploration end() {
    if (line_.is_shown()) line_.tell_end(found_, search::clock::now() - start_);
    return std::move(found_);
  }

 private:
  struct part {
    explicit part(typename Strategy::part b) : begin(std::move(b)) {}
    typename Strategy::part const begin;
    typename std::list<part>::iterator place{};
    std::atomic<bool> was_ended = false;  // its result is not needed any more (SPLIT-3)
    exploration found;
    bool was_visited = false;
    bool ends_search = false;
    bool ends_uncounted = false;  // the last run of the part does not count
    bool is_late = false;
    bool is_pruned = false;
  };
  /// The numbers of schedules, failures and deadlocks of one thread, for the line of progress.
  struct counts {
    std::array<std::atomic<std::size_t>, 3> numbers{};
    void set(std::array<std::size_t, 3> const& to) noexcept {
      for (std::size_t i = 0; i != to.size(); ++i)
        numbers[i].store(to[i], std::memory_order_relaxed);  // relaxed: only for the progress line
    }
    [[nodiscard]] std::size_t operator[](std::size_t i) const noexcept {
      return numbers[i].load(std::memory_order_relaxed);  // relaxed: only for the progress line
    }
  };
  void work(unsigned thread, bounds const& within) noexcept;
  /// Waits for a part to visit.  Null if none is left.
  [[nodiscard]] part* take_part();
  void visit_part(part& p, search& by, bounds const& within, counts* seen);
  void give_part(part& from, Strategy& c);
  void note_visited(part& p);
  void end_parts_from(typename std::list<part>::iterator first) noexcept;
  void fail(std::exception_ptr error) noexcept;
  /// Adds up the results.  False if the search has ended.
  [[nodiscard]] bool add_results(bounds const& within);
  /// The limits for the visit of a part, with at most that many schedules.
  [[nodiscard]] search_limits limits_of_part(std::size_t max_schedules) const noexcept;
  void tell();

  subject& subject_;
  search_limits const limits_;
  unsigned const threads_;
  search::clock::time_point const start_ = search::clock::now();
  progress_line line_;
  std::vector<counts> seen_;     // of each thread
  exploration found_;            // the results of the calls of visit() that are over
  search::known_results known_;  // the results in found_ when visit() began
  bool is_pruned_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards the members down to failure_ (SPLIT-5).
  std::list<part> parts_;
  std::vector<part*> open_;  // parts that no thread has begun
  unsigned working_ = 0;     // threads that were started
  unsigned idle_ = 0;        // threads that wait for a part
  std::exception_ptr failure_;

  std::atomic<bool> is_part_wanted_ = false;  // a hint: a thread waits for a part
};

/// Visits one, or few, of schedules that are alike (dpor_strategy.hpp).  With several threads, all
/// candidates of the first choices are tried, so that parts can be given away (DPOR-11).
[[nodiscard]] exploration visited_reduced(subject& s, search_limits const& l, unsigned threads);

extern template class split_search<every_schedule>;
extern template class split_search<dpor_strategy>;

}  // namespace weft::detail
