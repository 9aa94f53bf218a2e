// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <utility>

namespace weft {

/// The memory orders of the labels.
struct stack_orders {
  static constexpr auto pushes = std::memory_order_seq_cst;  // [1]
  static constexpr auto takes = std::memory_order_acquire;   // [2]
  static constexpr auto looks = std::memory_order_seq_cst;   // [3]
};

/// What many threads send to one: a list through the messages, `next` in each of them.  Anyone puts
/// one on top; the owner takes all at once, and turns them round.  So no message is ever taken off
/// while others are left, and there is no ABA.
///
/// Both are O(1) steps on one word, the turning O(n); nothing is allocated.  Push is thread safe,
/// the rest is the owner's.  What is left at the end is its owner's to destroy.
///
/// Source: seed 000, Process.Enqueue; R. K. Treiber, Systems Programming: Coping with Parallelism,
/// IBM RJ 5118, 1986.
template <class Message, class Orders = stack_orders>
  requires requires(Message m) {
    { m.next } -> std::same_as<Message*&>;
  }
class message_stack {
 public:
  void push(Message& m) noexcept {
    Message* top = top_.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
    do m.next = top;
    // [1] release: who takes it [2] sees the message.  seq_cst: who pushes and then looks whether
    // the owner sleeps, and the owner who says so and then looks here [3], do not miss each other.
    while (!top_.compare_exchange_weak(top, &m, Orders::pushes, std::memory_order_relaxed));
  }
  /// All there are, the first first.
  [[nodiscard]] Message* take_all() noexcept {
    Message* m = top_.exchange(nullptr, Orders::takes);  // [2] acquire: with [1]
    Message* first = nullptr;
    while (m) {
      Message* const below = std::exchange(m->next, first);
      first = std::exchange(m, below);
    }
    return first;
  }
  [[nodiscard]] bool is_empty() const noexcept {
    return top_.load(Orders::looks) == nullptr;  // [3] seq_cst: with [1]
  }
  /// The owner's: whether that one is the only one.
  [[nodiscard]] bool has_only(Message const& m) const noexcept {
    // Relaxed: a hint, unless it is that one, whose `next` only the owner changes.
    return top_.load(std::memory_order_relaxed) == &m && m.next == nullptr;
  }

 private:
  std::atomic<Message*> top_ = nullptr;
};

}  // namespace weft
