// SPDX-License-Identifier: MIT
// Lazy tasks of a worker: its thread takes them back, the newest first, unless a take promotes them.
#include <iostream>

#include <weft/sched/schedule.hpp>
using namespace weft;

class says : public lazy_task {
 public:
  explicit says(int n) : number(n) {}
  thunk promote() noexcept override {
    std::cout << "task " << number << " would become a process\n";
    return thunk::reason::quiescent;  // this one is settled without a process
  }
  int number;
};

says tasks[2] = {says(1), says(2)};
lazy_task* next() {
  static int n = 0;
  return &tasks[n++];
}

char const* name_of(lazy_push p) {
  switch (p) {
    case lazy_push::done:
      return "done";
    case lazy_push::unannounced:
      return "unannounced";
    case lazy_push::no_room:
      return "no room";
  }
  return "";
}

int main() {
  one_thread home;
  one_thread::worker w(home, 0);
  std::cout << name_of(w.push_lazy(2, next)) << '\n';
  w.reserve_lazy(2);
  std::cout << name_of(w.push_lazy(2, next)) << '\n';
  std::cout << static_cast<says*>(w.reclaim())->number << " is taken back\n";
  thunk const t = w.take(instant(), quiescence_test());
  std::cout << bool(t) << (w.reclaim() == nullptr) << '\n';
  wait_kind const of_an_inbox = wait_kind::mail, of_a_lock = wait_kind::other;
  std::cout << (of_an_inbox == of_a_lock) << '\n';  // what a worker is told of a wait
}
