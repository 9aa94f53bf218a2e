// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>

#include "deque/detail/asymmetric_fence.hpp"
#include "deque/detail/steal_ends.hpp"
#include "deque/taken.hpp"

namespace weft {

/// The memory orders of the labels.
struct chase_lev_orders : steal_orders {
  static constexpr auto claims = std::memory_order_seq_cst;        // [7]
  static constexpr auto looks_at_top = std::memory_order_seq_cst;  // [8]
  static constexpr auto sees_top = std::memory_order_seq_cst;      // [9]
  static constexpr auto sees_bottom = std::memory_order_seq_cst;   // [9]
  static constexpr auto takes = std::memory_order_seq_cst;         // [10]
};

/// The same, where the owner is to pay as little as can be, and thieves pay for it (STEAL-7).
struct interrupting_orders : chase_lev_orders {
  using fence = detail::asymmetric_fence;
  static constexpr auto claims_lightly = std::memory_order_release;        // [11]
  static constexpr auto looks_at_top_lightly = std::memory_order_relaxed;  // [11]
};

/// Where those who steal put what they have no time for: a deque of their own, say.
template <class Into, class T>
concept takes_in = requires(Into& into, T x, std::size_t n) {
  into.reserve(n);  // what follows may not throw then
  into.push(x);
};

/// The deque of a worker: its owner pushes and pops at the bottom, last in, first out; thieves take
/// at the top what has been there longest.  The object is the owner's end; a `thief` is what the
/// others have:
///
///     weft::chase_lev<task*> d;
///     d.push(&a);
///     weft::chase_lev<task*>::thief others(d);  // to another thread
///     if (auto t = others.steal()) run(*t);
///     if (auto t = d.try_pop()) run(*t);
///
/// Everything is lock-free but growing.  Push and pop are O(1), a pop costs one locked instruction,
/// and two if it takes the last one, but none where there are no thieves; a steal is one
/// compare-and-swap.  With `interrupting_orders`, for what is seldom stolen, a pop costs one if it
/// takes the last one, and a steal a call of the system, which may wait.  Nothing is allocated but
/// larger arrays.  Not for what must be taken in the order in which it came: steal_queue.
///
///   STEAL-1 to STEAL-4 are in detail/steal_ends.hpp.
///   STEAL-5  Everyone takes one item at a time, a thief by moving top from t to t + 1.  The owner moves
///       top too if it takes the last one.  It takes item b without, if it has first lowered bottom
///       to b [7] and then found top below b [8].  A thief looks at top, and then at bottom [9].
///       These four, and [10], are seq_cst.  So who finds that top has come to b, which is after
///       the owner's look in their one order, finds a bottom that says that there is no item b, or
///       one that has been pushed since.
///   STEAL-7  With `interrupting_orders` there is a light fence between the owner's store and its look
///       [11], and a heavy one between a thief's two looks [9] (asymmetric_fence.hpp, FENCE-1).  If the
///       light one is first, the thief finds b at bottom, or what was stored since.  If the heavy
///       one is, the owner finds at top what the thief found, or more.  So who finds that top has
///       come to b, and the owner did not, finds such a bottom as in STEAL-5.  The same fences stand for
///       [5] and [6]: the light one between a push and the look whether somebody sleeps, the heavy
///       one between saying that one will and looking for work.
///
/// Thieves who take half do so one by one, each with its own look at bottom; why not all at once is
/// in docs/decisions/011-stealing-half.md.
///
/// Source: D. Chase, Y. Lev, Dynamic circular work-stealing deque, SPAA 2005,
/// doi:10.1145/1073970.1073974; the orders, with operations in place of fences, from N. M. Lê,
/// A. Pop, A. Cohen, F. Zappa Nardelli, Correct and efficient work-stealing for weak memory models,
/// PPoPP 2013, doi:10.1145/2442516.2442524.
template <class T, class Orders = chase_lev_orders>
class basic_chase_lev : private detail::steal_ends<T, Orders> {
  using ends = detail::steal_ends<T, Orders>;
  using typename ends::index;
  static constexpr bool may_interrupt = requires { typename Orders::fence; };

 public:
  /// What those have who are not the owner.  Not longer than the deque lives.
  class thief {
   public:
    explicit thief(basic_chase_lev& from) noexcept : from_(&from) {}

    /// The one that has been there longest.  `lost` if somebody else took that meanwhile.
    [[nodiscard]] taken<T> steal() const noexcept { return from_->steal(); }

    /// What stealing half came to.
    struct half {
      taken<T> first;
      std::size_t others = 0;  ///< How many were pushed.
    };
    /// Half of what is there now, at least one and `most` at the most: the first one, and the
    /// others pushed into a deque of one's own, in the order in which they stood.  Fewer if others
    /// take some meanwhile.  Throws std::bad_alloc, and then nothing is stolen.
    template <takes_in<T> Into>
    [[nodiscard]] half steal_half(Into& into, std::size_t most) const {
      std::size_t const n = std::min(size() / 2, most);
      if (n > 1) into.reserve(n - 1);
      half h{steal()};
      if (!h.first) return h;
      for (; h.others + 1 < n; ++h.others) {
        auto const next = steal();
        if (!next) break;
        into.push(*next);
      }
      return h;
    }

