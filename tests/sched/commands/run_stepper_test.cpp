// SPDX-License-Identifier: MIT
#include "weft/sched/commands/run_stepper.hpp"

#include "tests/prelude.hpp"
#include "tests/support/commands.hpp"

/// The calls of a stepper.
struct life {
  int inits = 0;
  int steps = 0;
  int closes = 0;
  std::string seen{};
};

/// Follows a script, a letter a step.
///
///   a    is to be stepped again     w    waits
///   t    issues a twice             n    issues two naps
///   d    is done                    x    throws
///   e    issues a nap and is done
///
/// In the method "spoiled" init throws.
class scripted {
 public:
  using commands = command_list<twice, nap>;
  using input = std::string;
  using message = int;
  using output = step_output<twice, nap>;

  explicit scripted(life& l) : life_(&l) {}

  void init(std::string_view method, std::string script) {
    ++life_->inits;
    script_ = std::move(script);
    static entry_points<bool> const methods{{"script", true}, {"spoiled", false}};
    if (!methods.at<scripted>(method)) throw std::runtime_error("spoiled");
  }
  void step(std::span<event> events, output& out) {
    ++life_->steps;
    for (event& e : events) see(e);
    if (at_ == script_.size()) return;
    switch (script_[at_++]) {
      case 'a':
        out.status = step_status::again;
        break;
      case 't':
        out.issue(twice(static_cast<int>(at_)));
        break;
      case 'n':
        out.issue(nap());
        out.issue(nap());
        break;
      case 'e':
        out.issue(nap());
        [[fallthrough]];
      case 'd':
        out.status = step_status::done;
        break;
      case 'x':
        throw std::runtime_error("it threw");
      default:
        break;
    }
  }
  void close() noexcept { ++life_->closes; }

 private:
  void see(event& e) {
    std::string& to = life_->seen;
    if (e.type == event_type::cancelled) {
      to += "cancelled ";
    } else if (e.type == event_type::message) {
      to += "m" + std::to_string(e.data.take<int>()) + " ";
    } else {
      to += "c" + std::to_string(e.tag);
      try {
        if (e.data) to += "=" + std::to_string(e.result<int>());
        if (e.error) e.result<void>();
      } catch (std::exception const& error) {
        to += std::string("!") + error.what();
      }
      to += " ";
    }
  }

  life* life_;
  std::string script_{};
  std::size_t at_ = 0;
};
static_assert(stepper<scripted>);
static_assert(!stepper<int>);
using program = eff<void, spawning<proc, steppers<scripted>>, proc, mail>;

/// A program that starts a stepper with that script.
auto starts(life& l, std::string script, std::string method = "script") {
  return [&l, script, method]() -> program { co_await start_stepper(scripted(l), method, script); };
}
auto naps_at_once() {
  return [](nap, reply<void> r) { r.complete(); };
}

/// The message of the exception that schedule throws, or "none".  The program is erased to one
/// type, so that schedule is not compiled anew for each one.
template <class... Handlers>
std::string end_of(std::function<program()> p, Handlers&&... handlers) {
  try {
    schedule({.forkable = false}, std::move(p), handlers...);
  } catch (std::exception const& e) {
    return e.what();
  }
  return "none";
}

#ifdef WEFT_HEADER_ONLY
constexpr auto header_of_steppers = "weft.hpp";
#else
constexpr auto header_of_steppers = "sched/commands/run_stepper.hpp";
#endif

TEST_CASE("a stepper is initialised, stepped until it is done, and closed") {
  every_frame_dies const check;
  life l;
  CHECK(end_of(starts(l, "aad"), dispatchers{doubles, naps_at_once()}) == "none");
  CHECK(l.inits == 1);
  CHECK(l.steps == 3);
  CHECK(l.closes == 1);
  CHECK(l.seen.empty());
}

