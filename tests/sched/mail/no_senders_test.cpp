// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

// What a receiver finds if a failure destroys its last sender: `cancelled`, once the failure has
// reached the scheduler or the scope of the receiver; before that, `no_senders`.

using step = eff<void, proc, mail>;
enum class found : unsigned char { nothing, a_message, no_sender, a_cancellation };

step receives(inbox<int> in, found& what) {
  try {
    (void)co_await in.receive();
    what = found::a_message;
  } catch (no_senders const&) {
    what = found::no_sender;
    throw;
  } catch (cancelled const&) {
    what = found::a_cancellation;
    throw;
  }
}
step keeps_address(address<int> to) {
  for (;;) {
    co_await proc::yield{};
    if (to != to) co_return;
  }
}

BACKENDS_TEST_CASE("a receiver in a scope that is cancelled finds the cancellation, not no_senders",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  for (int round = 0; round != 100; ++round) {
    found inside = found::nothing;
    found outside = found::nothing;
    run_on(chosen, [&]() -> eff<void, spawning<proc, mail>, tasking<proc, mail>, proc, mail> {
      auto first = co_await open<int>();
      auto second = co_await open<int>();
      // Outside of the scope it is true that no sender is left.
      co_await spawn(
          [](inbox<int> in, found& what) -> step {
            auto const m = co_await in.next();
            what = m ? found::a_message : found::no_sender;
          },
          std::move(second.in), std::ref(outside));
      auto const body = [&](auto& s) -> eff<void, proc, mail> {
        s.start(receives, std::move(first.in), std::ref(inside));
        s.start(keeps_address, std::move(first.to));
        s.start(keeps_address, std::move(second.to));
        for (int i = 0; i != 3; ++i) co_await proc::yield{};
        s.cancel();
      };
      try {
        co_await with_scope(body);
      } catch (cancelled const&) {
      }
    });
    if (inside == found::no_sender || inside == found::a_message)
      FAIL("round " << round << ": found " << static_cast<int>(inside));
    if (outside != found::no_sender) FAIL("round " << round << ": outside");
  }
}

using program = eff<void, spawning<proc, mail>, mail, proc>;

step waits(address<int> to, inbox<int> in) {
  (void)co_await in.receive();
  (void)co_await to.send(1);
}
step fails() {
  co_await proc::yield{};
  throw std::runtime_error("failed");
}

/// The process that fails has no address.  The failure cancels the process that has the last one.
template <bool Waits>
program the_sender_is_cancelled(found& what) {
  auto both = co_await open<int>();
  co_await spawn(receives, std::move(both.in), std::ref(what));
  std::optional<address<int>> kept;
  if constexpr (Waits) {
    auto other = co_await open<int>();
    kept.emplace(other.to);
    co_await spawn(waits, std::move(both.to), std::move(other.in));
  } else {
    co_await spawn(keeps_address, std::move(both.to));
  }
  co_await spawn(fails);
  for (;;) co_await proc::yield{};  // keeps `kept`
}

/// The end of a run: its failures, without the no_senders among them.
struct end {
  found what = found::nothing;
  int failures = 0;
  int without_senders = 0;
};
template <class Where, class Program>
end end_of(Program p) {
  every_frame_dies const check;
  end e;
  auto const count = [&e](std::exception_ptr const& error) {
    try {
      std::rethrow_exception(error);
    } catch (no_senders const&) {
      ++e.without_senders;
    } catch (std::runtime_error const& f) {
      if (f.what() == std::string("failed")) ++e.failures;
    }
  };
  try {
    run_on<Where>([&] { return p(e.what); });
  } catch (exceptions const& all) {
    for (auto const& f : all.all) count(f.error);
  } catch (...) {
    count(std::current_exception());
  }
  return e;
}

TEMPLATE_TEST_CASE("a receiver whose sender is cancelled by a failure finds the cancellation", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<4>,
                   on_stealing<2>, on_stealing<4>) {
  for (int round = 0; round != 200; ++round) {
    auto const yields = end_of<TestType>(the_sender_is_cancelled<false>);
    auto const sleeps = end_of<TestType>(the_sender_is_cancelled<true>);
    for (auto const& e : {yields, sleeps}) {
      // It finds nothing if it is cancelled before it has begun.
      if (e.what == found::no_sender || e.what == found::a_message)
        FAIL("round " << round << ": found " << static_cast<int>(e.what));
      if (e.failures != 1 || e.without_senders != 0)
        FAIL("round " << round << ": " << e.failures << ", " << e.without_senders);
    }
  }
}

step fails_with_it(address<int> to) {
  address<int> const mine = std::move(to);
  co_await proc::yield{};
  throw std::runtime_error("failed");
}

/// The process that fails has the last address.
program the_sender_fails(found& what) {
  auto both = co_await open<int>();
  co_await spawn(receives, std::move(both.in), std::ref(what));
  co_await spawn(fails_with_it, std::move(both.to));
}

TEMPLATE_TEST_CASE("on one thread a receiver whose sender fails finds the cancellation", "",
                   on_one_thread, in_random_order) {
  for (int round = 0; round != 100; ++round) {
    auto const e = end_of<TestType>(the_sender_fails);
    CHECK(e.what != found::no_sender);
    CHECK(e.failures == 1);
    CHECK(e.without_senders == 0);
  }
}

TEMPLATE_TEST_CASE(
    "on several threads a receiver whose sender fails may find no_senders before the cancellation",
    "", on_sharing<2>, on_sharing<4>, on_stealing<2>, on_stealing<4>) {
  for (int round = 0; round != 500; ++round) {
    auto const e = end_of<TestType>(the_sender_fails);
    // Either; and the failure that caused it is always reported.
    if (e.what == found::a_message) FAIL("round " << round << ": a message");
    if (e.failures != 1) FAIL("round " << round << ": " << e.failures << " failures");
    if (e.without_senders != (e.what == found::no_sender))
      FAIL("round " << round << ": " << e.without_senders << " without senders");
  }
}

TEST_CASE("explore finds a receiver that ends with no_senders at granularity::parallel only") {
  auto const ends_of = [](granularity g, auto program) {
    std::set<std::string> all;
    auto const found_all = explore(
        {.max_schedules = 20'000, .granularity = g, .max_shrinking_runs = 0},
        [] { return std::make_unique<found>(found::nothing); },
        [=](std::unique_ptr<found>& f) { return program(*f); }, [](auto const&) { return true; });
    for (auto const& o : found_all.outcomes) {
      CHECK(o.result.verdict == verdict::failed);  // never a deadlock, and never a success
      all.insert(o.result.text.starts_with("weft: 2 processes failed") ? "both" : o.result.text);
    }
    return all;
  };
  using texts = std::set<std::string>;
  CHECK(ends_of(granularity::cooperative, the_sender_fails) == texts{"failed"});
  CHECK(ends_of(granularity::parallel, the_sender_fails) == texts{"both", "failed"});
}
