// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>

#include "weft/deque/detail/asymmetric_fence.hpp"
#include "weft/deque/detail/steal_ends.hpp"
#include "weft/deque/taken.hpp"

namespace weft {

/// The memory orders of the accesses that have the labels [7] to [11] in a chase_lev.
struct chase_lev_orders : steal_orders {
  static constexpr auto claims = std::memory_order_seq_cst;        // [7] a pop lowers bottom
  static constexpr auto looks_at_top = std::memory_order_seq_cst;  // [8] a pop reads top
  static constexpr auto sees_top = std::memory_order_seq_cst;      // [9] a steal reads top
  static constexpr auto sees_bottom = std::memory_order_seq_cst;   // [9] a steal reads bottom
  static constexpr auto takes = std::memory_order_seq_cst;         // [10] a take moves top
};

/// Memory orders by which a pop costs the owner less, and a steal costs a thief more (STEAL-7).
struct interrupting_orders : chase_lev_orders {
  using fence = detail::asymmetric_fence;
  static constexpr auto claims_lightly = std::memory_order_release;  // [11] a pop lowers bottom
  static constexpr auto looks_at_top_lightly = std::memory_order_relaxed;  // [11] a pop reads top
};

/// The destination of steal_half for all stolen items but the first: the thief's own deque, say.
template <class Into, class T>
concept takes_in = requires(Into& into, T x, std::size_t n) {
  into.reserve(n);  // the next n pushes do not throw
  into.push(x);
};

/// The deque of a worker: the owner pushes and pops at the bottom, last in, first out; thieves
/// steal the oldest item, at the top.  The object is the owner's end; other threads use a `thief`:
///
///     weft::chase_lev<task*> d;
///     d.push(&a);
///     weft::chase_lev<task*>::thief others(d);  // to another thread
///     if (auto t = others.steal()) run(*t);
///     if (auto t = d.try_pop()) run(*t);
///
/// All operations but growth are lock-free.  Push and pop are O(1).  A pop costs one seq_cst store
/// (a locked instruction on x86), and a compare-and-swap if it takes the last item; try_pop_alone()
/// costs neither.  A steal is one compare-and-swap.  With `interrupting_orders`, meant for items
/// that are seldom stolen, a pop costs the compare-and-swap for the last item only, and a steal
/// costs a system call, which may wait.  Nothing but a larger array is ever allocated.  Used by the
/// owner's thread only, except through a thief.  When not to use it: if items must leave in the
/// order in which they came; use steal_queue.
///
/// STEAL-1 to STEAL-4 are in detail/steal_ends.hpp.
///   STEAL-5  Each operation takes one item; a thief moves top from t to t + 1.  The owner moves
///       top only to take the last item.  To take item b, the owner first lowers bottom to b [7],
///       and then reads top [8]: if top is below b, the owner has item b, and top stays where it
///       is.  A thief reads top, and then bottom [9].  These four accesses, and [10], are seq_cst,
///       so they have a single order.  Suppose that the owner has read a top below b, and that a
///       thief reads a top of b.  Since top only grows, the thief's read of top comes later in that
///       order than the owner's, and so does its read of bottom.  Hence the thief reads bottom as
///       b, or as stored later: there is no item b, or item b has been pushed again.
///   STEAL-7  With `interrupting_orders` a light fence stands between the owner's store and its
///       read [11], and a heavy one between a thief's two reads [9] (asymmetric_fence.hpp,
///       FENCE-1).  If the light fence comes first, the thief reads bottom as b, or as stored
///       later.  If the heavy one comes first, the owner reads the top that the thief has read, or
///       a larger one.  So if a thief reads a top of b, and the owner has read a top below b, the
///       light fence came first, and the thief reads bottom as in STEAL-5.  The same fences take
///       the place of [5] and [6]: the light one stands between a push and the check for sleeping
///       threads, the heavy one between the announcement of a sleep and the last look for work.
///
/// steal_half steals one by one, and reads bottom again for each item.
/// docs/decisions/011-stealing-half.md says why a batch in one compare-and-swap would be unsound.
///
/// Source: D. Chase, Y. Lev, Dynamic circular work-stealing deque, SPAA 2005,
/// doi:10.1145/1073970.1073974; the orders, with operations in place of fences, from N. M. Lê, A.
/// Pop, A. Cohen, F. Zappa Nardelli, Correct and efficient work-stealing for weak memory models,
/// PPoPP 2013, doi:10.1145/2442516.2442524.
template <class T, class Orders = chase_lev_orders>
class basic_chase_lev : private detail::steal_ends<T, Orders> {
  using ends = detail::steal_ends<T, Orders>;
  using typename ends::index;
  static constexpr bool may_interrupt = requires { typename Orders::fence; };

 public:
  /// The end that all other threads use.  It must not outlive the deque.  Thread safe.
  class thief {
   public:
    explicit thief(basic_chase_lev& from) noexcept : from_(&from) {}

    /// Takes the oldest item; `lost` if another thread took it during the call.
    [[nodiscard]] taken<T> steal() const noexcept { return from_->steal(); }

    /// The result of steal_half.
    struct half {
      taken<T> first;          ///< The oldest item.
      std::size_t others = 0;  ///< How many items were pushed.
    };
    /// Steals half of the items, at most `most` but at least one: returns the oldest one and pushes
    /// the others into `into`, in their order.  Steals fewer if other threads take some meanwhile.
    /// O(n) in the items that it steals; allocates room in `into`.  If it throws std::bad_alloc,
    /// nothing is stolen.
    template <takes_in<T> Into>
    [[nodiscard]] half steal_half(Into& into, std::size_t most) const {
      std::size_t const share = size() / 2;
      std::size_t const n = share < most ? share : most;
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

    /// True only if the deque was empty at some moment of the call.  See publish().
    [[nodiscard]] bool is_empty() const noexcept { return from_->is_empty(); }
    /// The number of items, as a hint: it may be out of date.
    [[nodiscard]] std::size_t size() const noexcept { return from_->size(); }

   private:
    basic_chase_lev* from_;
  };