TEST_CASE("an unknown method is an error where the stepper is started, and closes it") {
  every_frame_dies const check;
  life l;
  std::string said;
  std::string const end = end_of(
      [&]() -> program {
        try {
          co_await start_stepper(scripted(l), "scripts", "d");
        } catch (unknown_method const& e) {
          said = e.what();
        }
      },
      dispatchers{doubles, naps_at_once()});
  CHECK(end == "none");
  CHECK_THAT(said, Contains("scripted has no method \"scripts\": it has \"script\", \"spoiled\""));
  CHECK(l.inits == 1);
  CHECK(l.steps == 0);
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper is closed once, even if its init or a step throws") {
  every_frame_dies const check;
  life at_init;
  life at_step;
  dispatchers d{doubles, naps_at_once()};
  CHECK(end_of(starts(at_init, "d", "spoiled"), d) == "spoiled");
  CHECK(at_init.closes == 1);
  CHECK(at_init.steps == 0);
  CHECK(end_of(starts(at_step, "atxd"), d) == "it threw");
  CHECK(at_step.closes == 1);
  CHECK(at_step.steps == 3);
}

TEST_CASE("a stepper that never ran is closed once") {
  every_frame_dies const check;
  life l;
  {
    scheduler<> s;
    s.start({.forkable = false}, starts(l, "d"), dispatchers{doubles, naps_at_once()});
    s.step();  // the first process starts it
    CHECK(l.inits == 1);
    CHECK(l.closes == 0);
  }
  CHECK(l.steps == 0);
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that was made for a process that is not spawned is closed once") {
  life l;
  {
    auto const unused = start_stepper(scripted(l), "script", "d");
  }
  CHECK(l.inits == 1);
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper whose scheduler is destroyed while it waits is closed once, unstepped") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  {
    scheduler<> s;
    s.start({.forkable = false}, starts(l, "td"), dispatchers{puts_on(desk), naps_at_once()});
    // The first process, the stepper, the process that waits for its answer.
    for (int i = 0; i != 3; ++i) s.step();
  }
  CHECK(l.steps == 1);
  CHECK(l.closes == 1);
  CHECK(desk.size() == 1);
}

TEST_CASE("the commands of a step are issued in order, and each has its tag in its event") {
  every_frame_dies const check;
  life l;
  std::optional<reply<void>> first;
  CHECK(end_of(starts(l, "nd"), dispatchers{doubles, [&](nap, reply<void> r) {
                                              if (!first) {
                                                first = std::move(r);
                                              } else {
                                                r.complete();  // at once, and then the first one
                                                first->complete();
                                              }
                                            }}) == "none");
  CHECK(l.seen == "c2 c1 ");
  CHECK(l.steps == 2);
}

TEST_CASE(
    "an answer has its data, or an error: failed, dropped, or an exception of the dispatcher") {
  every_frame_dies const check;
  life l;
  CHECK(end_of(starts(l, "ttttd"), dispatchers{[](twice c, reply<int> r) {
                                                 switch (c.number) {
                                                   case 1:
                                                     return r.complete(10);
                                                   case 2:
                                                     return r.fail(std::make_exception_ptr(
                                                         std::runtime_error("tired")));
                                                   case 3:
                                                     return;  // dropped
                                                   default:
                                                     throw std::runtime_error("refused");
                                                 }
                                               },
                                               naps_at_once()}) == "none");
  CHECK(l.seen ==
        "c1=10 c2!tired c3!weft: the command weft::tests::twice, tag 3, will not be answered: its "
        "reply was destroyed c4!refused ");
  CHECK(l.closes == 1);
}

TEST_CASE("later answers are events, too, in the order in which they come") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  std::string const end = end_of(
      [&]() -> program {
        co_await start_stepper(scripted(l), "script", "tatt");
        while (desk.size() != 1) co_await proc::yield{};
        desk.take().answer.complete(4);
        while (desk.size() != 1) co_await proc::yield{};
        desk.take().answer.fail(std::make_exception_ptr(std::runtime_error("late")));
        while (desk.size() != 1) co_await proc::yield{};
        throw std::runtime_error("enough");
      },
      dispatchers{puts_on(desk), naps_at_once()});
  CHECK(end == "enough");
  CHECK(l.seen == "c1=4 c2!late cancelled ");
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that is to be stepped again lets the others go first") {
  every_frame_dies const check;
  life a;
  life b;
  std::string order;
  schedule(
      {.forkable = false},
      [&]() -> program {
        co_await start_stepper(scripted(a), "script", "aaaad");
        co_await start_stepper(scripted(b), "script", "aad");
        for (int i = 0; i != 5; ++i) {
          order += std::to_string(a.steps) + std::to_string(b.steps) + " ";
          co_await proc::yield{};
        }
      },
      dispatchers{doubles, naps_at_once()});
  CHECK(order == "00 11 22 33 43 ");
  CHECK(a.steps == 5);
}

