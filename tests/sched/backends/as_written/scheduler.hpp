// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "tests/sched/backends/as_written/pencil.hpp"
#include "tests/sched/backends/as_written/thread_queue.hpp"

/// Port and Scheduler as written: wrong on purpose, see pencil.hpp.
namespace weft::tests::as_written {

struct port {
  std::atomic<bool> locked = false;
  process* target = nullptr;

  /// Send: returns null, or this port, locked.
  port* send() {
    invariant(!locked, "the test runs who has to wait for a lock");
    locked = true;
    if (target != nullptr) {
      ++target->messages;
      return this;
    }
    locked = false;
    return nullptr;
  }
};

/// Why a process stops running.
struct interrupt {
  enum { terminate, yielded, target_yielded } kind = terminate;
  port* to = nullptr;  // of target_yielded
};

/// "Is really a CAS, linked-list through Threads".
class idle_threads {
 public:
  explicit idle_threads(pencil const& p) : between_(p) {}

  void push(thread* t) {  // DEFECT-7: it may be there already
    thread* last = top;
    do {
      t->next_idle = last;
    } while (!top.compare_exchange_strong(last, t));
  }
  thread* pop() {
    for (;;) {
      thread* t = top;
      if (t == nullptr) return nullptr;
      thread* const next = t->next_idle;
      between_("Pop has read");
      if (top.compare_exchange_strong(t, next)) return t;  // DEFECT-7: `next` may be stale
    }
  }

  std::atomic<thread*> top = nullptr;

 private:
  pencil const& between_;
};

class scheduler {
 public:
  /// The program of all processes, a step at a time.
  using program = std::function<interrupt(process&)>;

  scheduler(int n, pencil const& p, program does) : idle(p), between_(p), interpret(does) {
    for (int i = 0; i != n; ++i) threads.push_back(std::make_unique<thread>(p));
  }

  void run_thread(thread& t) {
    for (;;) {
      t.idle_monitor.lock();
      while (t.is_empty() && processes > 0) {
        between_("T.IsEmpty");
        idle.push(&t);  // DEFECT-7, DEFECT-8
        t.idle_monitor.wait();
      }
      t.idle_monitor.unlock();
      if (processes == 0) break;
      for (;;) {  // DEFECT-4
        between_("DequeueFromThread(T)");
        process* p = dequeue_from_thread(t);
        while (p != nullptr) p = execute(p, t);
      }
    }
  }

  process* execute(process* p, thread& t) {
    between_("Execute(P, T)");
    interrupt const why = interpret(*p);

    if (why.kind == interrupt::terminate) {
      processes--;
      if (processes == 0) notify_all_threads();
      return nullptr;
    }

    if (why.kind == interrupt::yielded) {
      p->change_state(state::running, state::yielding);
      if (p->messages == 0) {
        between_("P.IsQueueEmpty");
        p->change_state(state::yielding, state::sleeping);
      } else {
        p->change_state(state::yielding, state::queued);
        while (!t.try_enqueue(p).success) {
        }
      }
      return nullptr;
    }

    port& to = *why.to;
    invariant(to.locked, "Port.IsLocked()");
    process* const target = to.target;
    if (target->change_state(state::sleeping, state::running)) {
      to.locked = false;
      p->change_state(state::running, state::queued);
      enqueue_on_any_thread(p);
      return target;  // DEFECT-9
    }
    thread* const target_thread = target->owner_thread;
    if (target_thread != nullptr && target_thread->try_dequeue_entry(target)) {
      to.locked = false;
      p->change_state(state::running, state::queued);
      enqueue_on_any_thread(p);
      return target;  // DEFECT-9
    }
    to.locked = false;
    p->change_state(state::running, state::queued);
    enqueue_on_any_thread(p);
    return nullptr;
  }

  void notify_all_threads() {
    for (auto const& t : threads) t->wakeup();
  }

  bool enqueue_on_any_thread(process* p) {
    if (try_enqueue_on_idle_thread(p)) return true;
    between_("no thread is idle");  // DEFECT-8: a thread may be idle by now
    for (;;)
      for (auto const& t : threads) {
        auto const [success, was_empty] = t->try_enqueue(p);
        if (success) {
          if (was_empty) t->wakeup();
          return false;
        }
      }
  }

  bool try_enqueue_on_idle_thread(process* p) {
    for (;;) {
      thread* const t = idle.pop();
      if (t == nullptr) return false;
      if (!t->try_enqueue(p).success) continue;  // DEFECT-6
      t->wakeup();
      return true;
    }
  }

  process* try_dequeue_from_any_thread() {
    for (auto const& t : threads) {
      process* const p = t->try_dequeue().p;
      if (p != nullptr) return p;
    }
    return nullptr;
  }

  process* dequeue_from_thread(thread& t) {
    for (;;) {
      auto const [success, mine] = t.try_dequeue();
      if (success) return mine;  // DEFECT-5: null too
      process* const p = try_dequeue_from_any_thread();
      if (p != nullptr) return p;
    }
  }

  std::vector<std::unique_ptr<thread>> threads;
  idle_threads idle;
  std::atomic<int> processes = 0;

 private:
  pencil const& between_;
  program interpret;
};

}  // namespace weft::tests::as_written
