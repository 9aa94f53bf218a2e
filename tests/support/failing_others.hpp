// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/failing_program.hpp"

/// Failures, commands, steppers, sockets, and handlers inside processes.
namespace weft::tests::for_failures {

// ---- failures

inline std::string failures(chosen_backend chosen) {
  try {
    run_on(chosen, []() -> program {
      for (int i = 0; i != 2; ++i)
        co_await spawn([]() -> step {
          gate g;
          co_await syncing::wait{g};
        });
      co_await proc::yield{};
      throw std::runtime_error("failed");
    });
  } catch (exceptions const&) {
    throw;
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return "none";
}
inline std::string deadlocks(chosen_backend chosen) {
  try {
    run_on(chosen, []() -> program {
      mutex m;
      auto const held = co_await m.lock();
      co_await spawn([]() -> step {
        gate g;
        co_await syncing::wait{g};
      });
      auto const again = co_await m.lock();
    });
  } catch (deadlock const&) {
    return "deadlock";
  }
  return "none";
}

// ---- commands, steppers, sockets

inline std::string issued_commands(chosen_backend chosen) {
  counter n = 0;
  desk_of<resolve> desk;
  std::atomic<bool> is_over = false;
  std::exception_ptr error;
  {
    thread_of const thread([&] {
      while (!is_over || desk.size() != 0) try {
          if (desk.size() == 0) {
            std::this_thread::yield();
          } else {
            auto [asked, answer] = desk.take();
            answer.complete(asked.host + " is at an address that is long enough to be allocated");
          }
        } catch (...) {
          error = std::current_exception();
        }
    });
    says_at_end const ends{is_over};
    try {
      run_on(
          chosen,
          [&]() -> asking_program {
            auto a = co_await issue(resolve("a"));
            auto const b = co_await perform(resolve("b"));
            n += co_await perform(twice(2));
            auto const c = co_await a.wait();
            n += static_cast<int>(b.size() + c.size());
            co_await perform(nap());
          },
          thread_safe_dispatchers{
              [&](resolve c, reply<std::string> r) { desk.put(std::move(c), std::move(r)); },
              [](twice c, reply<int> r) { r.complete(2 * c.number); },
              [](nap, reply<void> r) { r.complete(); }});
    } catch (completion_dropped const&) {
      // By the thread, or a dispatcher, for lack of memory.
      throw std::bad_alloc();
    }
  }
  if (error) std::rethrow_exception(error);
  return text(n);
}

inline std::string steppers_that_parse(chosen_backend chosen) {
  counter lines = 0;
  std::array<counter, 2> chunks{};
  run_on(
      chosen,
      []() -> eff<void, spawning<steppers<line_parser, parsing_coroutine>>> {
        co_await start_stepper(line_parser(), "lines", "0");
        co_await start_stepper(line_parser_as_a_coroutine(), "words", "1");
      },
      thread_safe_dispatchers{[&](more m, reply<std::string> r) {
                                int const n = chunks[m.from == "1"]++;
                                r.complete(n == 3 ? "" : "a line\nand one that goes ");
                              },
                              [&](line, reply<void> r) {
                                ++lines;
                                r.complete();
                              }});
  return text(lines);
}

/// A stepper that counts its messages, and reports the count every other step and at its end.
struct counts_messages {
  using commands = command_list<more, line>;
  using input = std::string;
  using message = std::string;

  void init(std::string_view method, std::string given) {
    if (method != "count") throw std::invalid_argument("unknown");
    text_ = std::move(given);
  }
  void step(std::span<event> events, step_output<more, line>& out) {
    for (event& e : events) {
      if (e.type == event_type::cancelled) return;
      if (e.type == event_type::completed) {
        e.result<void>();
        --told_;
        continue;
      }
      text_ += e.data.take<std::string>();
      out.issue(line("messages", text_));
      ++told_;
      if (++messages_ == 3)
        out.issue(line("messages", "that was the last one, and it is long")), ++told_;
    }
    if (messages_ == 3 && told_ == 0) out.status = step_status::done;
    if (messages_ == 0) out.status = step_status::again;
  }
  void close() noexcept {}

 private:
  std::string text_;
  int messages_ = 0;
  int told_ = 0;
};
inline std::string steppers_with_messages(chosen_backend chosen) {
  counter lines = 0;
  run_on(
      chosen,
      []() -> eff<void, spawning<steppers<counts_messages>>, mail> {
        auto [in, to] = co_await open<std::string>({.capacity = 1});
        co_await start_stepper(counts_messages(), "count", "what has come so far:", std::move(in));
        for (int i = 0; i != 3; ++i)
          (void)co_await to.send("a message that is too long to lie in the string");
      },
      thread_safe_dispatchers{[](more, reply<std::string> r) { r.complete(""); },
                              [&](line, reply<void> r) {
                                ++lines;
                                r.complete();
                              }});
  return text(lines);
}
/// The dispatcher keeps the replies until all steppers are cancelled.
inline std::string steppers_that_are_cancelled(chosen_backend chosen) {
  counter n = 0;
  std::mutex m;
  std::vector<reply<std::string>> kept;
  kept.reserve(4);
  try {
    run_on(
        chosen,
        [&]() -> eff<void, spawning<steppers<line_parser>>, proc> {
          co_await start_stepper(line_parser(), "lines", "one");
          co_await start_stepper(line_parser(), "words", "two");
          while (n != 2) co_await proc::yield{};
          throw std::runtime_error("failed");
        },
        thread_safe_dispatchers{[&](more, reply<std::string> r) {
                                  std::lock_guard const lock(m);
                                  kept.push_back(std::move(r));
                                  ++n;
                                },
                                [&](line, reply<void> r) { r.complete(); }});
  } catch (exceptions const&) {
    throw;
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return "none";
}

using net_row = row<proc, io, completions, timing>;
inline eff<void, net_row> echoes(connection c) {
  std::array<std::byte, 100> buffer;
  for (;;) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return;
    co_await c.write(std::span(buffer).first(n));
  }
}
inline eff<void, net_row> listens(listener l) { co_await echoes(co_await l.accept()); }
inline std::string sockets(chosen_backend chosen) {
  counter n = 0;
  memory_network net;
  run_on(
      chosen, virtual_time(),
      [&]() -> eff<void, spawning<net_row>, net_row> {
        listener l = co_await listen(endpoint());
        endpoint const there = l.local();
        co_await spawn(listens, std::move(l));
        connection c = co_await connect(there);
        for (int i = 0; i != 2; ++i) {
          co_await c.write("hello");
          std::array<std::byte, 5> buffer;
          co_await c.read_all(buffer);
          n += static_cast<int>(buffer.size());
        }
        co_await c.finish();
      },
      synchronized(net));
  return text(n);
}

/// With the network of the system.
inline std::string real_sockets(chosen_backend chosen) {
  counter n = 0;
  reactor net;
  run_on(
      chosen,
      [&]() -> eff<void, spawning<net_row>, net_row> {
        listener l = co_await listen(endpoint());
        endpoint const there = l.local();
        co_await spawn(listens, std::move(l));
        connection c = co_await connect(there);
        for (int i = 0; i != 2; ++i) {
          co_await c.write("hello");
          std::array<std::byte, 5> buffer;
          co_await c.read_all(buffer);
          n += static_cast<int>(buffer.size());
        }
        co_await c.finish();
        std::array<std::byte, 5> rest;
        n += static_cast<int>(co_await c.read(rest));
      },
      net);
  return text(n);
}
/// Reads that are cancelled, by a deadline and by a scope.
inline std::string real_sockets_that_are_cancelled(chosen_backend chosen) {
  counter n = 0;
  reactor net;
  using waiting = row<io, proc, completions, timing, tasking<io, proc, completions, timing>>;
  run_on(
      chosen,
      [&]() -> eff<void, waiting> {
        listener l = co_await listen(endpoint());
        connection c = co_await connect(l.local());
        connection other = co_await l.accept();
        std::array<std::byte, 5> buffer;
        try {
          (void)co_await c.read(buffer, co_await timing::now{} + 100us);
        } catch (io_error const&) {
          ++n;
        }
        co_await with_scope([&](auto& s) -> eff<void, waiting> {
          s.start([&]() -> eff<void, waiting> {
            try {
              (void)co_await other.read(buffer);
            } catch (cancelled const&) {
              ++n;
              throw;
            }
          });
          co_await proc::yield{};
          co_await timing::sleep_for(100us);
          s.cancel();
        });
        try {
          endpoint gone;
          {
            listener const door = co_await listen(endpoint());
            gone = door.local();
          }
          (void)co_await connect(gone);
        } catch (io_error const&) {
          ++n;
        }
      },
      net);
  return text(n);
}

// ---- handlers inside processes

struct picking {
  struct pick : op<int> {
    explicit pick(int n) : of(n) {}
    int of;
  };
  using operations = op_list<pick>;
};
struct picks_all : handler<picking> {
  eff<int> on(picking::pick p, multi_resumption<int, int> k) const {
    int sum = 0;
    for (int i = 0; i != p.of; ++i) sum += co_await k(i);
    co_return sum;
  }
};
inline eff<int, picking> picks_thrice() {
  int sum = 0;
  for (int i = 0; i != 3; ++i) sum += co_await picking::pick{2};
  co_return sum;
}
inline std::string multi_shots(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    n += co_await handle<picking>(picks_all(), [] { return picks_thrice(); });
    co_await proc::yield{};
    auto const all_of_them = co_await handle(all_solutions(), []() -> eff<int, choose> {
      int const a = co_await one_of(1, 2, 3);
      int const b = co_await one_of(1, 2);
      co_await guard(a != b);
      co_return a + b;
    });
    n += std::accumulate(all_of_them.begin(), all_of_them.end(), 0);
  });
  return text(n);
}

inline eff<void, emit<int>> counts_up() {
  for (int i = 0; i != 4; ++i) co_await emit<int>::value(i);
}
inline std::string handlers(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    auto const emitted = co_await handle(emit_to_vector<int>(), [] { return counts_up(); });
    n += static_cast<int>(emitted.size());
    for (int const x : each(counts_up)) n += x;
    int const kept = co_await handle(state_of<int>(3), []() -> eff<int, state<int>, all> {
      int const x = co_await state<int>::get{};
      co_await proc::yield{};
      co_await state<int>::put{x + 1};
      co_return co_await state<int>::get{};
    });
    n += kept;
  });
  return text(n);
}

}  // namespace weft::tests::for_failures