  /// Makes an empty deque with room for at least `room` items.  Throws std::bad_alloc.
  explicit basic_chase_lev(std::size_t room = 64) : ends(room) {}

  /// Turns off the fences of STEAL-7 that the orders ask for, for example because there are too
  /// many thieves.  Call it before the first thief exists.
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

  /// Orders a push before the check for sleeping threads that follows: call it between the two (see
  /// detail/steal_ends.hpp).  With the fences of STEAL-7 it costs no instruction, but then a thread
  /// that is about to sleep must call before_last_look().
  void publish() noexcept {
    if constexpr (may_interrupt)
      if (interrupts_) return Orders::fence::light();  // between push and check (STEAL-7)
    ends::publish();
  }
  /// Orders the announcement of a sleep before the calls of is_empty() that follow, of any number
  /// of deques.  If such a call does not see a push, then the owner's check after its publish()
  /// sees the announcement.
  void before_last_look() const noexcept
    requires may_interrupt
  {
    if (interrupts_) Orders::fence::heavy();  // between announcement and look (STEAL-7)
  }

  /// Takes the newest item.  Never `lost`: if a thief takes the last item first, the deque is
  /// empty.
  [[nodiscard]] taken<T> try_pop() noexcept {
    // Relaxed: only the owner writes bottom and the array (STEAL-2).
    index const b = this->bottom_.load(std::memory_order_relaxed) - 1;
    if (b < this->top_seen_) return missed::empty;
    T const x = this->array_.load(std::memory_order_relaxed)->get(b);  // relaxed: as for bottom
    index t = lower_bottom(b);
    if (t < b) return x;
    // [10] seq_cst: in one order with [7] to [9] (STEAL-5).  Relaxed on failure: nothing is taken.
    bool const is_ours = t == b && this->top_.compare_exchange_strong(t, b + 1, Orders::takes,
                                                                      std::memory_order_relaxed);
    this->top_seen_ = b + 1;
    // Relaxed: the store publishes no item, since the deque is empty with a bottom of b + 1.
    this->bottom_.store(b + 1, std::memory_order_relaxed);
    if (!is_ours) return missed::empty;
    return x;
  }
  /// Takes the oldest item, for the owner; `lost` if a thief took it during the call.
  [[nodiscard]] taken<T> take_oldest() noexcept { return steal(true); }
  /// Takes the newest item of a deque that has no thieves.  O(1), no read-modify-write.
  [[nodiscard]] taken<T> try_pop_alone() noexcept {
    // Relaxed: no other thread uses the deque.
    index const b = this->bottom_.load(std::memory_order_relaxed) - 1;
    // Relaxed: no other thread uses the deque.
    if (b < this->top_.load(std::memory_order_relaxed)) return missed::empty;
    this->bottom_.store(b, std::memory_order_relaxed);            // relaxed: no other thread
    return this->array_.load(std::memory_order_relaxed)->get(b);  // relaxed: no other thread
  }

 private:
  /// Stores b to bottom, and then reads top: the owner's part of STEAL-5.
  [[nodiscard]] index lower_bottom(index b) noexcept {
    if constexpr (may_interrupt)
      if (interrupts_) {
        // [11] release: pairs with [9] in steal(), as [1] in push() does.
        this->bottom_.store(b, Orders::claims_lightly);
        Orders::fence::light();                                // between store and read (STEAL-7)
        return this->top_.load(Orders::looks_at_top_lightly);  // [11] relaxed: the fence orders it
      }
    // [7] seq_cst: comes before [8] (STEAL-5).  Also release: pairs with [9] in steal(), as [1] in
    // push() does.
    this->bottom_.store(b, Orders::claims);
    return this->top_.load(Orders::looks_at_top);  // [8] seq_cst: comes after [7] (STEAL-5)
  }
  /// Takes the oldest item.  The owner needs no heavy fence: its read of bottom gets its own last
  /// store.
  [[nodiscard]] taken<T> steal(bool is_owner = false) noexcept {
    // [9] seq_cst: top is read before bottom, in one order with [7] and [8] (STEAL-5).  For bottom
    // also acquire: pairs with the owner's stores of bottom ([1], [7], [11]).
    index t = this->top_.load(Orders::sees_top);
    if constexpr (may_interrupt)
      if (interrupts_ && !is_owner) {
        if (this->is_empty()) return missed::empty;  // no system call for an empty deque
        Orders::fence::heavy();  // between the reads of top and bottom (STEAL-7)
      }
    index const b = this->bottom_.load(Orders::sees_bottom);
    if (b <= t) return missed::empty;
    // [4] acquire: pairs with [3] in make_room(), so the cells of the array are seen.
    T const x = this->array_.load(Orders::sees_array)->get(t);
    // [10] seq_cst: in one order with [7] to [9] (STEAL-5).  Also release, pairs with [2] in
    // make_room(): the cell is read here before the owner writes it again.  Relaxed on failure: the
    // value read is discarded.
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

/// The deque with the memory orders of chase_lev_orders, without fences.
template <class T>
using chase_lev = basic_chase_lev<T>;

}  // namespace weft
