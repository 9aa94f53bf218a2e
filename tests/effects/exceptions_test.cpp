// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// The destination of an exception from a body, from each kind of clause, or raised into a
/// resumption.

struct boom : std::runtime_error {
  using runtime_error::runtime_error;
};

eff<int, ask> throws_after() {
  int const n = co_await ask::get{};
  throw boom("body " + std::to_string(n));
}

TEST_CASE("an exception of the body goes to the caller that waits for the answer of the handler") {
  every_frame_dies const check;
  CHECK(text_of<boom>([] { run(handle<ask>(answers{9}, throws_after())); }) == "body 9");
}

/// Asks, and gives 50 if the question throws.
eff<int, ask> recovers() {
  try {
    co_return co_await asks();
  } catch (boom const&) {
  }
  co_return 50;
}

struct throws_at_once {
  int on(ask::get) { throw boom("value"); }
};
struct throws_asking {
  int on(ask::get, outer<tick> up) {
    up(tick::now{});
    throw boom("asking");
  }
};

TEST_CASE("an exception of a value clause arises at the operation") {
  every_frame_dies const check;
  CHECK(text_of<boom>([] { run(handle<ask>(throws_at_once(), asks())); }) == "value");
  CHECK(run(handle<ask>(throws_at_once(), recovers())) == 50);
  CHECK(run(handle<tick>([](tick::now) {}, handle<ask>(throws_asking(), recovers()))) == 50);
}

TEST_CASE("an exception of what a clause asks outward passes through the clause") {
  every_frame_dies const check;
  auto const throwing = [](tick::now) { throw boom("outer"); };
  auto const asking = [](ask::get, outer<tick> up) {
    up(tick::now{});
    return 1;
  };
  CHECK(run(handle<tick>(throwing, handle<ask>(asking, recovers()))) == 50);
}

struct throws_in_control {
  int on(ask::get, resumption<int, int>) { throw boom("control"); }
};
struct throws_after_last {
  outcome<int> on(ask::get, resumption<int, int> k) {
    auto const rest = std::move(k).last(1);
    throw boom("after last");
  }
};

TEST_CASE("an exception of a control clause goes to the caller of the handler, not to the body") {
  every_frame_dies const check;
  CHECK(text_of<boom>([] { run(handle<ask>(throws_in_control(), recovers())); }) == "control");
  CHECK(text_of<boom>([] { run(handle<ask>(throws_after_last(), recovers())); }) == "after last");
}

struct throws_before_the_rest {
  eff<int> on(ask::get, resumption<int, int>) {
    throw boom("coroutine");
    co_return 0;
  }
};
struct throws_after_the_rest {
  eff<int> on(ask::get, resumption<int, int> k) {
    int const rest = co_await std::move(k)(1);
    throw boom("coroutine " + std::to_string(rest));
  }
};

TEST_CASE("an exception of a coroutine clause goes to the caller that waits for its answer") {
  every_frame_dies const check;
  CHECK(text_of<boom>([] { run(handle<ask>(throws_before_the_rest(), recovers())); }) ==
        "coroutine");
  CHECK(text_of<boom>([] { run(handle<ask>(throws_after_the_rest(), recovers())); }) ==
        "coroutine 1");
}

TEST_CASE("an exception of the body reaches the clause that awaits its resumption") {
  every_frame_dies const check;
  struct catches {
    eff<int> on(ask::get, resumption<int, int> k) {
      std::string what;
      try {
        co_return co_await std::move(k)(4);
      } catch (boom const& e) {
        what = e.what();
      }
      co_return what == "body 4" ? 1 : 0;
    }
  };
  CHECK(run(handle<ask>(catches(), throws_after())) == 1);
}

struct throws_on_return {
  int on(ask::get) { return 1; }
  int on_return(int) { throw boom("return"); }
};

TEST_CASE("an exception of on_return goes to the caller that waits for the answer") {
  every_frame_dies const check;
  CHECK(text_of<boom>([] { run(handle<ask>(throws_on_return(), recovers())); }) == "return");
  auto const inside = []() -> eff<int> {
    int answer = 0;
    try {
      answer = co_await handle<ask>(throws_on_return(), asks());
    } catch (boom const&) {
      answer = 60;
    }
    co_return answer;
  };
  CHECK(run(inside()) == 60);
}

std::exception_ptr a_boom(char const* what) { return std::make_exception_ptr(boom(what)); }

struct raises_and_continues {
  eff<int> on(ask::get, resumption<int, int> k) {
    co_return 1 + co_await std::move(k)(raising{a_boom("raised")});
  }
};
struct raises_and_jumps {
  outcome<int> on(ask::get, resumption<int, int> k) {
    return std::move(k).last(raising{a_boom("raised")});
  }
};

