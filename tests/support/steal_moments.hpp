// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "weft/deque/chase_lev.hpp"
#include "weft/deque/steal_queue.hpp"

/// The actions of other threads in the middle of an operation on a chase_lev or a steal_queue,
/// played by one thread.
namespace weft::tests {

/// The moments before the operations with these memory orders.
enum class moment { publishes, claims, looks_at_top, sees_bottom, sees_array, takes };

/// While it lives: calls `does` at the next such moment, once.
class meanwhile {
 public:
  meanwhile(moment m, std::function<void()> does) { next(m, std::move(does)); }
  ~meanwhile() {
    for (auto& f : all_) f = nullptr;
  }
  meanwhile(meanwhile const&) = delete;
  meanwhile& operator=(meanwhile const&) = delete;

  /// The same without an object, for use inside `does`.
  static void next(moment m, std::function<void()> does) { at(m) = std::move(does); }

  static void comes(moment m) {
    if (auto const does = std::exchange(at(m), nullptr)) does();
  }

 private:
  static std::function<void()>& at(moment m) { return all_[static_cast<int>(m)]; }
  static inline std::function<void()> all_[6];
};

/// A memory order that reports when it is used.
template <moment M, std::memory_order Order>
struct watched {
  operator std::memory_order() const {
    meanwhile::comes(M);
    return Order;
  }
};
template <class Orders>
struct watched_common : Orders {
  static constexpr watched<moment::publishes, Orders::publishes> publishes{};
  static constexpr watched<moment::sees_bottom, Orders::sees_bottom> sees_bottom{};
  static constexpr watched<moment::sees_array, Orders::sees_array> sees_array{};
  static constexpr watched<moment::takes, Orders::takes> takes{};
};
struct watched_chase_lev_orders : watched_common<chase_lev_orders> {
  static constexpr watched<moment::claims, chase_lev_orders::claims> claims{};
  static constexpr watched<moment::looks_at_top, chase_lev_orders::looks_at_top> looks_at_top{};
};
using watched_steal_queue_orders = watched_common<steal_queue_orders>;

}  // namespace weft::tests
