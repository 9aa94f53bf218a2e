// SPDX-License-Identifier: MIT
#include "weft/trace/traced_handler.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/tracing.hpp"

using namespace weft;

namespace {

struct counter {
  struct next : op<int> {};
  struct ask : op<int> {};
  using operations = op_list<next, ask>;
};
class counting : public handler<counter> {
 public:
  int on(counter::next) { return ++n_; }
  std::string on(counter::ask, resumption<int, std::string> k) { return resume(std::move(k), 10); }
  static std::string on_return(int n) { return "came to " + std::to_string(n); }

 private:
  int n_ = 0;
};
eff<int, counter> counts() {
  int n = co_await counter::next{};
  n += co_await counter::ask{};
  co_return n + co_await counter::next{};
}

}  // namespace

TEST_CASE("a traced handler answers as before, and adds each operation to the trace") {
  trace t;
  CHECK(run(handle(traced(counting(), t), counts())) == "came to 13");
  CHECK(t.events().size() == 5);
  CHECK(t.events()[0].worker == trace_event::outside);
}

TEST_CASE("a traced handler that is borrowed is borrowed") {
  trace t;
  state_of<int> n(5);
  auto const adds = []() -> eff<int, state<int>> {
    co_await state<int>::put{co_await state<int>::get{} + 1};
    co_return co_await state<int>::get{};
  };
  CHECK(run(handle<state<int>>(traced(n, t), adds())) == 6);
  CHECK(n.value() == 6);
  CHECK(t.events().size() == 6);
}

TEST_CASE("a traced handler inside a traced process adds to the lane of the process") {
  trace t;
  auto const program = [&t]() -> eff<void, proc> {
    co_await proc::yield{};
    (void)co_await handle(traced(counting(), t), counts());
  };
  schedule<tracing<>>({.forkable = false, .trace = &t}, program);
  int found = 0;
  for (auto const& e : t.events())
    if (e.operation.ends_with("counter::next")) {
      ++found;
      CHECK(e.worker == 0);
      CHECK(e.process.text() == "1");
    }
  CHECK(found == 4);
}
