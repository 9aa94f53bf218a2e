// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Bitwise resumption: what it refuses, and that a refusal leaves everything as it was.

TEST_CASE("the region may end while the body runs, while it waits, or while a clone of it waits") {
  every_frame_dies const check;
  std::vector<multi_resumption<int, int>> kept;
  std::optional<keeps_picks<int>> h;
  h.emplace();
  auto const ends_the_region = [&](ask::get) {
    kept = h->waiting;
    h.reset();
    return 3;
  };
  auto const body = []() -> eff<int, pick, ask> {
    int const p = co_await pick::one{};
    int const a = co_await ask::get{};
    int expired = 0;
    try {
      (void)co_await pick::one{};
    } catch (resumption_expired const&) {
      expired = 100;
    }
    co_return expired + 10 * a + p;
  };
  auto const outside = [&]() -> eff<int, ask> {
    int n = co_await handle<pick>(*h, body, bitwise());
    auto const k = h->waiting[0];
    n += co_await k(5);
    co_return n;
  };
  CHECK(run(handle<ask>(ends_the_region, outside)) == 135);
  REQUIRE(kept.size() == 1);
  CHECK_THROWS_AS(resume(kept[0], 1), resumption_expired);
}

using numbers = std::vector<int>;
eff<int, pick> picks() { co_return co_await pick::one{}; }

/// The text of the uncopyable that `body` throws when it picks.
template <class Body>
std::string refusal_in(Body body) {
  every_frame_dies const check;
  return text_of<uncopyable>([&] { run(handle<pick>(tries_picks<>{2}, body, bitwise())); });
}
/// Checks that the text names the operation and this file, and contains both parts.
void check_refusal(std::string const& text, std::string const& part,
                   std::string const& other = "") {
  CHECK_THAT(text, Contains("pick::one at ") && Contains("bitwise_refused_test.cpp:") &&
                       Contains(" cannot be captured bitwise: ") && Contains(part) &&
                       Contains(other));
}

std::string const own_parameter = "has a parameter that is not trivially copyable";

// ---- uncopyable: parameters

eff<int, pick> picks_with_string(std::string text) {
  int const picked = co_await pick::one{};
  co_return picked + static_cast<int>(text.size());
}
eff<int, pick> picks_with_vector(numbers n) {
  int const picked = co_await pick::one{};
  co_return picked + n.at(0);
}

eff<int, pick> calls_below(int depth, eff<int, pick> (*f)()) {
  int n = 0;
  if (depth == 0)
    n = co_await f();
  else
    n = co_await calls_below(depth - 1, f);
  co_return n;
}
eff<int, pick> with_a_long_string() {
  std::string text = "a string that is too long for its own bytes";
  int const n = co_await picks_with_string(std::move(text));
  co_return n;
}

TEST_CASE(
    "a frame whose parameter owns something is not copied, and the message names the parameter") {
  check_refusal(refusal_in(with_a_long_string), "the coroutine awaited at ", own_parameter);
  check_refusal(refusal_in([] { return calls_below(50, with_a_long_string); }), own_parameter);
  check_refusal(refusal_in([] { return picks_with_string("the body itself"); }), own_parameter);
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  numbers n{1};
                  int const answer = co_await picks_with_vector(std::move(n));
                  co_return answer;
                }),
                own_parameter);
  auto const above = []() -> eff<int, pick> {  // the pick is further in
    struct calls {
      static eff<int, pick> with(numbers n) {
        int const picked = co_await picks();
        co_return picked + n.at(0);
      }
    };
    numbers n{1};
    int const answer = co_await calls::with(std::move(n));
    co_return answer;
  };
  check_refusal(refusal_in(above), own_parameter);
}

eff<int, pick> picks_with_references(std::string const& text, numbers& n) {
  int const picked = co_await pick::one{};
  co_return picked + static_cast<int>(text.size()) + n.at(0);
}
eff<int> has_no_choice(std::string text) { co_return static_cast<int>(text.size()); }

