// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/incoming/submissions.hpp"

#include "tests/prelude.hpp"
#include "tests/support/parts.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/runtime/detail/incoming/admission.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"

using weft::detail::submissions;

TEST_CASE("a process that a program has started is not internal") {
  every_frame_dies const check;
  CHECK_FALSE(submissions::is_new_internal(*suspended_process().get()));
}

using weft::detail::admission;
using weft::detail::internal_task;

/// The prompt of processes that run one at a time, each to its end.
class ground final : public weft::detail::scheduler_prompt {
 public:
  /// Runs a process that has not started.
  void run(thunk t) {
    auto* const outside = innermost();
    weft::detail::drive(t.release()->resume_slow(0, *this));
    set_innermost(outside);
  }
  weft::detail::continuation finished(process& p) noexcept override {
    if (p.take_result()) std::terminate();
    p.release();
    return weft::detail::continuation::ordinary_code();
  }
  weft::detail::continuation ended() noexcept override { std::terminate(); }
  [[nodiscard]] std::string_view const& handler_name() const noexcept override { return name_; }
  [[nodiscard]] std::source_location installed_at() const noexcept override { return {}; }
  void visit_outers(weft::detail::prompt_visitor) const override {}

 private:
  void end_evidence() noexcept override {}
  std::string_view name_ = "ground";
};

/// A scheduler, as its submissions see it, that keeps what is put, and notes what is run.
class host final : public keeping<weft::detail::submission_host> {
 public:
  /// Which of the allocations for an internal process fails.
  enum class failing { none, put, making };
  failing fails = failing::none;
  std::vector<internal_task> done;
  ground under;

 private:
  process* new_uncounted_process(process_id id, weft::detail::first_frame first) override {
    if (fails == failing::making) {
      first.handle.destroy();
      throw std::bad_alloc();
    }
    static weft::detail::result_slot<void> sink;
    return process::start(id, first.handle, nullptr, under, sink, true);
  }
  weft::detail::spare_node reserve_put() override {
    if (fails == failing::put) throw std::bad_alloc();
    return keeping::reserve_put();
  }
  void run_internal(internal_task what) noexcept override { done.push_back(what); }
};

/// The submissions of a scheduler that runs, or is about to.
struct scheduler_outside {
  explicit scheduler_outside(bool is_open = true) : incoming(at, room, is_open) {}
  ~scheduler_outside() {
    (void)at.take();  // the processes that have not run are dropped before
    incoming.end();
  }

  void begin_run() {
    std::lock_guard const lock(gate().mutex);
    gate().is_running = true;
    gate().accepts_internal = true;
  }
  [[nodiscard]] weft::detail::submission_gate& gate() const noexcept { return *incoming.gate(); }
  [[nodiscard]] std::size_t internal_left() const noexcept { return gate().internal_left; }
  [[nodiscard]] submissions::prepared prepare(internal_task what) {
    std::lock_guard const lock(gate().mutex);
    return incoming.prepare(what);
  }
  void send(submissions::prepared& p) {
    std::lock_guard const lock(gate().mutex);
    incoming.send(p);
  }
  /// Runs all processes that have been put.
  void run_all() {
    for (auto& e : at.take()) at.under.run(std::move(e.what));
  }

  host at;
  admission room;
  submissions incoming;
};

// ---- where nothing comes from outside

TEST_CASE("where schedules are explored there is no gate, and nothing comes from outside") {
  scheduler_outside s(false);
  CHECK(s.incoming.gate() == nullptr);
  CHECK_THROWS_AS(s.incoming.require_gate(), std::logic_error);
  CHECK_THROWS_AS(s.incoming.add_submitter(), std::logic_error);
  CHECK_FALSE(s.incoming.may_come());
  CHECK(s.incoming.end_run(true));
  CHECK(s.incoming.started() == 0);
  s.incoming.close();  // has no effect
}

// ---- submitters

TEST_CASE("a process may come as long as there is a submitter") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  CHECK_NOTHROW(s.incoming.require_gate());
  CHECK_FALSE(s.incoming.may_come());
  auto const first = s.incoming.add_submitter();
  auto const second = s.incoming.add_submitter();
  CHECK(first == s.incoming.gate());
  CHECK(second == first);
  CHECK(s.incoming.may_come());
  first->leave();
  CHECK(s.incoming.may_come());
  CHECK(s.at.take().empty());
  second->leave();
  CHECK_FALSE(s.incoming.may_come());
}

TEST_CASE("no process may come once the gate is closed, and it has no new submitter") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  auto const gate = s.incoming.add_submitter();
  s.incoming.close();
  CHECK(gate->is_closed());
  CHECK_FALSE(s.incoming.may_come());
  CHECK_THROWS_AS(s.incoming.add_submitter(), scheduler_stopped);
  CHECK(gate->submitters == 1);
  gate->leave();
}