TEST_CASE("messages are events, in order, and wake a stepper that waits") {
  every_frame_dies const check;
  life l;
  std::string const end = end_of(
      [&]() -> program {
        auto [in, to] = co_await open<int>();
        co_await start_stepper(scripted(l), "script", "wwd", std::move(in));
        co_await to.send(1);
        co_await to.send(2);
        co_await proc::yield{};
        co_await proc::yield{};
        co_await to.send(3);
      },
      dispatchers{doubles, naps_at_once()});
  CHECK(end == "none");
  CHECK(l.seen == "m1 m2 m3 ");
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that waits for messages and answers receives both") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  std::string const end = end_of(
      [&]() -> program {
        auto [in, to] = co_await open<int>();
        co_await start_stepper(scripted(l), "script", "twd", std::move(in));
        while (desk.size() == 0) co_await proc::yield{};
        co_await to.send(7);
        co_await proc::yield{};
        co_await proc::yield{};
        desk.take().answer.complete(2);
      },
      dispatchers{puts_on(desk), naps_at_once()});
  CHECK(end == "none");
  CHECK(l.seen == "m7 c1=2 ");
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that waits with no command in flight and no sender ends with no_senders") {
  every_frame_dies const check;
  life without_inbox;
  life with_inbox;
  dispatchers d{doubles, naps_at_once()};
  CHECK(end_of(starts(without_inbox, "tww"), d) == no_senders().what());
  CHECK(without_inbox.seen == "c1=2 ");
  CHECK(without_inbox.closes == 1);
  std::string const end = end_of(
      [&]() -> program {
        auto [in, to] = co_await open<int>();
        co_await start_stepper(scripted(with_inbox), "script", "www", std::move(in));
        co_await to.send(1);
      },
      d);
  CHECK(end == no_senders().what());
  CHECK(with_inbox.seen == "m1 ");
  CHECK(with_inbox.closes == 1);
}

TEST_CASE("a stepper that waits for messages while all others wait is in the deadlock report") {
  every_frame_dies const check;
  life l;
  std::string const said = end_of(
      [&]() -> program {
        auto [in, to] = co_await open<int>();
        auto [silence, unused] = co_await open<int>();
        co_await start_stepper(scripted(l), "script", "www", std::move(in));
        int const never_comes = co_await silence.receive();
        (void)never_comes;
      },
      dispatchers{doubles, naps_at_once()});
  CHECK_THAT(said, Contains("deadlock") && Contains(header_of_steppers));
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that is cancelled is stepped once more, and issues no more commands") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  std::string const end = end_of(
      [&]() -> program {
        co_await start_stepper(scripted(l), "script", "ttd");
        while (desk.size() == 0) co_await proc::yield{};
        throw std::runtime_error("a sibling failed");
      },
      dispatchers{puts_on(desk), naps_at_once()});
  CHECK(end == "a sibling failed");
  CHECK(l.seen == "cancelled ");
  CHECK(l.steps == 2);
  CHECK(l.closes == 1);
  CHECK(desk.size() == 1);
}