TEST_CASE("references to owners, and owning parameters of ended calls, do not prevent a capture") {
  every_frame_dies const check;
  std::string const outside(40, 'x');
  numbers many{100};
  auto const body = [&]() -> eff<int, pick> {
    int const before = co_await has_no_choice(std::string(50, 'y'));
    int const n = co_await picks_with_references(outside, many);
    int const after = co_await has_no_choice(std::string(60, 'z'));
    co_return n + before + after;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) == numbers{250, 251});
}

TEST_CASE("one_of keeps a temporary vector as its parameter, and is refused") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, choose> {
    std::vector<int> few{1, 2};
    int const n = co_await one_of(std::move(few));
    co_return n;
  };
  auto const text = text_of<uncopyable>([&] { run(handle(all_solutions(), body, bitwise())); });
  CHECK_THAT(text, Contains("choose::among at ") && Contains(own_parameter));
}

// ---- uncopyable: handlers in between

std::string const stands_between =
    " stands between it and its handler, and it or what it holds is not trivially copyable";

struct has_text {
  std::string text;
  int on(ask::get) const { return static_cast<int>(text.size()); }
};
eff<int, ask, pick> asks_and_picks() {
  int const a = co_await ask::get{};
  int const p = co_await pick::one{};
  co_return 10 * a + p;
}

TEST_CASE("the message names a handler inside that is not trivially copyable, with its place") {
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  has_text h{"a string that is too long for its own bytes"};
                  int const n = co_await handle<ask>(std::move(h), asks_and_picks);
                  co_return n;
                }),
                "has_text at ", stands_between);
  check_refusal(refusal_in([]() -> eff<int, pick> {  // one of two handlers
                  has_text h{"x"};
                  auto const inside = []() -> eff<int, ask, pick> {
                    int const n = co_await handle<ask>(answers{1}, asks_and_picks);
                    co_return n;
                  };
                  int const n = co_await handle<ask>(std::move(h), inside);
                  co_return n;
                }),
                "has_text at ", stands_between);
  check_refusal(refusal_in([]() -> eff<int, pick> {  // a body that owns
                  std::string text = "a string that is too long for its own bytes";
                  auto const inside = [text]() -> eff<int, ask, pick> {
                    int const n = co_await asks_and_picks();
                    co_return n + static_cast<int>(text.size());
                  };
                  int const n = co_await handle<ask>(answers{1}, inside);
                  co_return n;
                }),
                "answers at ", stands_between);
}

TEST_CASE("a region inside the body is refused, since it keeps resumptions of the body") {
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  keeps h;
                  int const n = co_await handle(h, asks_and_picks);
                  if (n != -1) co_return n;
                  int const rest = co_await std::move(h.k)(1);
                  co_return rest;
                }),
                "keeps at ", stands_between);
}

std::string const begun_outside = " was started outside its body, or before it";

struct flip {
  struct coin : op<bool> {};
  using operations = op_list<coin>;
};
struct both_sides {
  eff<int> on(flip::coin, multi_resumption<bool, int> k) const {
    int const heads = co_await k(true);
    int const tails = co_await k(false);
    co_return heads + tails;
  }
};
eff<int, flip, pick> flips_then_picks() {
  bool const heads = co_await flip::coin{};
  int const picked = co_await pick::one{};
  co_return heads ? 10 * picked : picked;
}

TEST_CASE("a handler inside that has a multi-shot clause is refused, whatever its policy") {
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  int const n = co_await handle<flip>(both_sides(), flips_then_picks);
                  co_return n;
                }),
                stands_between);
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  int const n = co_await handle<flip>(both_sides(), flips_then_picks, bitwise());
                  co_return n;
                }),
                begun_outside);
}

