// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "bench/rivals_ring.hpp"

/// Numbers sent from one coroutine to another, hand-written with nothing else: the rivals of
/// `messages`.  Their frames come from the same pool as weft's.
///
/// Every program here is a circle of coroutines in which one number goes round, `times` times; a
/// circle of two is a ping-pong.  The first coroutine sends and then waits; the others wait, and
/// pass the number on.  The compiler does not know the addresses of a coroutine's neighbours.
namespace weft::bench {

/// The work that each coroutine does on the number, one by one.
inline std::uint64_t after(std::uint64_t n) { return launder(n + 1); }

// ---- raw: each coroutine knows that the next one waits

/// The place at which one coroutine waits for a number.
struct place {
  std::uint64_t number = 0;
  std::coroutine_handle<> waiting;
};

/// Puts a number at the next place, waits at its own, and jumps to the next coroutine.  No queue
/// and no test: no other coroutine can continue.
struct pass {
  place& to;
  std::uint64_t number;
  place& own;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> running) const noexcept {
    own.waiting = running;
    to.number = number;
    return to.waiting;
  }
  [[nodiscard]] std::uint64_t await_resume() const noexcept { return own.number; }
};
struct wait_at {
  place& own;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> running) const noexcept { own.waiting = running; }
  [[nodiscard]] std::uint64_t await_resume() const noexcept { return own.number; }
};

inline pooled_coroutine pass_on(place& own, place& to) {
  std::uint64_t number = co_await wait_at{own};
  for (;;) number = co_await pass{to, after(number), own};
}
inline pooled_coroutine send_round(place& own, place& to, int times, std::uint64_t& answer) {
  std::uint64_t number = 0;
  for (int i = 0; i != times; ++i) number = co_await pass{to, after(number), own};
  answer = number;
}
inline std::uint64_t raw_circle(std::size_t coroutines, int times) {
  std::vector<place> places(coroutines);
  place* const first = launder(places.data());
  for (std::size_t i = 1; i != coroutines; ++i)
    pass_on(first[i], first[(i + 1) % coroutines]).frame.resume();
  std::uint64_t answer = 0;
  send_round(first[0], first[1], launder(times), answer).frame.resume();
  for (std::size_t i = 1; i != coroutines; ++i) first[i].waiting.destroy();
  return answer;
}

// ---- box+ring: each coroutine tests whether the next one waits

/// A box for one number, for which its owner may wait.
struct box {
  std::uint64_t number = 0;
  bool is_full = false;
  std::coroutine_handle<> waiting;  // null if none waits
};
using ready_ring = ring<std::coroutine_handle<>>;

/// As in weft: a waiting receiver continues at once, and the sender goes to the end of the queue.
struct put_in {
  box& to;
  std::uint64_t number;
  ready_ring& ready;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> running) const noexcept {
    to.number = number;
    to.is_full = true;
    if (!to.waiting) return running;
    ready.push(running);
    return std::exchange(to.waiting, nullptr);
  }
  void await_resume() const noexcept {}
};
struct take_from {
  box& own;
  ready_ring& ready;
  [[nodiscard]] bool await_ready() const noexcept { return own.is_full; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> running) const noexcept {
    own.waiting = running;
    if (ready.empty()) return std::noop_coroutine();
    return ready.pop();
  }
  [[nodiscard]] std::uint64_t await_resume() const noexcept {
    own.is_full = false;
    return own.number;
  }
};

inline pooled_coroutine box_on(box& own, box& to, ready_ring& ready, int times) {
  for (int i = 0; i != times; ++i) {
    std::uint64_t const number = co_await take_from{own, ready};
    co_await put_in{to, after(number), ready};
  }
}
inline pooled_coroutine box_round(box& own, box& to, ready_ring& ready, int times,
                                  std::uint64_t& answer) {
  std::uint64_t number = 0;
  for (int i = 0; i != times; ++i) {
    co_await put_in{to, after(number), ready};
    number = co_await take_from{own, ready};
  }
  answer = number;
}
inline std::uint64_t box_circle(std::size_t coroutines, int times) {
  ready_ring ready_ones(coroutines);
  std::vector<box> boxes(coroutines);
  ready_ring& ready = *launder(&ready_ones);
  box* const first = launder(boxes.data());
  times = launder(times);
  std::uint64_t answer = 0;
  for (std::size_t i = 1; i != coroutines; ++i)
    ready.push(box_on(first[i], first[(i + 1) % coroutines], ready, times).frame);
  ready.push(box_round(first[0], first[1], ready, times, answer).frame);
  while (!ready.empty()) ready.pop().resume();
  return answer;
}

// ---- two indices: a ring between one coroutine that writes and one that reads

/// A ring with room for 1024 numbers.  Each side writes one index, and keeps a copy of the other
/// side's, which it reads again only when the ring seems full, or empty.  Source: Lamport, Proving
/// the Correctness of Multiprocess Programs, 1977; the copies: Lee et al., A Lock-Free,
/// Cache-Efficient Multi-Core Synchronization Mechanism, 2009.
class two_index_ring {
 public:
  [[nodiscard]] bool push(std::uint64_t v) noexcept {
    std::uint64_t const at = written_.load(std::memory_order_relaxed);
    if (at - read_seen_ == room) {
      read_seen_ = read_.load(std::memory_order_acquire);
      if (at - read_seen_ == room) return false;
    }
    slots_[at % room] = v;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }
  [[nodiscard]] bool pop(std::uint64_t& v) noexcept {
    std::uint64_t const at = read_.load(std::memory_order_relaxed);
    if (at == written_seen_) {
      written_seen_ = written_.load(std::memory_order_acquire);
      if (at == written_seen_) return false;
    }
    v = slots_[at % room];
    read_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::uint64_t room = 1024;

  alignas(64) std::atomic<std::uint64_t> written_ = 0;
  std::uint64_t read_seen_ = 0;
  alignas(64) std::atomic<std::uint64_t> read_ = 0;
  std::uint64_t written_seen_ = 0;
  alignas(64) std::array<std::uint64_t, room> slots_{};
};

}  // namespace weft::bench
