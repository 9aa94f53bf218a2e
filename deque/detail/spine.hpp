// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "weft/deque/detail/leaf.hpp"

namespace weft::detail {

/// An inner node of the spine: places for 8 leaves, or for 8 nodes that are one lower.
template <class T, class P>
struct node : block<T, P> {
  static constexpr unsigned bits = 3;
  static constexpr unsigned width = 1U << bits;
  owner<T, P> below[width];

  static owner<T, P> make(unsigned height) { return owner<T, P>(::new (memory()) node(height)); }
  /// Replaces a node that has several owners by a copy that has one.
  static void own(owner<T, P>& o) {
    if (!o->owners.only_one()) o = owner<T, P>(::new (memory()) node(in(o)));
  }
  static node& in(owner<T, P> const& o) noexcept { return static_cast<node&>(*o.get()); }
  static void destroy(node* n) noexcept {
    n->~node();
    P::memory::deallocate(n, sizeof(node), alignment);
  }

 private:
  explicit node(unsigned h) noexcept : block<T, P>(h) {}
  node(node const& other) noexcept : block<T, P>(other.height) {
    for (unsigned i = 0; i != width; ++i) below[i] = other.below[i];
  }
  static constexpr std::align_val_t alignment{alignof(node)};
  static void* memory() { return P::memory::allocate(sizeof(node), alignment); }
};

template <class T, class P>
void block<T, P>::destroy(block* b) noexcept {
  if (b->height == 0)
    leaf<T, P>::destroy(static_cast<leaf<T, P>*>(b));
  else
    node<T, P>::destroy(static_cast<node<T, P>*>(b));
}

/// The full leaves between both ends of a deque: a radix tree whose leaves have numbers from begin_
/// on.  Versions share its nodes.  A change copies the shared nodes on one path: at most one node
/// of each height.
///
///   SPINE-1  A path from the root to leaf k takes, at the height h, the h-th digit of k in base 8,
///       counted from the lowest.
///   SPINE-2  The leaves have the numbers in [begin_, end_), and are full.  The place of any
///       other number is empty, or, after an exception, has a node without leaves: so no leaf
///       outlives the versions that have it.
///   SPINE-3  A root with all leaves below one of its nodes is replaced by that node.  So the
///       height is no more than the largest size demands, even in a queue, whose numbers move in
///       one direction for ever, and in a part that was split off.
///
/// Source: P. Bagwell, "Ideal Hash Trees" (2001); R. Hickey's vector in Clojure.
template <class T, class P>
class spine {
  using nodes = node<T, P>;

 public:
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

  /// Leaf `i`, which must exist.
  [[nodiscard]] owner<T, P> const& operator[](std::size_t i) const noexcept {
    number const k = begin_ + i;
    owner<T, P> const* o = &root_;
    while ((*o)->height != 0) o = &nodes::in(*o).below[digit(k, (*o)->height)];
    return *o;
  }
  /// Copies the shared nodes on the path to leaf `i`, which must exist.  Returns the leaf's place.
  owner<T, P>& own(std::size_t i) { return own_path(begin_ + i); }

  /// An empty place for one more leaf at the end S: the caller puts the leaf there, and then calls
  /// add(), before any other call.  If it puts no leaf, the leaves are the same as before.
  template <side S>
  owner<T, P>& room() {
    if (!root_) {
      root_ = nodes::make(1);
      begin_ = end_ = nodes::width / 2;
    }
    unsigned const h = root_->height;
    if (S == side::front ? begin_ == 0 : end_ == number{1} << nodes::bits * h) {
      owner<T, P> higher = nodes::make(h + 1);
      unsigned const at = S == side::front ? nodes::width - 1 : 0;
      nodes::in(higher).below[at] = std::move(root_);
      root_ = std::move(higher);
      begin_ += number{at} << nodes::bits * h;
      end_ += number{at} << nodes::bits * h;
    }
    return own_path(S == side::front ? begin_ - 1 : end_);
  }
  template <side S>
  void add() noexcept {
    S == side::front ? --begin_ : ++end_;
  }

  /// Removes and returns the leaf at the end S, which must exist.
  template <side S>
  owner<T, P> take() {
    number const k = S == side::front ? begin_ : end_ - 1;
    owner<T, P> taken = std::move(own_path(k));
    S == side::front ? ++begin_ : --end_;
    if (digit(k, 1) == (S == side::front ? nodes::width - 1 : 0) || empty()) drop_outside<S>();
    return taken;
  }
  /// Removes `n` leaves at the end S.
  template <side S>
  void remove(std::size_t n) {
    if (n != size()) own_path(S == side::front ? begin_ + n : end_ - 1 - n);
    S == side::front ? begin_ += n : end_ -= n;
    drop_outside<S>();
  }

 private:
  friend struct invariants;
  using number = std::size_t;

  static unsigned digit(number k, unsigned height) noexcept {
    return static_cast<unsigned>(k >> nodes::bits * (height - 1)) & (nodes::width - 1);
  }
  /// The place of leaf k, after all nodes on the path to it have been made or copied.
  owner<T, P>& own_path(number k) {
    owner<T, P>* o = &root_;
    for (unsigned shift = nodes::bits * (root_->height - 1U);; shift -= nodes::bits) {
      if (!*o)
        *o = nodes::make(shift / nodes::bits + 1);
      else
        nodes::own(*o);
      o = &nodes::in(*o).below[k >> shift & (nodes::width - 1)];
      if (shift == 0) return *o;
    }
  }

  /// Drops the nodes and leaves beyond the outermost leaf at S: they lie next to it, without a gap.
  /// The loop may end at a node that other versions share.  After remove() no such node is on the
  /// path to the outermost leaf.  After take() this version alone has the path to the taken leaf,
  /// which was next to the outermost one; below the node where these two paths part, nothing lies
  /// beyond the outermost leaf.
  template <side S>
  void drop_outside() noexcept {
    if (empty()) {
      *this = {};
      return;
    }
    number const last = S == side::front ? begin_ : end_ - 1;
    for (owner<T, P>* o = &root_; (*o)->height != 0 && (*o)->owners.only_one();) {
      nodes& here = nodes::in(*o);
      unsigned const kept = digit(last, here.height);
      if constexpr (S == side::front)
        for (unsigned i = kept; i != 0 && here.below[i - 1]; --i) here.below[i - 1] = {};
      else
        for (unsigned i = kept + 1; i != nodes::width && here.below[i]; ++i) here.below[i] = {};
      o = &here.below[kept];
    }
    for (unsigned h = root_->height;  // replaces the root (SPINE-3)
         h != 1 && digit(begin_, h) == digit(end_ - 1, h); --h) {
      number const before = begin_ >> nodes::bits * (h - 1) << nodes::bits * (h - 1);
      root_ = owner<T, P>(nodes::in(root_).below[digit(begin_, h)]);
      begin_ -= before;
      end_ -= before;
    }
  }

  owner<T, P> root_;
  number begin_ = 0, end_ = 0;  // the numbers of the leaves (SPINE-2)
};

}  // namespace weft::detail
