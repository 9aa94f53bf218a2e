// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <utility>

namespace weft {

/// The memory order of each label.
struct stack_orders {
  static constexpr auto pushes = std::memory_order_seq_cst;  // [1]
  static constexpr auto takes = std::memory_order_acquire;   // [2]
  static constexpr auto looks = std::memory_order_seq_cst;   // [3]
};

/// A stack of messages from many threads to one: a list through their `next`.  Any thread pushes
/// one message; the owner takes all of them at once, and reverses them.  So no message is removed
/// while others stay, and there is no ABA problem.
///
/// Push and take are O(1) steps on one word, reversing is O(n); nothing is allocated.  push() is
/// thread safe; the other functions are the owner's.  Messages that are left at the end are the
/// owner's to destroy.
///
/// Source: R. K. Treiber, Systems Programming: Coping with Parallelism, IBM RJ 5118, 1986.
template <class Message, class Orders = stack_orders>
  requires requires(Message m) {
    { m.next } -> std::same_as<Message*&>;
  }
class message_stack {
 public:
  void push(Message& m) noexcept {
    Message* top = top_.load(std::memory_order_relaxed);  // relaxed: the exchange [1] checks it
    do m.next = top;
    // [1] release: pairs with the acquire [2] in take_all().  seq_cst: a sender pushes, then checks
    // whether the owner sleeps; the owner announces that it sleeps, then checks the stack [3].  One
    // of them sees the other.
    while (!top_.compare_exchange_weak(top, &m, Orders::pushes, std::memory_order_relaxed));
  }
  /// All messages, the oldest first.
  [[nodiscard]] Message* take_all() noexcept {
    Message* m = top_.exchange(nullptr, Orders::takes);  // [2] acquire: pairs with the release [1]
    Message* first = nullptr;
    while (m) {
      Message* const below = std::exchange(m->next, first);
      first = std::exchange(m, below);
    }
    return first;
  }
  [[nodiscard]] bool is_empty() const noexcept {
    return top_.load(Orders::looks) == nullptr;  // [3] seq_cst: pairs with [1]
  }
  /// For the owner: whether `m` is the only message.
  [[nodiscard]] bool has_only(Message const& m) const noexcept {
    // Relaxed: a hint.  If the owner has pushed `m`, m.next is the owner's own write.
    return top_.load(std::memory_order_relaxed) == &m && m.next == nullptr;
  }

 private:
  std::atomic<Message*> top_ = nullptr;
};

}  // namespace weft
