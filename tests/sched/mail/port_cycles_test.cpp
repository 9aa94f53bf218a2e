// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

// Ports that own one another through the messages sent to them: their scheduler destroys them.

std::atomic<int> alive = 0;
/// Counts the objects that are alive.
struct counted {
  counted() { ++alive; }
  counted(counted&&) noexcept { ++alive; }
  ~counted() { --alive; }
};
struct parcel {
  std::unique_ptr<inbox<parcel>> in;
  std::shared_ptr<inbox<parcel>> shared_in;
  std::unique_ptr<routed_inbox<parcel>> routed_in;
  std::optional<address<parcel>> to;
  counted one;
};

BACKENDS_TEST_CASE("messages that no process can receive any more are destroyed with the scheduler",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::optional<inbox<parcel>> in;
  std::optional<address<parcel>> to;
  run_on(chosen, [&]() -> eff<void, mail> {
    auto both = co_await open<parcel>();
    (void)co_await both.to.send(parcel());
    (void)co_await both.to.send(parcel());
    in.emplace(std::move(both.in));
    to.emplace(std::move(both.to));
  });
  CHECK(alive == 0);
  // Its ends may be destroyed later, in any order.
  in.reset();
  to.reset();
}

parcel with(inbox<parcel> in) {
  parcel p;
  p.in = std::make_unique<inbox<parcel>>(std::move(in));
  return p;
}
using program = eff<void, mail, routing>;

program an_inbox_in_its_own_queue() {
  auto both = co_await open<parcel>();
  (void)co_await both.to.send(with(std::move(both.in)));
}
program a_shared_inbox_in_its_own_queue() {
  auto both = co_await open<parcel>();
  parcel p;
  p.shared_in = std::make_shared<inbox<parcel>>(std::move(both.in));
  auto const kept = p.shared_in;
  (void)co_await both.to.send(std::move(p));
}
program two_in_each_others_queues() {
  auto a = co_await open<parcel>();
  auto b = co_await open<parcel>();
  (void)co_await a.to.send(with(std::move(b.in)));
  (void)co_await b.to.send(with(std::move(a.in)));
}
program an_address_in_its_own_queue() {
  auto both = co_await open<parcel>();
  parcel p;
  p.to = both.to;
  (void)co_await both.to.send(std::move(p));
}
program a_routed_inbox_in_its_own_queue() {
  parcel p;
  p.routed_in = std::make_unique<routed_inbox<parcel>>();
  *p.routed_in = co_await open_inbox<parcel>();
  auto const to = p.routed_in->get_address();
  (void)co_await to.send(std::move(p));
}
/// A long chain of inboxes, each in the queue of the next one, and the last in the queue of the
/// first.
program a_thousand_in_a_ring() {
  auto first = co_await open<parcel>();
  auto const to_the_first = first.to;
  auto last = std::move(first.in);
  for (int i = 0; i != 1'000; ++i) {
    auto next = co_await open<parcel>();
    (void)co_await next.to.send(with(std::move(last)));
    last = std::move(next.in);
  }
  (void)co_await to_the_first.send(with(std::move(last)));
}
program one_that_fails_then() {
  co_await an_inbox_in_its_own_queue();
  throw std::runtime_error("failed");
}

BACKENDS_TEST_CASE(
    "ports that own one another by their messages are destroyed with their scheduler", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  for (auto* const p :
       {an_inbox_in_its_own_queue, a_shared_inbox_in_its_own_queue, two_in_each_others_queues,
        an_address_in_its_own_queue, a_routed_inbox_in_its_own_queue, a_thousand_in_a_ring}) {
    run_on(chosen, p);
    CHECK(alive == 0);
  }
  CHECK_THROWS_WITH(run_on(chosen, one_that_fails_then), "failed");
  CHECK(alive == 0);
}

TEST_CASE("no schedule leaks ports that own one another") {
  for (auto const g : {granularity::cooperative, granularity::parallel})
    for (auto* const p :
         {an_inbox_in_its_own_queue, two_in_each_others_queues, a_routed_inbox_in_its_own_queue}) {
      auto const found = explore(
          {.granularity = g}, [] { return 0; }, [p](int&) { return p(); },
          [](int) { return alive == 0; });
      CHECK(found.ok());
      CHECK(found.leaked == 0);
    }
}