TEST_CASE("an unfinished coroutine clause inside is refused, wherever the pick is") {
  struct awaits_the_rest {
    eff<int> on(ask::get, resumption<int, int> k) const {
      int const rest = co_await std::move(k)(1);
      co_return rest + 100;
    }
  };
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  int const n = co_await handle<ask>(awaits_the_rest(), asks_and_picks);
                  co_return n;
                }),
                own_parameter);
  struct picks_itself {
    eff<int, pick> on(ask::get, resumption<int, int> k) const {
      int const picked = co_await pick::one{};
      int const rest = co_await std::move(k)(picked);
      co_return rest;
    }
  };
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  int const n = co_await handle<ask>(picks_itself(), asks_and_picks);
                  co_return n;
                }),
                "cannot be captured");
}

TEST_CASE("a clause inside that has finished does not prevent a capture") {
  every_frame_dies const check;
  struct adds_in_the_end {
    eff<int> on(ask::get, resumption<int, int> k) const {
      int const rest = co_await std::move(k)(1);
      co_return rest + 100;
    }
  };
  struct jumps {
    outcome<int> on(ask::get, resumption<int, int> k) const { return std::move(k).last(2); }
  };
  auto const body = []() -> eff<int, pick> {
    int const before = co_await handle<ask>(adds_in_the_end(), asks());
    int const during = co_await handle<ask>(jumps(), asks_and_picks);
    int const after = co_await handle<ask>(adds_in_the_end(), asks());
    co_return 1000 * before + during + 10'000'000 * after;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) ==
        numbers{1'010'101'020, 1'010'101'021});
}

std::string const something_waits =
    "its body has begun something else that waits, a computation that was not awaited or a "
    "resumption";

// ---- uncopyable: other live frames

TEST_CASE("a computation that has not been awaited is refused") {
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  auto later = picks();
                  int const a = co_await pick::one{};
                  int const b = co_await std::move(later);
                  co_return a + b;
                }),
                something_waits);
}

TEST_CASE("a resumption that waits inside the body is refused") {
  struct rest_of {
    std::optional<resumption<int, rest_of>> k;
    int value = 0;
  };
  struct hands_out {
    rest_of on(ask::get, resumption<int, rest_of> k) const {
      rest_of r;
      r.k.emplace(std::move(k));
      return r;
    }
    rest_of on_return(int n) const {
      rest_of r;
      r.value = n;
      return r;
    }
  };
  check_refusal(refusal_in([]() -> eff<int, pick> {
                  rest_of waits = co_await handle<ask>(hands_out(), asks());
                  int const picked = co_await pick::one{};
                  rest_of const done = co_await std::move(*waits.k)(picked);
                  co_return done.value;
                }),
                something_waits);
}

eff<int, pick> two_digits() {
  int const a = co_await pick::one{};
  int const b = co_await pick::one{};
  co_return 10 * a + b;
}

TEST_CASE("a computation that was begun before the body is refused") {
  every_frame_dies const check;
  auto before = two_digits();
  auto const awaits_it = [&before]() -> eff<int, pick> {
    int const n = co_await std::move(before);
    co_return n;
  };
  check_refusal(
      text_of<uncopyable>([&] { run(handle<pick>(tries_picks<>{2}, awaits_it, bitwise())); }),
      "the coroutine awaited at ", begun_outside);
}

TEST_CASE(
    "a computation that performs no multi-shot operation may have been begun before the body") {
  every_frame_dies const check;
  auto before = asks();
  auto const body = [&before]() -> eff<int, pick, ask> {
    int const asked = co_await std::move(before);
    int const picked = co_await pick::one{};
    co_return 10 * asked + picked;
  };
  CHECK(run(handle<ask>(answers{4}, handle<pick>(tries_picks<>{2}, body, bitwise()))) ==
        numbers{40, 41});
}

// ---- a refusal is an answer, and the body continues

TEST_CASE("a body may catch the refusal where it picks, and pick again later") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick> {
    int refusals = 0;
    auto later = picks();
    for (int i = 0; i != 3; ++i) {
      try {
        (void)co_await pick::one{};
      } catch (uncopyable const&) {
        ++refusals;
      }
    }
    int const a = co_await std::move(later);
    int const b = co_await pick::one{};
    co_return 100 * refusals + 10 * a + b;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) == numbers{300, 301, 310, 311});
}

