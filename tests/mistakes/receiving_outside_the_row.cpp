// SPDX-License-Identifier: MIT

/// Mistake: `receive` without `mail` in the row

#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> receives(inbox<int>& in, int& n) { n = co_await in.receive(); }
eff<void, proc, mail> program() {
  auto [in, to] = co_await open<int>();
  int n = 0;
  co_await to.send(1);
  co_await receives(in, n);
}
int main() { schedule(program); }
