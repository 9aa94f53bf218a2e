// SPDX-License-Identifier: MIT

/// The cost of the table of routes: nothing before an inbox is opened; and what happens without
/// memory for it.

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "effects/effects.hpp"
#include "sched/mail/routing.hpp"
#include "sched/schedule.hpp"
#include "tests/support/frames.hpp"

namespace {

/// The number of allocations that succeed before one throws; if negative, none throws.
long until_failure = -1;
/// Tables of routes: the only allocations of this size and alignment.
int tables = 0;

void* allocate(std::size_t bytes, std::size_t alignment = 0) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  tables +=
      alignment == alignof(weft::detail::route_table) && bytes == sizeof(weft::detail::route_table);
  std::size_t const whole =
      alignment == 0 ? bytes : (bytes + alignment - 1) / alignment * alignment;
  void* const p =
      alignment == 0 ? std::malloc(bytes == 0 ? 1 : bytes) : std::aligned_alloc(alignment, whole);
  if (p) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return allocate(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return std::malloc(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace weft;
using namespace weft::tests;

namespace {

using program = eff<void, spawning<mail, routing>, mail, routing>;

program talks() {
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
  schedule(talks);
  CHECK(tables == before + 1);
}

TEST_CASE("whichever allocation throws, everything is destroyed, and nothing is kept") {
  int failed = 0;
  for (bool is_done = false; !is_done; ++failed) {
    every_frame_dies const check;
    until_failure = failed;
    try {
      schedule(talks);
    } catch (std::bad_alloc const&) {
    } catch (exceptions const&) {
    }
    is_done = until_failure >= 0;
    until_failure = -1;
    REQUIRE(failed < 1000);
  }
  CHECK(failed > 5);
}
