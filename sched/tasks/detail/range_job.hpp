// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/tasks/detail/task.hpp"
#include "weft/sched/tasks/tasking.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// A range that is done in pieces, by tasks.  The grain is the least size of a piece
/// (parallel.hpp).
///
///   RANGE-1  If the result does not depend on the division, and no piece waits, the worker that
///       does a piece checks after each grain whether the half that it pushed last was taken.  If
///       so, everything that it pushed was taken, as thieves take the oldest first, and it pushes
///       half of what is left.  So without thieves there is one division for each bit of the number
///       of pieces, and with thieves as many more as they cause.
///   RANGE-2  Otherwise the range is divided down to the grain before anything is done.  A range
///       under RANGE-1 is divided in this way, too, if its tasks are processes from their
///       beginning, as where schedules are explored.
///
/// Source of RANGE-1: A. Tzannes, G. C. Caragea, R. Barua, U. Vishkin, Lazy binary-splitting: a
/// run-time adaptive work-stealing scheduler, PPoPP 2010, doi:10.1145/1693453.1693479.  There the
/// worker asks the deque whether it is empty.
namespace weft::detail {

/// The default grain (sched/tasks/parallel.hpp).
[[nodiscard]] constexpr std::size_t usual_grain(std::size_t elements) noexcept {
  std::size_t const range_job = std::clamp<std::size_t>(elements / 1024, 64, 512);
  return std::max<std::size_t>(elements / range_job, 1);
}

/// Adds a failure to `into`; for an `exceptions`, the failures in it instead, as if one process had
/// waited for all tasks at once.
inline void flatten(std::vector<exceptions::failure>& into, exceptions::failure const& what) {
  try {
    std::rethrow_exception(what.error);
  } catch (exceptions const& several) {
    for (auto const& f : several.all) flatten(into, f);
  } catch (...) {
    into.push_back(what);
  }
}

/// Whether the second half of a divided range was taken by another worker.
using taken_flag = std::atomic<bool>;

/// The division of a range into two tasks.  It lies in the frame that has divided the range.
class division {
 public:
  /// `newest`: the flag of the half that this worker pushed last; null if all that it pushed was
  /// taken.
  explicit division(taken_flag const* newest) noexcept : newest_(newest) {}

  /// The flag that the task of one half checks after each grain; null if all that its worker pushed
  /// was taken.
  taken_flag const* newest_for(bool is_second) noexcept {
    // A half with a host was begun as a process: by a worker that had nothing else to do, or
    // because the backend keeps no lazy tasks.
    if (halves[is_second].host) {
      if (is_second) is_taken_.store(true, std::memory_order_relaxed);  // relaxed: seen eventually
      return nullptr;
    }
    return is_second ? newest_ : &is_taken_;
  }

  task const* halves = nullptr;

 private:
  taken_flag is_taken_ = false;
  taken_flag const* newest_;
};

/// The pieces of a range, in the awaiting frame.  `Work` does one piece, from one iterator to
/// another, by do_all(from, to); or, if `Work::awaits`, do_one(element) is awaited for each
/// element.  join(a, b) combines the results of two pieces, and finish() gives the result of all.
/// Several threads call these functions at once.
template <class View, class Work>
class range_job {
  using T = typename Work::result;
  using iterator = std::ranges::iterator_t<View>;
  static constexpr bool is_lazy = std::is_void_v<T> && !Work::awaits;

 public:
  static constexpr bool row_aware_operation = true;
  using result = T;

  range_job(View all, Work w, std::size_t grain)
      : all_(std::move(all)),
        first_(std::ranges::begin(all_)),
        size_(static_cast<std::size_t>(std::ranges::size(all_))),
        grain_(grain == 0 ? usual_grain(size_) : grain),
        work_(std::move(w)) {}
  range_job(range_job const&) = delete;
  range_job& operator=(range_job const&) = delete;

