// SPDX-License-Identifier: MIT
// An engine of durable processes: messages, queries, a next run, what the store has of them.
#include <chrono>
#include <iostream>
#include <string>

#include <weft/durable/engine.hpp>
#include <weft/durable/memory_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<std::string, durable::mail, durable::history, timing> greets(int times) {
  co_await durable::publish(times);
  durable::letter<std::string> const first = co_await durable::receive<std::string>();
  bool const is_polite = co_await durable::changed("polite");
  instant const now = co_await timing::now{};
  auto const second = co_await durable::receive_until<std::string>(now + 1h);
  if (second) co_await durable::continue_as_new(times + 1);
  co_return std::string(is_polite ? "dear " : "") + first.message + " of " +
      (first.sender.empty() ? "outside" : first.sender);
}
constexpr durable::function greets_process{"greets", 1, greets};

void show(durable::engine_base& e) {
  for (durable::process_record const& r : e.list(0, 100)) {
    std::cout << r.key << ' ' << r.start.id << ": " << r.start.function << ' ' << r.start.version
              << durable::readable(r.start.arguments) << ", run " << r.run << ", "
              << durable::name_of(r.status) << (r.wake ? " for a time, " : ", ") << r.entries
              << " entries, " << r.messages << " messages, published "
              << durable::readable(r.published);
    if (!r.start.parent.empty()) std::cout << ", child of " << r.start.parent;
    if (!r.result.empty()) std::cout << ", result " << durable::readable(r.result);
    std::cout << '\n';
  }
}

int main() {
  durable::memory_store store;
  durable::engine_options how;
  how.until = durable::run_until::idle;
  how.clock = durable::clock_source::scheduler;
  how.keep_waiting = 1min;
  how.max_running = 100;
  how.max_batch = 10;
  durable::engine e(how, store, greets_process);
  auto const advance = [](auto& of) { schedule({.virtual_time = true}, [&] { return of.run(); }); };

  e.start("a", greets_process, 0);
  e.start("b", greets_process, 0);
  e.send("a", std::string("Ada"));
  e.send("a", std::string("Bob"), "once");
  e.send("a", std::string("Bob"), "once");  // the same message
  advance(e);
  show(e);
  std::cout << "published " << *e.query<int>("a") << '\n';
  e.send("a", std::string("Eve"));
  e.cancel("b", "no more greetings");

  durable::engine last(
      {.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler}, store,
      greets_process);
  advance(last);
  for (durable::log_entry const& entry : last.history("a"))
    std::cout << entry.operation << ' ' << durable::readable(entry.answer) << '\n';
  std::cout << last.result<std::string>("a") << '\n';
  auto const b = last.wait_for("b", 1s);
  try {
    std::cout << last.result_of<std::string>(*b) << '\n';
  } catch (durable::child_failed const& thrown) {
    std::cout << thrown.what() << '\n';
  }
  std::cout << durable::name_of(last.find("a")->status)
            << ", was quarantined: " << last.resume_quarantined("a") << '\n';

  durable::engine serving({.until = durable::run_until::stopped,
                           .clock = durable::clock_source::wall,
                           .listens = true,
                           .looks_outside = 100ms,
                           .worker = "here"},
                          store, greets_process);
  serving.stop();  // by another thread, usually
  schedule([&] { return serving.run(); });
  std::cout << "stopped\n";
}