TEST_CASE("a handler that stands between continues and ends normally after a refusal") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick> {
    auto const inside = []() -> eff<int, ask, pick> {
      int const before = co_await ask::get{};
      int refused = 0;
      try {
        (void)co_await picks();
      } catch (uncopyable const&) {
        refused = 1000;
      }
      int const after = co_await ask::get{};
      co_return refused + before + after;
    };
    int const first = co_await pick::one{};
    has_text h{"123456"};
    int const n = co_await handle<ask>(std::move(h), inside);
    int const last = co_await pick::one{};
    co_return 10'000 * first + n + 100'000 * last;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) ==
        numbers{1012, 101'012, 11'012, 111'012});
}

TEST_CASE("a region that stands between keeps its resumption after a refusal") {
  every_frame_dies const check;
  auto const body = []() -> eff<int, pick> {
    auto const inside = []() -> eff<int, ask, pick> {
      int refused = 0;
      try {
        (void)co_await pick::one{};
      } catch (uncopyable const&) {
        refused = 1000;
      }
      int const asked = co_await ask::get{};
      co_return refused + asked;
    };
    int n = 0;
    {
      keeps h;
      n = co_await handle(h, inside);
      if (h.k) n = co_await std::move(h.k)(7);
    }
    int const last = co_await pick::one{};
    co_return n + last;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) == numbers{1007, 1008});
}

TEST_CASE("a refusal that is not caught is the answer of its clone only") {
  every_frame_dies const check;
  keeps_picks<int> h;
  auto const body = []() -> eff<int, pick> {
    int const a = co_await pick::one{};
    std::optional<eff<int, pick>> later;
    if (a == 1) later.emplace(picks());
    int const b = co_await pick::one{};
    co_return 10 * a + b;
  };
  run(handle<pick>(h, body, bitwise()));
  auto const k = h.waiting[0];
  CHECK(resume(k, 2) == 0);
  check_refusal(text_of<uncopyable>([&] { resume(k, 1); }), something_waits);
  CHECK(resume(k, 3) == 0);
  CHECK_THROWS_AS(resume(k, 1), uncopyable);
  CHECK(resume(h.waiting[1], 4) == 24);
  CHECK(resume(h.waiting[2], 5) == 35);
}

// ---- frames_in_use

/// Keeps all resumptions of picks, and the last one of a question.
struct keeps_both : region {
  std::vector<multi_resumption<int, int>> often;
  std::optional<resumption<int, int>> once;
  int on(pick::one, multi_resumption<int, int> k) {
    often.push_back(std::move(k));
    return -1;
  }
  int on(ask::get, resumption<int, int> k) {
    once.emplace(std::move(k));
    return -2;
  }
};
eff<int, pick, ask> picks_and_asks() {
  int const p = co_await pick::one{};
  int const a = co_await ask::get{};
  int const q = co_await pick::one{};
  co_return 100 * p + 10 * a + q;
}

void check_in_use(std::string const& text, std::string const& part, std::string const& other = "") {
  CHECK_THAT(text, Contains("weft: the continuation suspended by ") && Contains("pick::one at ") &&
                       Contains("bitwise_refused_test.cpp:") && Contains(" cannot be resumed ") &&
                       Contains(part) && Contains(other));
}