  /// Whether there is nothing to do.
  [[nodiscard]] bool is_ready() const noexcept { return size_ == 0; }
  /// The operation to perform in a coroutine of the row `Row`.
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row, typename Work::effects>()) {
      using effects = typename tasking_in<Row>::type;
      begin<row_set<effects, typename Work::effects>>();
      return typename effects::wait(join_);
    } else {
      return refused<void>();
    }
  }
  /// Yields the result, or throws.  Called when all tasks have ended.
  auto finish() {
    if (size_ != 0 && !answer_.value()) [[unlikely]]
      throw_errors();
    if constexpr (!std::is_void_v<T>)
      return size_ == 0 ? work_.finish() : work_.finish(answer_.take());
  }

 private:
  template <class Row>
  struct in;
  template <class... Es>
  struct in<row<Es...>> {
    using computation = eff<T, Es...>;

    /// Does a part of the range; halves it down to the grain first (RANGE-2).
    static computation run_divided(range_job& all, std::size_t from, std::size_t to) {
      all.require_success();
      try {
        if (all.has_halves(from, to)) {
          std::size_t const middle = middle_of(from, to);
          if constexpr (std::is_void_v<T>) {
            co_await when_all(run_divided(all, from, middle), run_divided(all, middle, to));
          } else {
            auto [a, b] =
                co_await when_all(run_divided(all, from, middle), run_divided(all, middle, to));
            co_return all.work_.join(std::move(a), std::move(b));
          }
        } else if constexpr (Work::awaits) {
          for (; from != to; ++from) co_await all.work_.do_one(*all.at(from));
        } else {
          co_return all.work_.do_all(all.at(from), all.at(to));
        }
      } catch (...) {
        all.note_failure();
        throw;
      }
    }

    /// Does a part of the range; halves it as long as other workers take the halves (RANGE-1).
    static computation run_lazily(range_job& all, std::size_t from, std::size_t to, division* of,
                                  bool is_second) {
      all.require_success();
      taken_flag const* const newest = of ? of->newest_for(is_second) : nullptr;
      try {
        while (all.has_halves(from, to)) {
          // relaxed: seen eventually.
          if (!newest || newest->load(std::memory_order_relaxed)) {
            std::size_t const middle = middle_of(from, to);
            division d(newest);
            std::array both{run_lazily(all, from, middle, &d, false),
                            run_lazily(all, middle, to, &d, true)};
            join_awaitable<range_join<computation, inline_task_array<T, 2>>> tasks(std::size_t{2},
                                                                                   both);
            d.halves = tasks.all().tasks();
            co_await std::move(tasks);
            co_return;
          }
          all.work_.do_all(all.at(from), all.at(from + all.grain_));
          from += all.grain_;
          all.require_success();
        }
        all.work_.do_all(all.at(from), all.at(to));
      } catch (...) {
        all.note_failure();
        throw;
      }
    }

    static computation whole(range_job& all) {
      if constexpr (is_lazy)
        return run_lazily(all, 0, all.size_, nullptr, false);
      else
        return run_divided(all, 0, all.size_);
    }
  };
  template <class Row>
  void begin() {
    if (size_ == 0) return;
    auto const frame = in<Row>::whole(*this).release(internal());
    frame.promise().to = &answer_;
    join_.rows = &task_rows_of<Row>::value;
    whole_.prepare(join_, frame);
  }
  [[nodiscard]] bool has_halves(std::size_t from, std::size_t to) const noexcept {
    return (to - from) / 2 >= grain_;
  }
  [[nodiscard]] static std::size_t middle_of(std::size_t from, std::size_t to) noexcept {
    return from + (to - from) / 2;
  }
  void require_success() const {
    // relaxed: seen eventually.
    if (has_failed_.load(std::memory_order_relaxed)) [[unlikely]]
      throw cancelled();
  }
  void note_failure() noexcept {
    has_failed_.store(true, std::memory_order_relaxed);  // relaxed: seen eventually
  }
  [[nodiscard]] iterator at(std::size_t i) const {
    return first_ + static_cast<std::ranges::range_difference_t<View>>(i);
  }
  [[noreturn, gnu::noinline]] void throw_errors() {
    task_errors errors;
    std::vector<exceptions::failure> all;
    if (auto const e = answer_.error()) flatten(all, {whole_.its_join().owner->id(), e});
    for (auto& f : all) errors.add(f.process, std::move(f.error));
    if (all.empty()) errors.add(whole_, nullptr);
    errors.throw_them();
    std::terminate();
  }

  View all_;
  iterator const first_;
  std::size_t const size_;
  std::size_t const grain_;
  Work work_;
  std::atomic<bool> has_failed_ = false;
  result_slot<T> answer_;
  task whole_;                                         // declared after answer_: refers to it
  join join_{&whole_, 1, task_rows_of<row<>>::value};  // begin() sets the row of the task
};

}  // namespace weft::detail