TEST_CASE("if the last step throws, the process ends with its exception, after close") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  std::string all;
  try {
    schedule(
        {.forkable = false},
        [&]() -> program {
          co_await start_stepper(scripted(l), "script", "txd");
          while (desk.size() == 0) co_await proc::yield{};
          throw std::runtime_error("a sibling failed");
        },
        dispatchers{puts_on(desk), naps_at_once()});
  } catch (exceptions const& e) {
    for (auto const& f : e.all) {
      try {
        std::rethrow_exception(f.error);
      } catch (std::exception const& one) {
        all += std::string(one.what()) + "; ";
      }
    }
  }
  CHECK(all == "a sibling failed; it threw; ");
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that is shut down is stepped once more, and closed") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  std::stop_source stop;
  schedule_options how{.forkable = false, .stop = stop.get_token()};
  std::string said;
  try {
    schedule(
        how,
        [&]() -> program {
          co_await start_stepper(scripted(l), "script", "tt");
          while (desk.size() == 0) co_await proc::yield{};
          stop.request_stop();
        },
        dispatchers{puts_on(desk), naps_at_once()});
  } catch (cancelled const&) {
    said = "cancelled";
  }
  CHECK(said == "cancelled");
  CHECK(l.seen == "cancelled ");
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that is shut down between two steps is stepped once more, and closed") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  scheduler<> s;
  s.start({.forkable = false}, starts(l, "tt"), dispatchers{puts_on(desk), naps_at_once()});
  for (int i = 0; i != 3; ++i) s.step();
  CHECK(l.steps == 1);
  s.shut_down(instant::max());
  s.run();
  CHECK(l.seen == "cancelled ");
  CHECK(l.steps == 2);
  CHECK(l.closes == 1);
}

TEST_CASE("a stepper that is done waits for its commands in flight, and drops their answers") {
  every_frame_dies const check;
  life l;
  desk_of<nap> desk;
  bool answered = false;
  std::string const end = end_of(
      [&]() -> program {
        co_await start_stepper(scripted(l), "script", "e");
        while (l.closes == 0) co_await proc::yield{};
        desk.take().answer.complete();
        answered = true;
      },
      dispatchers{doubles, puts_on(desk)});
  CHECK(end == "none");
  CHECK(answered);
  CHECK(l.steps == 1);
}

TEST_CASE("a command in flight needs room for one more process, and throws if there is none") {
  every_frame_dies const check;
  life l;
  desk_of<twice> desk;
  std::string said;
  try {
    schedule(
        {.forkable = false, .max_processes = 2},
        [&]() -> program {
          co_await start_stepper(scripted(l), "script", "atd");
          while (l.closes == 0) co_await proc::yield{};
        },
        dispatchers{puts_on(desk), naps_at_once()});
  } catch (too_many_processes const& e) {
    said = e.what();
  }
  CHECK(l.steps == 2);
  CHECK(l.closes == 1);
  CHECK_THAT(said, Contains("there are as many processes as .max_processes allows, 2"));
}

TEST_CASE("under every schedule two steppers receive their own answers") {
  struct state {
    life a{};
    life b{};
    std::optional<desk_of<twice>::entry> first{};
  };
  // The first command is in flight until the second comes, which is answered at once.
  struct in_pairs {
    state* s;
    void operator()(twice c, reply<int> r) const {
      if (!s->first) {
        s->first.emplace(c, std::move(r));
      } else {
        s->first->answer.complete(2 * s->first->asked.number);
        r.complete(2 * c.number);
      }
    }
  };
  std::vector<std::string> order;
  auto const found = explore(
      [] { return std::make_unique<state>(); },
      [](std::unique_ptr<state>& s) -> program {
        co_await start_stepper(scripted(s->a), "script", "td");
        co_await start_stepper(scripted(s->b), "script", "atd");
      },
      [&](std::unique_ptr<state>& s) {
        order.push_back(std::to_string(s->first->asked.number));
        return s->a.seen == "c1=2 " && s->b.seen == "c1=4 " && s->a.closes == 1 && s->b.closes == 1;
      },
      [](std::unique_ptr<state>& s) {
        return dispatchers{in_pairs{s.get()}, [](nap, reply<void> r) { r.complete(); }};
      });
  INFO(found.summary());
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(std::ranges::count(order, "1") != 0);
  CHECK(std::ranges::count(order, "2") != 0);
}
