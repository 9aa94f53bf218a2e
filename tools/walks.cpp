// SPDX-License-Identifier: MIT
// The walks of ARCHITECTURE.md: prints, for each, the addresses of the functions that execute from the
// call that makes the awaitable until the statement after the co_await.  Read by tools/walks.py.
#include <cstddef>
#include <cstdio>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/when_all.hpp>
using namespace weft;

template class std::allocator<
    char>;  // clang -finstrument-functions calls what the library has inlined

namespace {
constexpr std::size_t most = 1 << 16;
void* executed[most];
std::size_t count = 0;
bool is_noting = false;

[[gnu::no_instrument_function]] void begin() {
  count = 0;
  is_noting = true;
}
[[gnu::no_instrument_function]] void end(char const* walk) {
  is_noting = false;
  for (std::size_t i = 0; i != count; ++i) std::printf("%s %p\n", walk, executed[i]);
}

eff<void, yielding> yields(bool notes) {
  co_await yielding::yield{};
  if (notes) begin();
  co_await yielding::yield{};
  if (notes) end("yield");
  co_await yielding::yield{};
}
eff<void, spawning<yielding>> two_yield() {
  co_await spawn(yields, true);
  co_await spawn(yields, false);
}

eff<void, mail, yielding> sends(address<int> to) {
  for (int i = 0; i != 3; ++i) {
    co_await yielding::yield{};
    co_await to.send(i);
  }
}
eff<void, spawning<mail, yielding>, mail> receives() {
  auto [in, to] = co_await open<int>();
  co_await spawn(sends, std::move(to));
  (void)co_await in.next();
  begin();
  (void)co_await in.next();
  end("message");
}

eff<int, tasking<>> two() { co_return 2; }
eff<void, tasking<>> joins() {
  (void)co_await when_all(two(), two());
  begin();
  (void)co_await when_all(two(), two());
  end("join");
}
}  // namespace

extern "C" {
[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void* function, void*) {
  if (is_noting && count != most) executed[count++] = function;
}
[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void*, void*) {}
}

int main() {
  schedule(two_yield);
  schedule(receives);
  schedule(joins);
}