    /// Whether there was nothing, at some moment.  See publish().
    [[nodiscard]] bool is_empty() const noexcept { return from_->is_empty(); }
    /// A hint.
    [[nodiscard]] std::size_t size() const noexcept { return from_->size(); }

   private:
    basic_chase_lev* from_;
  };

  /// With room for so many, or a few more.  Throws std::bad_alloc.
  explicit basic_chase_lev(std::size_t room = 64) : ends(room) {}

  /// Thieves are not to interrupt (STEAL-7), though its orders say so: there are too many, perhaps.
  /// Before there are any.
  void do_not_interrupt() noexcept
    requires may_interrupt
  {
    interrupts_ = false;
  }

  using ends::is_empty;
  using ends::push;
  using ends::reserve;
  using ends::size;
  using ends::try_push_all;

  /// Between a push and a look whether somebody sleeps: detail/steal_ends.hpp.  No locked
  /// instruction if thieves interrupt; but then who sleeps calls before_last_look().
  void publish() noexcept {
    if constexpr (may_interrupt)
      if (interrupts_) return Orders::fence::light();  // STEAL-7
    ends::publish();
  }
  /// What somebody calls who has announced that he sleeps, before he asks is_empty() of it, or of
  /// any of its kind.
  void before_last_look() const noexcept
    requires may_interrupt
  {
    if (interrupts_) Orders::fence::heavy();  // STEAL-7
  }

  /// The one that was pushed last.  Never `lost`: who loses the last one has none left.
  [[nodiscard]] taken<T> try_pop() noexcept {
    // Relaxed: bottom and the array are ours (STEAL-2).
    index const b = this->bottom_.load(std::memory_order_relaxed) - 1;
    if (b < this->top_seen_) return missed::empty;
    T const x = this->array_.load(std::memory_order_relaxed)->get(b);
    index t = lower_bottom(b);
    if (t < b) return x;
    // [10] seq_cst: STEAL-5.  Relaxed if it fails: then it is gone, whoever has it.
    bool const is_ours = t == b && this->top_.compare_exchange_strong(t, b + 1, Orders::takes,
                                                                      std::memory_order_relaxed);
    this->top_seen_ = b + 1;
    // Relaxed: nothing stands below it.
    this->bottom_.store(b + 1, std::memory_order_relaxed);
    if (!is_ours) return missed::empty;
    return x;
  }
  /// The owner's: the one that has been there longest.  `lost` if somebody else took that
  /// meanwhile.
  [[nodiscard]] taken<T> take_oldest() noexcept { return steal(true); }
  /// The one that was pushed last, where there never are thieves: no locked instruction.
  [[nodiscard]] taken<T> try_pop_alone() noexcept {
    // Relaxed, all of it: nobody else is there.
    index const b = this->bottom_.load(std::memory_order_relaxed) - 1;
    if (b < this->top_.load(std::memory_order_relaxed)) return missed::empty;
    this->bottom_.store(b, std::memory_order_relaxed);
    return this->array_.load(std::memory_order_relaxed)->get(b);
  }

 private:
  /// And then looks at top.
  [[nodiscard]] index lower_bottom(index b) noexcept {
    if constexpr (may_interrupt)
      if (interrupts_) {
        this->bottom_.store(b, Orders::claims_lightly);        // [11] release: as a push
        Orders::fence::light();                                // STEAL-7
        return this->top_.load(Orders::looks_at_top_lightly);  // [11] relaxed: STEAL-7
      }
    this->bottom_.store(b, Orders::claims);        // [7] seq_cst: STEAL-5; and release, as a push
    return this->top_.load(Orders::looks_at_top);  // [8] seq_cst: STEAL-5
  }
  /// The owner sees what it has stored.
  [[nodiscard]] taken<T> steal(bool is_owner = false) noexcept {
    // [9] seq_cst: STEAL-5; acquire: with [1], [7] and [11].
    index t = this->top_.load(Orders::sees_top);
    if constexpr (may_interrupt)
      if (interrupts_ && !is_owner) {
        if (this->is_empty()) return missed::empty;  // nobody is interrupted for nothing
        Orders::fence::heavy();                      // STEAL-7
      }
    index const b = this->bottom_.load(Orders::sees_bottom);
    if (b <= t) return missed::empty;
    // [4] acquire: with [3].
    T const x = this->array_.load(Orders::sees_array)->get(t);
    // [10] seq_cst: STEAL-5; release: the cell is read before the owner may write there again [2].
    // Relaxed if it fails: what was read is of no use.
    if (!this->top_.compare_exchange_strong(t, t + 1, Orders::takes, std::memory_order_relaxed))
      return missed::lost;
    return x;
  }

  [[nodiscard]] static bool is_able_to_interrupt() noexcept {
    if constexpr (may_interrupt)
      return Orders::fence::exists();
    else
      return false;
  }
  bool interrupts_ = is_able_to_interrupt();
};

template <class T>
using chase_lev = basic_chase_lev<T>;

}  // namespace weft
