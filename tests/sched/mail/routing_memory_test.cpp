// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/operator_new.hpp"

/// The cost of the table of routes: nothing before an inbox is opened; and what happens without
/// memory for it.

namespace {

/// The number of allocations that succeed before one throws; if negative, none throws.
long until_failure = -1;
/// Tables of routes: 64 shards of two cache lines each, and one more line for their number.
int tables = 0;

}  // namespace

bool weft::tests::admit(allocation const& a) noexcept {
  if (!a.throws) return true;
  if (until_failure >= 0 && until_failure-- == 0) return false;
  tables += a.alignment == 64 && a.bytes == std::size_t{64} * 128 + 64;
  return true;
}

namespace {

using program = eff<void, spawning<mail, routing>, mail, routing>;

program sends_to_inboxes() {
  process_id const child = co_await spawn([]() -> eff<void, mail, routing> {
    auto in = co_await open_inbox<int>();
    (void)co_await in.try_receive();
  });
  auto in = co_await open_inbox<int>();
  (void)co_await send(in.owner(), 1);
  (void)co_await send(child, 2);
  (void)co_await in.receive();
}

}  // namespace

TEST_CASE("a scheduler has one table of routes, allocated when a process opens an inbox") {
  int const before = tables;
  schedule([]() -> eff<void, mail> {
    auto [in, to] = co_await open<int>();
    (void)co_await to.send(1);
  });
  CHECK(tables == before);
  schedule([]() -> program {
    bool const there = co_await send(process_id(), 1);
    if (there) throw std::logic_error("nobody is there");
  });
  CHECK(tables == before);
  schedule(sends_to_inboxes);
  CHECK(tables == before + 1);
}

TEST_CASE("whichever allocation throws, everything is destroyed, and nothing is kept") {
  int failed = 0;
  for (bool is_done = false; !is_done; ++failed) {
    every_frame_dies const check;
    until_failure = failed;
    try {
      schedule(sends_to_inboxes);
    } catch (std::bad_alloc const&) {
    } catch (exceptions const&) {
    }
    is_done = until_failure >= 0;
    until_failure = -1;
    REQUIRE(failed < 1000);
  }
  CHECK(failed > 5);
}