TEST_CASE("no process may come while there is no room for one") {
  every_frame_dies const check;
  scheduler_outside s;
  s.room.limit(1, overflow_policy::wait);
  s.room.begin(1);
  auto const gate = s.incoming.add_submitter();
  CHECK_FALSE(s.incoming.may_come());
  CHECK(s.room.leave() == nullptr);
  CHECK(s.incoming.may_come());
  gate->leave();
}

TEST_CASE("the last submitter that leaves has a worker asked again, while the run accepts that") {
  every_frame_dies const check;
  scheduler_outside s;
  SECTION("while it does") {
    s.begin_run();
    for (int round = 0; round != 2; ++round) {
      auto const gate = s.incoming.add_submitter();
      gate->leave();
      CHECK(s.internal_left() == 1);
      CHECK_FALSE(s.incoming.end_run(true));
      CHECK(s.incoming.started() == round + 1);
      s.run_all();
      CHECK(s.internal_left() == 0);
      CHECK(s.at.done == std::vector<internal_task>(static_cast<std::size_t>(round) + 1,
                                                    internal_task::ask_again));
    }
  }
  SECTION("before it does") {
    auto const gate = s.incoming.add_submitter();
    gate->leave();
    CHECK(s.at.take().empty());
    CHECK(s.internal_left() == 0);
    CHECK(s.incoming.started() == 0);
  }
}

TEST_CASE("the last submitter of an unfit backend tries until its worker is asked again") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  auto const gate = s.incoming.add_submitter();
  s.at.fail_puts(5);
  gate->leave();
  CHECK(s.at.failed_puts() == 5);
  CHECK(s.internal_left() == 1);
  CHECK(s.incoming.started() == 1);
  s.run_all();
  CHECK(s.at.done == std::vector{internal_task::ask_again});
  CHECK(s.internal_left() == 0);
}

TEST_CASE("a submitter for which there is no memory is not counted") {
  every_frame_dies const check;
  scheduler_outside s;
  s.at.fails = GENERATE(host::failing::put, host::failing::making);
  CHECK_THROWS_AS(s.incoming.add_submitter(), std::bad_alloc);
  CHECK(s.gate().submitters == 0);
  CHECK(s.internal_left() == 0);
  s.at.fails = host::failing::none;
  auto const gate = s.incoming.add_submitter();
  CHECK(gate->submitters == 1);
  // The process that is prepared for the first submitter serves all of them.
  s.at.fails = host::failing::making;
  CHECK_NOTHROW(s.incoming.add_submitter());
  gate->leave();
  gate->leave();
}

// ---- the end of a run (SUBMIT-4)

TEST_CASE("a run ends when no submitter and no internal process is left") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  SECTION("as there are none") {}
  SECTION("not while there is a submitter, unless nothing may come any more") {
    auto const gate = s.incoming.add_submitter();
    CHECK_FALSE(s.incoming.end_run(true));
    CHECK(gate->accepts_internal);
    SECTION("as that is known otherwise") { CHECK(s.incoming.end_run(false)); }
    SECTION("as the gate is closed") { s.incoming.close(); }
    gate->leave();
    s.run_all();
  }
  SECTION("not while an internal process is left") {
    auto p = s.prepare(internal_task::stop);
    CHECK(s.incoming.end_run(true));
    s.begin_run();
    s.send(p);
    CHECK_FALSE(s.incoming.end_run(true));
    CHECK_FALSE(s.incoming.end_run(false));
    CHECK(s.gate().accepts_internal);
    s.run_all();
  }
  CHECK(s.incoming.end_run(true));
  CHECK_FALSE(s.gate().accepts_internal);
}

// ---- internal processes

TEST_CASE("an internal process that is sent runs once, and counts until it has ended") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  auto const what =
      GENERATE(internal_task::stop, internal_task::shut_down, internal_task::ask_again);
  auto p = s.prepare(what);
  CHECK(p.is_there());
  CHECK(s.internal_left() == 0);
  s.send(p);
  CHECK_FALSE(p.is_there());
  CHECK(s.internal_left() == 1);
  CHECK(s.gate().internal_sent == 1);
  s.send(p);  // has no effect
  CHECK(s.internal_left() == 1);
  {
    auto all = s.at.take();
    REQUIRE(all.size() == 1);
    CHECK(all[0].from_outside);
    CHECK(all[0].node != nullptr);  // the memory that was reserved
    CHECK(all[0].what.get()->id().is_internal());
    CHECK(submissions::is_new_internal(*all[0].what.get()));
    s.at.under.run(std::move(all[0].what));
  }
  CHECK(s.at.done == std::vector{what});
  CHECK(s.internal_left() == 0);
  CHECK(s.gate().internal_sent == 1);
}

TEST_CASE("each internal process has an id of its own") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  for (int i = 0; i != 2; ++i) {
    auto p = s.prepare(internal_task::stop);
    s.send(p);
  }
  auto const all = s.at.take();
  REQUIRE(all.size() == 2);
  CHECK(all[0].what.get()->id() == process_id::internal(1));
  CHECK(all[1].what.get()->id() == process_id::internal(2));
}

