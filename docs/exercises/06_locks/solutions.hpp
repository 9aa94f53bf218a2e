// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/06_locks.md.

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
inline int ms_of_ten_downloads_with_three_permits() { return 40; }

// Exercise 2 (*): buys a loaf, and never one that is not there.
struct bakery {
  int loaves = 0;
  mutex own;
  condition baked;
};
inline eff<void, syncing> buys_one(bakery& b) {
  auto held = co_await b.own.lock();
  co_await b.baked.wait(held, [&b] { return b.loaves > 0; });
  if (--b.loaves < 0) throw std::runtime_error("a loaf was bought that is not there");
}

// Exercise 3 (**): a transfer under both locks that never deadlocks.  A transfer from an account to
// itself changes nothing.
struct account {
  int balance = 100;
  mutex own;
};
inline eff<void, syncing> transfer(account& from, account& to, int amount) {
  if (&from == &to) co_return;
  bool const is_payer_first = std::less<>()(&from, &to);
  account& first = is_payer_first ? from : to;
  account& second = is_payer_first ? to : from;
  auto const one = co_await first.own.lock();
  auto const other = co_await second.own.lock();
  from.balance -= amount;
  to.balance += amount;
}

// Exercise 4 (**): awaits `f()` with a permit, and gives the permit back, however that ends.
using work = std::function<eff<void, timing>()>;
class permit {
 public:
  explicit permit(semaphore& s) noexcept : from_(s) {}
  permit(permit const&) = delete;
  permit& operator=(permit const&) = delete;
  ~permit() { from_.release(); }

 private:
  semaphore& from_;
};
inline eff<void, syncing, timing> with_permit(semaphore& s, work f) {
  co_await s.acquire();
  permit const mine(s);
  co_await f();
}

// Exercise 5 (**): a queue for `capacity` numbers.  push() waits for room, pop() for a number.
class bounded_queue {
 public:
  explicit bounded_queue(std::size_t capacity) : capacity_(capacity) {}

  eff<void, syncing> push(int n) {
    auto held = co_await own_.lock();
    co_await changed_.wait(held, [this] { return numbers_.size() < capacity_; });
    numbers_.push_back(n);
    changed_.notify_all();  // both kinds wait here, so one may be of the wrong kind
  }
  eff<int, syncing> pop() {
    auto held = co_await own_.lock();
    co_await changed_.wait(held, [this] { return !numbers_.empty(); });
    int const n = numbers_.front();
    numbers_.pop_front();
    changed_.notify_all();
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
  for (auto p = co_await in.next(); p; p = co_await in.next()) {
    bool const is_covered = p->amount <= balance;
    if (is_covered) balance -= p->amount;
    co_await p->answer.send(is_covered);
  }
}

// Exercise 7 (***): several readers, or one writer.
class read_write_lock {
 public:
  eff<void, syncing> lock_shared() {
    co_await freed_.wait_while([this] { return has_writer_; });
    ++readers_;
  }
  void unlock_shared() noexcept {
    if (--readers_ == 0) freed_.release_all();
  }
  eff<void, syncing> lock() {
    co_await freed_.wait_while([this] { return has_writer_ || readers_ != 0; });
    has_writer_ = true;
  }
  void unlock() noexcept {
    has_writer_ = false;
    freed_.release_all();
  }

 private:
  int readers_ = 0;
  bool has_writer_ = false;
  gate freed_;
};

}  // namespace locks