TEST_CASE(
    "while a one-shot resumption waits in the place of its frames, no capture can be put there") {
  every_frame_dies const check;
  keeps_both h;
  int const started = run(handle<pick, ask>(h, picks_and_asks, bitwise()));
  CHECK(started == -1);
  auto const k = h.often[0];
  CHECK(resume(k, 1) == -2);
  check_in_use(text_of<frames_in_use>([&] { resume(k, 2); }), "keeps_both", "is suspended outside");
  CHECK_THROWS_AS(resume(k, 2), frames_in_use);

  SECTION("the one-shot resumption is resumed") {
    CHECK(resume(std::move(*h.once), 3) == -1);
    CHECK(resume(k, 2) == -2);
    CHECK_THROWS_AS(resume(h.often[1], 4), frames_in_use);
    CHECK(resume(std::move(*h.once), 5) == -1);
    CHECK(resume(h.often[1], 4) == 134);
    CHECK(resume(h.often[2], 4) == 254);
  }
  SECTION("the one-shot resumption is dropped") {
    h.once.reset();
    CHECK(resume(k, 2) == -2);
  }
  SECTION("the one-shot resumption is kept to the end") {}
}

TEST_CASE("a last resume into a place in use throws, and its resumption may be dropped") {
  every_frame_dies const check;
  keeps_both h;
  run(handle<pick, ask>(h, picks_and_asks, bitwise()));
  resume(h.often[0], 1);
  CHECK_THROWS_AS(resume(std::move(h.often[0]), 2), frames_in_use);
  h.often.clear();
  CHECK(resume(std::move(*h.once), 3) == -1);
  CHECK(resume(h.often[0], 4) == 134);
  CHECK(resume(std::move(h.often[0]), 5) == 135);
}

TEST_CASE("a body cannot be resumed from inside while it runs") {
  every_frame_dies const check;
  keeps_picks<int> h;
  std::string text;
  auto const tries_to_resume = [&](ask::get) {
    text = text_of<frames_in_use>([&] { resume(h.waiting[0], 9); });
    return 5;
  };
  auto const body = [&h]() -> eff<int, ask> {
    int n = co_await handle<pick>(h, picks_and_asks, bitwise());
    for (int i = 1; i != 3; ++i) {
      n = co_await h.waiting[0](i);
      if (n != 0) co_return n;
      n = co_await h.waiting.back()(i + 2);
    }
    co_return n;
  };
  CHECK(run(handle<ask>(tries_to_resume, body)) == 254);
  check_in_use(text, "keeps_picks", " runs, ");
}

TEST_CASE("a clause that suspends the search from outside keeps the place of its frames in use") {
  every_frame_dies const check;
  keeps_picks<int> h;
  struct parks_ask : region {
    std::optional<resumption<int, int>> k;
    int on(ask::get, resumption<int, int> r) {
      k.emplace(std::move(r));
      return -2;
    }
  };
  parks_ask outside;
  auto const body = [&h]() -> eff<int, ask> {
    int n = co_await handle<pick>(h, picks_and_asks, bitwise());
    n += co_await h.waiting[0](1);
    co_return n;
  };
  CHECK(run(handle<ask>(outside, body)) == -2);
  CHECK_THROWS_AS(resume(h.waiting[0], 2), frames_in_use);
  bool const drops = GENERATE(false, true);
  if (drops) {
    outside.k.reset();
    CHECK_THROWS_AS(resume(h.waiting[0], 2), resumption_expired);
  } else {
    CHECK(resume(std::move(*outside.k), 3) == 0);
    CHECK_THROWS_AS(resume(h.waiting[0], 2), resumption_expired);  // `outside` has answered
  }
}

TEST_CASE("a resume on another thread is refused, and a later one on the first thread works") {
  every_frame_dies const check;
  keeps_picks<int> h;
  run(handle<pick>(h, two_digits, bitwise()));
  auto const k = h.waiting[0];
  auto const elsewhere = [&k] {
    std::string text;
    std::thread([&k, &text] { text = text_of<frames_in_use>([&k] { resume(k, 2); }); }).join();
    return text;
  };
  check_in_use(elsewhere(), "bitwise on another thread");
  CHECK(resume(k, 1) == 0);
  check_in_use(elsewhere(), "bitwise on another thread");
  CHECK(resume(h.waiting[1], 3) == 13);
  CHECK(resume(h.waiting[0], 2) == 0);
}

