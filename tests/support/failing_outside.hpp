// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/failing_program.hpp"

/// Mail, and external events.
namespace weft::tests::for_failures {

// ---- mail

inline step sends(address<int> to, int from, int n) {
  for (int i = 0; i != n; ++i) (void)co_await to.send(from + i);
}
inline step sends_words(address<std::string> to) {
  for (char const* const w : {"one", "a message that is too long to lie in the string itself"})
    (void)co_await to.send(w);
}
inline std::string ports(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> program {
    auto [in, to] = co_await open<int>();
    auto [small, to_small] = co_await open<int>({.capacity = 1});
    auto [words, to_words] = co_await open<std::string>();
    co_await spawn(sends, to, 1, 4);
    co_await spawn(sends, std::exchange(to_small, to), 10, 4);
    co_await spawn(sends_words, std::move(to_words));
    to_small = small.get_address();
    for (int i = 0; i != 4; ++i) {
      n += co_await in.receive();
      n += co_await small.receive();
    }
    for (int i = 0; i != 2; ++i) {
      auto const word = co_await words.receive();
      n += static_cast<int>(word.size());
    }
    for (auto w = co_await words.next(); w; w = co_await words.next()) n += 1000;
    instant const now = co_await timing::now{};
    auto const found = co_await in.receive_until(now + 1h);
    if (!found) ++n;
  });
  return text(n);
}

inline std::string selects(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> program {
    auto [numbers, to_numbers] = co_await open<int>();
    auto [words, to_words] = co_await open<std::string>();
    co_await spawn(sends, to_numbers, 1, 3);
    co_await spawn(sends_words, to_words);
    for (int i = 0; i != 5; ++i) {
      auto const m = co_await select(numbers, words);
      n += m.index() == 0 ? std::get<0>(m) : static_cast<int>(std::get<1>(m).size());
    }
    instant const now = co_await timing::now{};
    auto const found = co_await select_until(now + 1h, numbers, words);
    if (!found) ++n;
  });
  return text(n);
}

inline step answers_by_id(std::reference_wrapper<counter> n, address<process_id> ready) {
  auto in = co_await open_inbox<int>();
  (void)co_await ready.send(in.owner());
  n.get() += co_await in.receive();
}
inline std::string routes(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> program {
    auto [ready, to_ready] = co_await open<process_id>();
    for (int i = 0; i != 3; ++i) co_await spawn(answers_by_id, std::ref(n), to_ready);
    for (int i = 0; i != 3; ++i) {
      process_id const who = co_await ready.receive();
      auto const found = co_await send(who, i + 1);
      if (found) ++n;
    }
  });
  return text(n);
}

// ---- external events

inline std::string completions(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> task {
    completer<int> source;
    auto number = source.get_completion();
    completer<void> other;
    auto done = other.get_completion();
    completer<int> goes;
    auto dropped = goes.get_completion();
    std::atomic<bool> waits = false;
    thread_of const thread([&, s = std::move(source), o = std::move(other),
                            g = std::make_unique<completer<int>>(std::move(goes))]() mutable {
      until([&] { return waits.load(); });
      s.complete(5);
      o.complete();
      g.reset();
    });
    says_at_end const ends{waits};
    waits = true;
    try {
      n += co_await number.wait();
      co_await done.wait();
      (void)co_await dropped.wait();
    } catch (completion_dropped const&) {
      n += 10;
    }
    completer<int> nobody_completes;
    auto late = nobody_completes.get_completion();
    auto const found = co_await late.wait_until(co_await timing::now{} + 1ms);
    if (!found) ++n;
  });
  return text(n);
}

inline std::string outside_gates(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    external_event before, after;
    before.open();
    std::atomic<bool> waits = false;
    thread_of const thread([&] {
      until([&] { return waits.load(); });
      after.open();
    });
    says_at_end const ends{waits};
    co_await completions::wait{before};
    ++n;
    waits = true;
    co_await completions::wait{after};
    ++n;
  });
  return text(n);
}

inline eff<void, proc, blocking_work> works_outside(std::reference_wrapper<counter> n, int x) {
  n.get() += co_await off_thread([x] { return x; });
  try {
    co_await off_thread([] { throw 5; });
  } catch (int thrown) {
    n.get() += thrown;
  }
}
inline std::string off_threads(chosen_backend chosen) {
  counter n = 0;
  thread_pool pool(2);
  run_on(
      chosen,
      [&]() -> eff<void, spawning<proc, blocking_work>, proc, blocking_work> {
        for (int i = 0; i != 3; ++i) co_await spawn(works_outside, std::ref(n), i);
      },
      pool);
  return text(n);
}

template <class Where>
std::string submissions(chosen_backend) {
  counter n = 0;
  auto s = scheduler_on<Where>();
  s.start(Where::how(), []() -> program { co_return; });
  {
    auto outside = s.template submitter<all>();
    outside.submit(yields, std::ref(n), 1);
    std::exception_ptr error;
    auto submits = [&, outside = std::move(outside)]() mutable {
      try {
        outside.submit(yields, std::ref(n), 1);
        auto value = outside.submit_task(
            [](int x) -> eff<int, proc> {
              co_await proc::yield{};
              co_return x;
            },
            5);
        auto nothing = outside.submit_task([] {});
        n += value.get();
        nothing.get();
      } catch (...) {
        error = std::current_exception();
      }
      {
        auto const gone = std::move(outside);
      }
    };
    {
      thread_of const thread(std::move(submits));
      s.run();
    }
    if (error) std::rethrow_exception(error);
  }
  return text(n);
}

template <class Where>
std::string shut_downs(chosen_backend) {
  counter n = 0;
  auto s = scheduler_on<Where>();
  std::atomic<bool> runs = false;
  s.start(Where::how(), [&]() -> program {
    for (int i = 0; i != 2; ++i)
      co_await spawn(
          [](std::reference_wrapper<counter> told) -> step {
            gate g;
            ++told.get();
            try {
              co_await syncing::wait{g};
            } catch (cancelled const&) {
              ++told.get();
              throw;
            }
          },
          std::ref(n));
    while (n != 2) co_await proc::yield{};
    runs = true;
    external_event nobody_opens;
    co_await completions::wait{nobody_opens};
  });
  std::exception_ptr error;
  {
    run_apart apart(s);
    while (!runs && s.alive() != 0) std::this_thread::yield();
    for (bool again = true; again;) try {
        again = false;
        (void)s.shut_down(far_away, "the lights go out, and that is said at length");
      } catch (std::bad_alloc const&) {
        again = true;
      }
    apart.join();
  }
  return text(n);
}

inline std::string stops(chosen_backend chosen) {
  std::stop_source stop;
  std::atomic<bool> waits = false;
  thread_of const thread([&] {
    until([&] { return waits.load(); });
    stop.request_stop();
  });
  says_at_end const ends{waits};
  try {
    run_on(chosen, options(false, stop.get_token()), [&]() -> program {
      co_await spawn([]() -> step {
        gate g;
        co_await syncing::wait{g};
      });
      waits = true;
      external_event nobody_opens;
      co_await completions::wait{nobody_opens};
    });
  } catch (cancelled const&) {
    return "cancelled";
  }
  return "not cancelled";
}

inline std::string rooms(chosen_backend chosen) {
  counter n = 0;
  auto o = options();
  o.max_processes = 2;
  o.when_full = overflow_policy::wait;
  run_on(chosen, std::move(o), [&]() -> program {
    for (int i = 0; i != 4; ++i) co_await spawn(yields, std::ref(n), i);
  });
  return text(n);
}

}  // namespace weft::tests::for_failures