TEST_CASE("an exception raised into a resumption arises at the operation") {
  every_frame_dies const check;
  CHECK(run(handle<ask>(raises_and_continues(), recovers())) == 51);
  CHECK(run(handle<ask>(raises_and_jumps(), recovers())) == 50);

  keeps k;
  run(handle(k, recovers()));
  CHECK(resume(std::move(k.k), raising{a_boom("x")}) == 50);
  run(handle(k, asks()));
  CHECK(text_of<boom>([&k] { resume(std::move(k.k), raising{a_boom("out")}); }) == "out");
  CHECK_THROWS_AS(raising(nullptr), std::invalid_argument);
}

TEST_CASE(
    "an operation that never returns can be resumed by raising into it, and in no other way") {
  every_frame_dies const check;
  struct refuses {
    eff<int> on(stop::here s, resumption<never, int> k) {
      co_return co_await std::move(k)(raising{a_boom(std::to_string(s.why).c_str())});
    }
  };
  auto const stops = []() -> eff<int, stop> {
    std::string what;
    try {
      co_await stop::here{7};
    } catch (boom const& e) {
      what = e.what();
    }
    co_return what == "7" ? 1 : 0;
  };
  CHECK(run(handle<stop>(refuses(), stops)) == 1);
}

TEST_CASE(
    "a value clause that returns from an operation that never returns throws clause_returned") {
  every_frame_dies const check;
  auto const stops = []() -> eff<int, stop> { co_await stop::here{1}; };
  CHECK_THROWS_AS(run(handle<stop>([](stop::here) {}, stops)), clause_returned);
}

TEST_CASE("an exception passes through three handlers, and unwinds all frames in between") {
  every_frame_dies const check;
  std::string out;
  auto const innermost = [&out]() -> eff<int, ask, tick, stop> {
    leaves const at_the_end(out, 'a');
    throw boom("deep");
    co_return 0;
  };
  auto const middle = [&out, innermost]() -> eff<int, ask, tick> {
    leaves const at_the_end(out, 'b');
    co_return co_await handle<stop>([](stop::here, resumption<never, int>) { return 0; },
                                    innermost);
  };
  auto const outermost = [&out, middle]() -> eff<int, ask> {
    leaves const at_the_end(out, 'c');
    co_return co_await handle<tick>([](tick::now) {}, middle);
  };
  CHECK(text_of<boom>([&] { run(handle<ask>(answers{1}, outermost)); }) == "deep");
  CHECK(out == "abc");
}

TEST_CASE("an exception of a destructor outside unwinding is an exception of the body") {
  every_frame_dies const check;
  struct angry {
    ~angry() noexcept(false) { throw boom("destructor"); }
  };
  auto const body = []() -> eff<int, ask> {
    angry const at_the_end;
    co_return co_await ask::get{};  // the answer was there already
  };
  CHECK(text_of<boom>([&] { run(handle<ask>(answers{1}, body)); }) == "destructor");
  auto const twice = []() -> eff<std::string> {
    try {
      angry const at_the_end;
      co_return std::string(100, 'x');
    } catch (boom const&) {
    }
    co_return std::string("second");
  };
  CHECK(run(twice()) == "second");
}

TEST_CASE("if moving an operation, an argument or an answer throws, nothing is lost") {
  using fragile = tracked<moves::safely>;  // its copies throw on demand
  struct gives {
    struct take : op<fragile> {
      explicit take(fragile const& f) : what(f) {}
      fragile what;
    };
    using operations = op_list<take>;
  };
  struct keeps_it : region {
    resumption<fragile, int> k;
    int on(gives::take const&, resumption<fragile, int> r) {
      k = std::move(r);
      return -1;
    }
  };
  auto const body = [](fragile const& f) -> eff<int, gives> {
    fragile const got = co_await gives::take{f};
    co_return got.value();
  };
  auto const born = fragile::births - fragile::deaths;
  for (int step = 0; step != 6; ++step) {
    every_frame_dies const check;
    fragile const original(7);
    int answer = 0;
    bool failed = false;
    try {
      keeps_it h;
      failures::after(step);
      run(handle<gives>(h, body(original)));
      answer = resume(std::move(h.k), original);
    } catch (planned_failure const&) {
      failed = true;
    }
    failures::none();
    CHECK((failed || answer == 7));
  }
  CHECK(fragile::births - fragile::deaths == born);
}

TEST_CASE("an exception of a multi-shot continuation goes to each caller that resumes it") {
  every_frame_dies const check;
  struct often : region {
    std::optional<multi_resumption<int, int>> k;
    int on(ask::get, multi_resumption<int, int> r) {
      k = std::move(r);
      return -1;
    }
  };
  often h;
  CHECK(run(handle<ask>(h, throws_after)) == -1);
  CHECK(text_of<boom>([&] { resume(*h.k, 1); }) == "body 1");
  CHECK(text_of<boom>([&] { resume(*h.k, 2); }) == "body 2");
  CHECK(text_of<boom>([&] { resume(*h.k, raising{a_boom("x")}); }) == "x");
}
