// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/trace/tracing.hpp"

/// Traces of schedulers with several threads, and with all backends.

constexpr int processes = 60;
constexpr int yields = 20;

auto program_of(std::atomic<int>& sum) {
  return [&sum]() -> eff<void, spawning<proc, mail>, proc, mail> {
    auto [in, to] = co_await open<int>({.capacity = 4});
    for (int i = 0; i != processes; ++i)
      co_await spawn(
          [](address<int> there, int n) -> eff<void, proc, mail> {
            for (int j = 0; j != yields; ++j) co_await proc::yield{};
            co_await there.send(n);
          },
          to, i);
    for (int i = 0; i != processes; ++i) sum += co_await in.receive();
  };
}

TEST_CASE("a trace of many rounds keeps one buffer for each thread") {
  trace t({.max_events = 50});
  for (int i = 0; i != 40; ++i) {
    std::atomic<int> sum = 0;
    schedule<tracing<sharing>>({.threads = 2, .forkable = false, .trace = &t}, program_of(sum));
  }
  CHECK(t.events().size() <= 3 * 50);  // the first process is put from outside
  CHECK(t.dropped() > 0);
}

template <class Backend>
void check_trace_of(typename scheduler<Backend>::options how) {
  trace t;
  std::atomic<int> sum = 0;
  how.trace = &t;
  how.forkable = false;
  schedule<tracing<Backend>>(how, program_of(sum));
  CHECK(sum == processes * (processes - 1) / 2);
  CHECK(t.dropped() == 0);
  auto const all = t.events();
  CHECK(std::ranges::is_sorted(all, {}, &trace_event::time));

  std::map<trace_kind, int> of_kind;
  std::map<process_id, int> puts, takes, resumes, ends, spawned;
  for (auto const& e : all) {
    ++of_kind[e.kind];
    if (e.kind == trace_kind::put) ++puts[e.process];
    if (e.kind == trace_kind::take) ++takes[e.process];
    if (e.kind == trace_kind::resume) ++resumes[e.process];
    if (e.kind == trace_kind::end) ++ends[e.process];
    if (e.kind == trace_kind::spawn) ++spawned[e.other];
    bool const is_performed = e.kind == trace_kind::perform || e.kind == trace_kind::suspend;
    bool const is_first = e.kind == trace_kind::spawn && e.other == process_id();
    if (is_performed || is_first) CHECK(e.under == "weft::scheduler");
    if (is_performed) CHECK(e.depth == 0);
  }
  CHECK(puts == takes);
  CHECK(spawned.size() == processes + 1);
  CHECK(ends.size() == processes + 1);
  for (auto const& [id, n] : ends) {
    INFO(id.text());
    CHECK(n == 1);
    CHECK(spawned[id] == 1);
    CHECK(resumes[id] >= takes[id]);
  }
  CHECK(of_kind[trace_kind::send] == processes);
  CHECK(of_kind[trace_kind::receive] == processes);
  CHECK(of_kind[trace_kind::park] == of_kind[trace_kind::unpark]);
}

TEST_CASE(
    "in a trace each put has its take, and each process one start and one end, by any backend") {
  check_trace_of<one_thread>({});
  check_trace_of<random_order>({.seed = 3});
  check_trace_of<sharing>({.threads = 1});
  check_trace_of<sharing>({.threads = 3});
  check_trace_of<stealing>({.threads = 1});
  check_trace_of<stealing>({.threads = 3});
}
