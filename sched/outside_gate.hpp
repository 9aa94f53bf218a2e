// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "effects/operation.hpp"
#include "sched/process.hpp"

namespace weft {

namespace detail {
class gate_room;
class waiting_room;
}  // namespace detail

/// Where one process waits for something that happens outside its scheduler: on another thread, in
/// a callback of the system, in another scheduler.  The thing behind completion<T>, and for waits
/// of one's own:
///
///     co_await completing::wait{arrived};   // a process
///     arrived.open();                       // anyone, once
///
/// Opened before or after the wait.  While a process waits here its scheduler sleeps when nobody
/// else is ready, and reports no deadlock.  Whether somebody will open it only its users know: one
/// that nobody opens is waited at for ever.  If it ends while a process waits, that finds
/// `cancelled`; open() must be over by then, unless it has woken that process.
///
///   O1  One word says all: nobody waits yet; a process does; it is open.  From a process to open,
///       or to nobody (cancelled), is one exchange: who makes it has the process.
///   O2  A process is written there last, when everything else is: what is said of it in its
///       scheduler (waiting_room.hpp), and its frames.
///   O3  Who has opened it touches it no more once the process is put: it may be gone then.
class outside_gate {
 public:
  outside_gate() = default;
  outside_gate(outside_gate const&) = delete;
  outside_gate& operator=(outside_gate const&) = delete;
  inline ~outside_gate();

  /// Who waits goes on; who comes later need not wait.  Thread safe.  What was done before is seen
  /// by who goes on.  Does nothing if it is open.  Throws bad_alloc if the backend does, and then
  /// nothing has happened.
  inline void open();

  [[nodiscard]] bool is_open() const noexcept {
    return word_.load(std::memory_order_acquire) == opened;  // [1] acquire: with [2]
  }

 private:
  friend class detail::gate_room;
  friend class detail::waiting_room;
  static constexpr std::uintptr_t nobody = 0;
  static constexpr std::uintptr_t opened = 1;

  [[nodiscard]] static std::uintptr_t word_of(process& p) noexcept {
    return reinterpret_cast<std::uintptr_t>(&p);
  }
  /// Nobody waits and it is not open: somebody does now (O2).  Else says what there is.
  [[nodiscard]] std::uintptr_t enter(process& p) noexcept {
    std::uintptr_t found = nobody;
    // [3] release: who takes the process out [2] [4] finds all of it.  acquire, if that fails:
    // with [2].
    word_.compare_exchange_strong(found, word_of(p), std::memory_order_release,
                                  std::memory_order_acquire);
    return found;
  }
  /// The process that waits, null if none does any more.  It is there as long as the lock is held
  /// under which it would be put.
  [[nodiscard]] process const* who_waits() const noexcept {
    std::uintptr_t const found = word_.load(std::memory_order_acquire);  // acquire: with [3]
    return found == opened ? nullptr : reinterpret_cast<process const*>(found);
  }
  /// Takes the process out, if one waits (O1): null if not.
  [[nodiscard]] process* withdraw() noexcept {
    std::uintptr_t found = word_.load(std::memory_order_relaxed);  // relaxed: [4] makes sure
    if (found == nobody || found == opened) return nullptr;
    // [4] acquire: with [3].
    if (!word_.compare_exchange_strong(found, nobody, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return nullptr;
    return reinterpret_cast<process*>(found);
  }

  std::atomic<std::uintptr_t> word_ = nobody;          // O1
  std::atomic<detail::waiting_room*> home_ = nullptr;  // O2; while somebody waits
  outside_gate* next_ = nullptr;                       // of those at which somebody waits
  outside_gate* previous_ = nullptr;
};

/// Waiting for what comes from outside.
struct completing {
  /// Until it is open.  Seals: what comes from there comes once.
  struct wait : op<void, seals> {
    explicit wait(outside_gate& g) noexcept : at(&g) {}
    outside_gate* at;
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  using operations = op_list<wait>;
};

}  // namespace weft
