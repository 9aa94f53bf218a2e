// SPDX-License-Identifier: MIT
#include "weft/sched/backends/detail/stealing_shared.hpp"

#include <memory>

namespace weft::detail {

stealing_shared::stealing_shared(stealing_options const& o, unsigned threads)
    : options(o), count(threads), homes(std::make_unique<home[]>(threads)), idle(threads) {
  if (count == 1 || count > most_interrupted)
    for (unsigned i = 0; i != count; ++i) homes[i].lazy.do_not_interrupt();
}
stealing_shared::~stealing_shared() {
  for (unsigned i = 0; i != count; ++i) {
    // The lazy tasks that are left are promoted, and the processes dropped (BACKEND-6).
    while (auto const o = homes[i].lazy.try_pop()) (void)(*o)->promote();
    while (auto const p = homes[i].deque.try_pop()) (void)thunk_of(**p);
    for (header* p; homes[i].yielded.take({&p, 1}) != 0;) (void)thunk_of(*p);
  }
  for (header* p; global.take({&p, 1}, 1) != 0;) (void)thunk_of(*p);
}

void stealing_shared::add_to_list(process& p) noexcept {
  header& at = header_of<header>(p);
  at.listed = list.add(p, at.life, at.steps);
}
bool stealing_shared::all_are_empty() const noexcept {
  if (!all_look_empty()) return false;
  homes[0].lazy.before_last_look();  // one fence for the deques of all workers (STEAL-7)
  return all_look_empty();
}
bool stealing_shared::all_look_empty() const noexcept {
  for (unsigned i = 0; i != count; ++i)
    if (!homes[i].deque.is_empty() || !homes[i].yielded.is_empty() || !homes[i].lazy.is_empty())
      return false;
  return global.is_empty();
}

}  // namespace weft::detail
