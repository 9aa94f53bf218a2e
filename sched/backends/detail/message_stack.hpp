// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <utility>

namespace weft::detail {

/// The memory orders at the labels [1] to [3]: a parameter, so that tests can weaken them.
struct stack_orders {
  static constexpr auto pushes = std::memory_order_seq_cst;  // [1]
  static constexpr auto takes = std::memory_order_acquire;   // [2]
  static constexpr auto looks = std::memory_order_seq_cst;   // [3]
};

/// A stack of messages from many threads to one, linked by their member `next`.  Any thread pushes
/// one message at a time; the owner takes all messages at once, and reverses their order.  So a
/// message is never removed while others stay, and there is no ABA problem.
///
/// Push and take are O(1) steps on one word, reversing is O(n); allocates nothing.  push() is
/// thread safe; only the owner calls the other functions.  The owner must destroy the messages that
/// are left at the end.
///
/// Source: R. K. Treiber, Systems Programming: Coping with Parallelism, IBM RJ 5118, 1986.
template <class Message, class Orders = stack_orders>
  requires requires(Message m) {
    { m.next } -> std::same_as<Message*&>;
  }
class message_stack {
 public:
  /// Adds a message.  Thread safe.
  void push(Message& m) noexcept {
    Message* top = top_.load(std::memory_order_relaxed);  // relaxed: the exchange [1] checks it
    do m.next = top;
    // [1] release: pairs with the acquire [2] in take_all().  seq_cst: pairs with [3].  A sender
    // pushes, then checks whether the owner sleeps; the owner announces that it sleeps, then checks
    // the stack [3].  So at least one of the two sees what the other has written.
    while (!top_.compare_exchange_weak(top, &m, Orders::pushes, std::memory_order_relaxed));
  }
  /// Removes all messages, and returns them as a list, the oldest first.
  [[nodiscard]] Message* take_all() noexcept {
    Message* m = top_.exchange(nullptr, Orders::takes);  // [2] acquire: pairs with the release [1]
    Message* first = nullptr;
    while (m) {
      Message* const below = std::exchange(m->next, first);
      first = std::exchange(m, below);
    }
    return first;
  }
  /// Whether the stack has no message.
  [[nodiscard]] bool is_empty() const noexcept {
    return top_.load(Orders::looks) == nullptr;  // [3] seq_cst: pairs with [1]
  }
  /// For the owner: whether the stack has the message `m` and no other.
  [[nodiscard]] bool has_only(Message const& m) const noexcept {
    // Relaxed: a hint.  If the owner has pushed `m`, m.next is the owner's own write.
    return top_.load(std::memory_order_relaxed) == &m && m.next == nullptr;
  }

 private:
  std::atomic<Message*> top_ = nullptr;
};

}  // namespace weft::detail