TEST_CASE("an internal process that is dropped does nothing, and counts no more") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  SECTION("after it was sent") {
    auto p = s.prepare(internal_task::stop);
    s.send(p);
    CHECK(s.internal_left() == 1);
    CHECK(s.at.take().size() == 1);
  }
  SECTION("before it was sent") {
    {
      auto const p = s.prepare(internal_task::stop);
    }
    CHECK(s.gate().internal_sent == 0);
  }
  SECTION("as another takes its place") {
    auto p = s.prepare(internal_task::stop);
    p = s.prepare(internal_task::shut_down);
    CHECK(p.is_there());
    auto q = std::move(p);
    CHECK_FALSE(p.is_there());  // NOLINT: that of a moved one is empty
    CHECK(q.is_there());
    p = {};
    s.send(q);
    s.run_all();
    CHECK(s.at.done == std::vector{internal_task::shut_down});
    s.at.done.clear();
  }
  CHECK(s.internal_left() == 0);
  CHECK(s.at.done.empty());
  CHECK(s.incoming.end_run(true));
}

TEST_CASE("an internal process is not sent to a run that accepts none, and can be sent later") {
  every_frame_dies const check;
  scheduler_outside s;
  auto p = s.prepare(internal_task::stop);
  s.send(p);
  CHECK(p.is_there());
  CHECK(s.internal_left() == 0);
  CHECK(s.at.take().empty());
  s.begin_run();
  s.send(p);
  CHECK(s.internal_left() == 1);
  s.run_all();
  CHECK(s.at.done == std::vector{internal_task::stop});
}

TEST_CASE("an internal process for which there is no memory was never there") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  s.at.fails = GENERATE(host::failing::put, host::failing::making);
  CHECK_THROWS_AS((void)s.prepare(internal_task::stop), std::bad_alloc);
  CHECK(s.internal_left() == 0);
  CHECK(s.incoming.end_run(true));
}

TEST_CASE("a put that throws has sent no internal process") {
  every_frame_dies const check;
  scheduler_outside s;
  s.begin_run();
  auto p = s.prepare(internal_task::shut_down);
  s.at.fail_puts(1);
  CHECK_THROWS_AS(s.send(p), std::bad_alloc);
  CHECK(p.is_there());
  CHECK(s.internal_left() == 0);
  CHECK(s.gate().internal_sent == 0);
  s.send(p);
  CHECK(s.gate().internal_sent == 1);
  s.run_all();
  CHECK(s.at.done == std::vector{internal_task::shut_down});
}

// ---- the end of a scheduler

TEST_CASE("submissions that end close their gate, which outlives them") {
  every_frame_dies const check;
  std::optional<scheduler_outside> s(std::in_place);
  s->begin_run();
  auto const gate = s->incoming.add_submitter();
  CHECK(gate->home == &s->incoming);
  s->incoming.end();
  CHECK(gate->is_closed());
  CHECK(gate->home == nullptr);
  s.reset();
  CHECK(gate->draw() == 0);
  gate->leave();
  CHECK(gate->submitters == 0);
  CHECK(gate->internal_left == 0);
}

TEST_CASE("submissions wait for the threads under way when they end, and when a worker asks") {
  for (int round = 0; round != rounds(200); ++round) {
    scheduler_outside s;
    s.begin_run();
    auto const gate = s.incoming.add_submitter();
    counter come = 0;
    int put = 0;
    std::thread outside([&] {
      weft::detail::submission_ticket ticket(*gate);
      ++come;
      until([&] { return gate->is_closed(); });
      put = 1;
      ticket.mark_started();
    });
    until([&] { return come == 1; });
    CHECK(s.incoming.may_come());
    if (round % 2 == 0) {
      s.incoming.close();
      CHECK_FALSE(s.incoming.may_come());
    } else {
      s.incoming.end();
    }
    CHECK(put == 1);
    CHECK(s.incoming.started() == 1);
    outside.join();
    gate->leave();
  }
}

TEST_CASE("a worker that finds no submitter any more finds the internal process that tells it so") {
  for (int round = 0; round != rounds(500); ++round) {
    every_frame_dies const check;
    scheduler_outside s;
    s.begin_run();
    auto const first = s.incoming.add_submitter();
    auto const second = s.incoming.add_submitter();
    std::thread outside([&] { first->leave(); });
    std::thread beside([&] { second->leave(); });
    // SUBMIT-3, SUBMIT-4: the run is over when the internal process has run, and not earlier.
    until([&] { return !s.incoming.may_come(); });
    CHECK_FALSE(s.incoming.end_run(true));
    s.run_all();
    CHECK(s.at.done.size() == 1);
    CHECK(s.incoming.end_run(true));
    outside.join();
    beside.join();
  }
}