TEST_CASE("each thread may run a search of its own") {
  int wrong = 0;
  {
    every_frame_dies const check;
    std::vector<std::thread> threads;
    std::vector<numbers> results(3);
    for (numbers& r : results)
      threads.emplace_back(
          [&r] { r = run(handle<pick>(tries_picks<>{3}, two_digits, bitwise())); });
    for (std::thread& t : threads) t.join();
    for (numbers const& r : results) wrong += r != numbers{0, 1, 2, 10, 11, 12, 20, 21, 22};
  }
  CHECK(wrong == 0);
}

// ---- expired, empty, and other laws of resumptions

TEST_CASE("a resumption that was kept is expired once the region of its handler has ended") {
  every_frame_dies const check;
  int const resumes = GENERATE(0, 1, 2);
  std::vector<multi_resumption<int, int>> kept;
  {
    keeps_picks<int> h;
    run(handle<pick>(h, two_digits, bitwise()));
    auto const k = h.waiting[0];
    for (int i = 0; i != resumes; ++i) resume(k, i);
    kept = h.waiting;
  }
  CHECK(kept.size() == static_cast<std::size_t>(resumes) + 1);
  for (int round = 0; round != 2; ++round)
    for (auto const& k : kept)
      CHECK_THAT(
          text_of<resumption_expired>([&] { resume(k, 1); }),
          Contains("keeps_picks") && Contains(" no longer exists") && Contains("pick::one at "));
  CHECK_THROWS_AS(resume(std::move(kept[0]), 1), resumption_expired);
}

TEST_CASE("a resumption expires with a borrowed handler further out that its body performs to") {
  every_frame_dies const check;
  keeps_picks<int> h;
  answers outside{3};
  auto const body = [&h]() -> eff<int, ask> {
    int n = co_await handle<pick>(h, picks_and_asks, bitwise());
    n += co_await h.waiting[0](1);
    co_return n;
  };
  CHECK(run(handle<ask>(outside, body)) == 0);
  REQUIRE(h.waiting.size() == 2);
  for (auto const& k : h.waiting)
    CHECK_THAT(text_of<resumption_expired>([&] { resume(k, 1); }), Contains("answers"));
}

TEST_CASE("a borrowed handler that keeps a resumption must be a region") {
  every_frame_dies const check;
  struct keeps_badly {
    std::vector<multi_resumption<int, int>> kept;
    int on(pick::one, multi_resumption<int, int> k) {
      kept.push_back(k);
      return resumes ? resume(std::move(k), 1) : 0;
    }
    bool resumes = false;
  };
  keeps_badly h;
  h.resumes = GENERATE(false, true);
  CHECK_THAT(text_of<not_a_region>([&] { run(handle<pick>(h, two_digits, bitwise())); }),
             Contains("keeps_badly"));
  for (auto const& k : h.kept) CHECK_THROWS_AS(resume(k, 1), resumption_expired);
  h.kept.clear();
}

TEST_CASE("an operation does not cross ordinary code, and the body may continue") {
  every_frame_dies const check;
  struct runs_inside {
    static eff<int, tick, pick> ticks_and_picks() {
      co_await tick::now{};
      int const n = co_await pick::one{};
      co_return n;
    }
  };
  struct resumes {  // from ordinary code, which a pick inside would have to suspend
    int on(tick::now, resumption<void, int> k) const { return resume(std::move(k)); }
  };
  auto const body = []() -> eff<int, pick> {
    int refused = 0;
    try {
      (void)co_await handle<tick>(resumes(), runs_inside::ticks_and_picks);
    } catch (needs_control const&) {
      refused = 100;
    }
    int const picked = co_await pick::one{};
    co_return refused + picked;
  };
  CHECK(run(handle<pick>(tries_picks<>{2}, body, bitwise())) == numbers{100, 101});
}

TEST_CASE("an empty multi-shot resumption cannot be resumed") {
  multi_resumption<int, int> k;
  CHECK_FALSE(k);
  CHECK_THROWS_AS(resume(k, 1), resumption_empty);
}
