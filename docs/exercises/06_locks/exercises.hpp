// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/06_locks.md.  Complete each function; its test says what it must do.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <stdexcept>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace locks {

using namespace weft;
using namespace std::chrono_literals;

// Exercise 1 (*): how many milliseconds do the ten downloads take?
inline eff<void, syncing, timing> download(semaphore& permits) {
  co_await permits.acquire();
  co_await timing::sleep_for{10ms};
  permits.release();
}
inline int ms_of_ten_downloads_with_three_permits() { return 0; }

// Exercise 2 (*): buys a loaf, and never one that is not there.
struct bakery {
  int loaves = 0;
  mutex own;
  condition baked;
};
inline eff<void, syncing> buys_one(bakery& b) {
  auto held = co_await b.own.lock();
  if (b.loaves == 0) co_await b.baked.wait(held);
  if (--b.loaves < 0) throw std::runtime_error("a loaf was bought that is not there");
}

// Exercise 3 (**): a transfer under both locks that never deadlocks.  A transfer from an account to
// itself changes nothing.
struct account {
  int balance = 100;
  mutex own;
};
inline eff<void, syncing> transfer(account& from, account& to, int amount) {
  auto const payer = co_await from.own.lock();
  auto const payee = co_await to.own.lock();
  from.balance -= amount;
  to.balance += amount;
}

// Exercise 4 (**): awaits `f()` with a permit, and gives the permit back, however that ends.
using work = std::function<eff<void, timing>()>;
inline eff<void, syncing, timing> with_permit(semaphore& s, work f) {
  co_await s.acquire();
  co_await f();
  s.release();
}

// Exercise 5 (**): a queue for `capacity` numbers.  push() waits for room, pop() for a number.
class bounded_queue {
 public:
  explicit bounded_queue(std::size_t capacity) : capacity_(capacity) {}

  eff<void, syncing> push(int n) {
    auto held = co_await own_.lock();
    numbers_.push_back(n);
  }
  eff<int, syncing> pop() {
    auto held = co_await own_.lock();
    if (numbers_.empty()) co_return 0;
    int const n = numbers_.front();
    numbers_.pop_front();
    co_return n;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::size_t capacity_;
  std::deque<int> numbers_;
  mutex own_;
  condition changed_;
};

// Exercise 6 (**): the account as a process.  It pays if the balance suffices, and answers whether it has.
struct payment {
  payment(int n, address<bool> to) : amount(n), answer(std::move(to)) {}
  int amount;
  address<bool> answer;
};
inline eff<void, mail> keeps_account(inbox<payment> in, int balance) {
  for (auto p = co_await in.next(); p; p = co_await in.next()) co_await p->answer.send(balance > 0);
}

// Exercise 7 (***): several readers, or one writer.
class read_write_lock {
 public:
  eff<void, syncing> lock_shared() {
    ++readers_;
    co_return;
  }
  void unlock_shared() noexcept { --readers_; }
  eff<void, syncing> lock() {
    has_writer_ = true;
    co_return;
  }
  void unlock() noexcept { has_writer_ = false; }

 private:
  int readers_ = 0;
  bool has_writer_ = false;
  gate freed_;
};

}  // namespace locks
