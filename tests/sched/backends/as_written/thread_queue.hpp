// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "tests/sched/backends/as_written/pencil.hpp"

/// Process and Thread as written: wrong on purpose, see pencil.hpp.
namespace weft::tests::as_written {

class thread;

enum class state { sleeping, queued, running, yielding };

struct process {
  explicit process(std::string n, state s) : name(std::move(n)), state_is(s) {}

  std::string name;
  std::atomic<thread*> owner_thread = nullptr;
  std::atomic<process*> next = nullptr;
  std::atomic<process*> previous = nullptr;
  std::atomic<state> state_is;
  int messages = 0;  // the MessageStack, as far as IsQueueEmpty needs it
  bool has_d1 = true;

  bool change_state(state from, state to) {
    if (from == state::running || from == state::yielding) {
      invariant(state_is == from, "State = From");
      state_is = to;
      return true;
    }
    if (!has_d1) return change_state_mended(from, to);
    state s = state_is;
    for (;;) {
      if (from == state::yielding) {  // DEFECT-1: never true here
        s = state_is;
        continue;
      }
      if (s == from) break;  // DEFECT-1: here it should continue
      if (state_is.compare_exchange_strong(s, to)) return true;
      s = state_is;
    }
    return false;
  }

 private:
  bool change_state_mended(state from, state to) {
    for (;;) {
      state s = state_is;
      if (s == state::yielding) continue;
      if (s != from) return false;
      if (state_is.compare_exchange_strong(s, to)) return true;
    }
  }
};

/// The versions of the pseudo-code.
enum class seed { s000, s001 };

/// The results of TryEnqueue and TryDequeue, in the order of the pseudo-code.
struct enqueued {
  bool success, was_empty;
};
struct dequeued {
  bool success;
  process* p;
};

class thread {
 public:
  explicit thread(pencil const& p, seed s = seed::s000) : idle_monitor(p), between_(p), seed_(s) {}

  enqueued try_enqueue(process* p) {
    invariant(p->state_is == state::queued, "P.State = Queued");
    process* h = head;
    for (;;) {
      if (h == &sentinel_) return {false, false};
      if (head.compare_exchange_strong(h, &sentinel_)) break;
      h = head;
    }
    p->owner_thread = this;
    if (h != nullptr) {
      at(tail.load(), "Tail.Next").next = p;
      p->previous = tail.load();
      tail = p;
      head = h;
    } else {
      tail = p;
      head = p;
    }
    return {true, h == nullptr};
  }

  dequeued try_dequeue() {
    process* h = head;
    for (;;) {
      if (h == &sentinel_) return {false, nullptr};
      if (h == nullptr) return {true, nullptr};
      if (head.compare_exchange_strong(h, &sentinel_)) break;
      h = head;
    }
    between_("TryDequeue has the sentinel");
    if (tail == h) tail = nullptr;
    process* const next = h->next;
    if (next != nullptr) next->previous = nullptr;
    h->change_state(state::queued, state::running);
    h->owner_thread = nullptr;
    h->next = nullptr;
    head = next;
    return {true, h};
  }

  bool try_dequeue_entry(process* p) {
    process* h = head;
    for (;;) {
      if (h == &sentinel_ || h == nullptr) return false;
      if (head.compare_exchange_strong(h, &sentinel_)) break;
      h = head;
    }
    process* const changes = seed_ == seed::s001 ? h : p;  // DEFECT-3: H
    if (p->owner_thread != this || !changes->change_state(state::queued, state::running)) {
      head = h;
      return false;
    }
    if (h == p) {
      if (h == tail) tail = nullptr;
      head = head.load()->next.load();  // DEFECT-2: this is Sentinel.Next, and opens the queue
      between_("Head <- Head.Next");
    } else {
      process* const next = p->next;
      process* const previous = p->previous;
      at(previous, "Previous.Next").next = next;
      if (next == nullptr) {
        tail = previous;
      } else {
        next->previous = previous;
      }
    }
    p->owner_thread = nullptr;
    p->next = nullptr;
    p->previous = nullptr;
    head = h;  // DEFECT-2: with H = P it is back in the queue
    return true;
  }

  [[nodiscard]] bool is_empty() const { return head == nullptr; }

  void wakeup() {
    idle_monitor.lock();
    idle_monitor.notify();
    idle_monitor.unlock();
  }

  std::atomic<process*> head = nullptr;
  std::atomic<process*> tail = nullptr;
  monitor idle_monitor;
  std::atomic<thread*> next_idle = nullptr;  // the linked list through Threads

 private:
  process sentinel_{"sentinel", state::sleeping};
  pencil const& between_;
  seed seed_;
};

}  // namespace weft::tests::as_written
