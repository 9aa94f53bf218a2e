// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// emit, pushed to a handler and pulled by each(), which gives a range of the values that a
/// computation emits.

using ints = eff<void, emit<int>>;

ints up_to(int n) {
  for (int i = 0; i < n; ++i) co_await emit<int>::value{i};
}

// ---- concepts

using range_of_ints = emitted<int>;
static_assert(std::input_iterator<range_of_ints::iterator>);
static_assert(!std::forward_iterator<range_of_ints::iterator>);
static_assert(std::sentinel_for<std::default_sentinel_t, range_of_ints::iterator>);
static_assert(std::semiregular<range_of_ints::iterator>);
static_assert(std::ranges::input_range<range_of_ints>);
static_assert(std::ranges::input_range<range_of_ints const>);
static_assert(std::ranges::view<range_of_ints>);
static_assert(std::ranges::viewable_range<range_of_ints&>);
static_assert(std::semiregular<range_of_ints>);
static_assert(std::same_as<std::ranges::range_reference_t<range_of_ints>, int&>);
static_assert(std::ranges::view<emitted<std::unique_ptr<int>>>);
static_assert(std::same_as<decltype(each(up_to, 1)), range_of_ints>);

// ---- emit: values are pushed

TEST_CASE("emit may push its values to a vector or to any value clause") {
  every_frame_dies const check;
  CHECK(run(handle(emit_to_vector<int>(), up_to(3))) == std::vector{0, 1, 2});
  auto const counts = []() -> eff<std::string, emit<int>> {
    co_await up_to(2);
    co_return "done";
  };
  auto const [said, all] = run(handle(emit_to_vector<int>(), counts));
  CHECK(said == "done");
  CHECK(all == std::vector{0, 1});

  int sum = 0;
  run(handle<emit<int>>(clauses{[&sum](emit<int>::value v) { sum += v.it; }}, up_to(5)));
  CHECK(sum == 10);
}

TEST_CASE("emit takes move-only values, and a body may emit values of two types") {
  every_frame_dies const check;
  using box = std::unique_ptr<int>;
  auto const boxes = []() -> eff<void, emit<box>, emit<int>> {
    co_await emit<box>::value{std::make_unique<int>(1)};
    co_await emit<int>::value{2};
  };
  auto const [numbers, all] =
      run(handle(emit_to_vector<int>(), [boxes]() -> eff<std::vector<box>, emit<int>> {
        co_return co_await handle(emit_to_vector<box>(), boxes);
      }));
  CHECK(*numbers.at(0) == 1);
  CHECK(all == std::vector{2});
}

template <class Range>
auto all_of(Range&& range) {
  std::vector<std::ranges::range_value_t<Range>> all;
  for (auto&& value : range) all.push_back(std::move(value));
  return all;
}

// ---- each: values are pulled

TEST_CASE("a range-for over each() visits every emitted value") {
  every_frame_dies const check;
  CHECK(all_of(each(up_to, 4)) == std::vector{0, 1, 2, 3});
  CHECK(all_of(each(up_to, 0)).empty());
  CHECK(all_of(emitted<int>()).empty());
  CHECK(std::ranges::distance(each(up_to, 100)) == 100);
}

ints for_ever(std::string& out) {
  leaves const end(out, 'x');
  for (int i = 0;; ++i) co_await emit<int>::value{i};
}

TEST_CASE("a range of each() can be piped into views of the standard library") {
  every_frame_dies const check;
  auto const odd = [](int n) { return n % 2 == 1; };
  auto const square = [](int n) { return n * n; };
  std::string out;
  auto const pipeline = each(for_ever, std::ref(out)) | std::views::filter(odd) |
                        std::views::transform(square) | std::views::take(4);
  auto squares = pipeline;
  CHECK(all_of(squares) == std::vector{1, 9, 25, 49});

  auto const few = each(up_to, 6);
  auto small = few | std::views::take_while([](int n) { return n < 3; });
  CHECK(all_of(small) == std::vector{0, 1, 2});
  CHECK(*few.begin() == 3);

  auto const words = []() -> eff<void, emit<std::string>> {
    co_await emit<std::string>::value{"ab"};
    co_await emit<std::string>::value{"cd"};
  };
  std::string joined;
  auto range = each(words);
  for (char const c : range | std::views::join) joined += c;
  CHECK(joined == "abcd");
}

TEST_CASE("each() runs nothing before begin(), and then no further than the next value") {
  every_frame_dies const check;
  std::vector<std::string> log;
  auto const body = [&log]() -> ints {
    log.emplace_back("begin");
    co_await emit<int>::value{1};
    log.emplace_back("between");
    co_await emit<int>::value{2};
    log.emplace_back("end");
  };
  auto const range = each(body);
  CHECK(log.empty());
  auto at = range.begin();
  CHECK(log == std::vector<std::string>{"begin"});
  CHECK(*at == 1);
  CHECK(*at == 1);
  ++at;
  CHECK(log.size() == 2);
  at++;
  CHECK(log.size() == 3);
  CHECK(at == range.end());
}

TEST_CASE("a value of each() stays until the next ++, and may be changed or moved from") {
  every_frame_dies const check;
  auto const words = []() -> eff<void, emit<std::string>> {
    co_await emit<std::string>::value{std::string(100, 'a')};
    co_await emit<std::string>::value{std::string(100, 'b')};
  };
  auto const range = each(words);
  auto at = range.begin();
  auto const* const address = &*at;
  *at += "!";
  CHECK(&*at == address);
  CHECK(at->size() == 101);
  std::string const taken = std::move(*at);
  CHECK(taken.back() == '!');
  ++at;
  CHECK(at->front() == 'b');
}

TEST_CASE("each() takes move-only values, pointers and references") {
  every_frame_dies const check;
  using box = std::unique_ptr<int>;
  auto const boxes = [](box first) -> eff<void, emit<box>> {
    co_await emit<box>::value{std::move(first)};
    co_await emit<box>::value{std::make_unique<int>(8)};
  };
  auto const all = all_of(each(boxes, std::make_unique<int>(7)));
  REQUIRE(all.size() == 2);
  CHECK(*all[0] + *all[1] == 15);

  int a = 1;
  int b = 2;
  auto const refer = [](int& x, int& y) -> eff<void, emit<std::reference_wrapper<int>>> {
    co_await emit<std::reference_wrapper<int>>::value{x};
    co_await emit<std::reference_wrapper<int>>::value{y};
  };
  for (int& n : each(refer, std::ref(a), std::ref(b))) n *= 10;
  CHECK(a + b == 30);
}

TEST_CASE("an emitted value is moved equally often from any depth, and never copied") {
  every_frame_dies const check;
  struct counting {
    explicit counting(int& m) : moves(&m) {}
    counting(counting&& other) noexcept : moves(other.moves) { ++*moves; }
    counting& operator=(counting&&) = delete;
    ~counting() = default;
    int* moves;
  };
  struct program {
    static eff<void, emit<counting>> at_depth(int n, int& moves) {
      if (n != 0) {
        co_await at_depth(n - 1, moves);
      } else {
        for (int i = 0; i != 10; ++i) co_await emit<counting>::value{counting(moves)};
      }
    }
  };
  auto const moves_at = [](int depth) {
    int moves = 0;
    for (auto const& one : each(program::at_depth, depth, std::ref(moves))) (void)one;
    return moves;
  };
  CHECK(moves_at(0) == moves_at(1000));
}

TEST_CASE("emitting an element creates no frame, however deep it is emitted") {
  every_frame_dies const check;
  struct program {
    static ints at_depth(int n) {
      if (n != 0)
        co_await at_depth(n - 1);
      else
        co_await up_to(100);
    }
  };
  auto const births = [] { return detail::frames_so_far().births; };
  for (int const depth : {10, 1000}) {
    auto const range = each(program::at_depth, depth);
    auto const before = births();
    auto at = range.begin();
    CHECK(births() - before == depth + 3);  // the calls, up_to, and the prompt
    auto const begun = births();
    int sum = 0;
    for (; at != range.end(); ++at) sum += *at;
    CHECK(sum == 4950);
    CHECK(births() == begun);
  }
}

TEST_CASE("each() walks a recursive computation in order") {
  every_frame_dies const check;
  struct program {
    static ints between(int from, int to) {
      if (from == to) co_return;
      int const middle = from + (to - from) / 2;
      co_await between(from, middle);
      co_await emit<int>::value{middle};
      co_await between(middle + 1, to);
    }
  };
  auto const walked = all_of(each(program::between, 0, 1000));
  CHECK(std::ranges::equal(walked, std::views::iota(0, 1000)));
}

// ---- exceptions

TEST_CASE("an exception of the computation comes out of begin() or ++, and ends the range") {
  every_frame_dies const check;
  auto const fails_after = [](int n) -> ints {
    co_await up_to(n);
    throw std::runtime_error("enough");
  };
  auto const at_once = each(fails_after, 0);
  CHECK_THROWS_WITH(at_once.begin(), "enough");
  CHECK(at_once.begin() == at_once.end());

  auto const later = each(fails_after, 2);
  auto at = later.begin();
  ++at;
  CHECK(*at == 1);
  CHECK_THROWS_WITH(++at, "enough");
  CHECK(at == later.end());
  CHECK(later.begin() == later.end());
}

TEST_CASE("an exception of a function that is no coroutine comes out of begin()") {
  every_frame_dies const check;
  auto const range = each([]() -> ints { throw std::runtime_error("no frame"); });
  CHECK_THROWS_WITH(range.begin(), "no frame");
  CHECK(range.begin() == range.end());
}

TEST_CASE("a value that throws when it is moved ends the range") {
  every_frame_dies const check;
  struct heavy {
    heavy(int n, int m) : number(n), moves_left(m) {}
    heavy(heavy&& other) : number(other.number), moves_left(other.moves_left - 1) {
      if (moves_left == 0) throw std::runtime_error("too heavy");
    }
    heavy& operator=(heavy&&) = delete;
    ~heavy() = default;
    int number;
    int moves_left;
  };
  struct program {
    static eff<void, emit<heavy>> heavies(std::string& out, int moves) {
      leaves const end(out, 'x');
      co_await emit<heavy>::value{heavy(1, 100)};
      co_await emit<heavy>::value{heavy(2, moves)};
      co_await emit<heavy>::value{heavy(3, 100)};
    }
  };
  int thrown = 0;
  for (int moves = 1; moves != 20; ++moves) {
    std::string out;
    int last = 0;
    try {
      for (heavy const& h : each(program::heavies, std::ref(out), moves)) last = h.number;
    } catch (std::runtime_error const&) {
      CHECK(last == 1);
      ++thrown;
    }
    CHECK(out == "x");
  }
  CHECK(thrown > 2);
  CHECK(thrown < 19);
}

// ---- the end, and dropping before it

TEST_CASE("dropping the range unwinds the computation once, the innermost frame first") {
  every_frame_dies const check;
  std::string out;
  struct program {
    static ints inner(std::string& to) {
      leaves const mine(to, 'i');
      co_await up_to(1000);
    }
    static ints outer(std::string& to) {
      leaves const mine(to, 'o');
      co_await inner(to);
    }
  };
  for (int const n : each(program::outer, std::ref(out)))
    if (n == 3) break;
  CHECK(out == "io");

  out.clear();
  {
    auto const range = each(program::outer, std::ref(out));
  }
  CHECK(out.empty());  // the computation had not begun

  {
    auto range = each(program::outer, std::ref(out));
    auto at = range.begin();
    range = each(program::outer, std::ref(out));
    CHECK(out.empty());
    ++at;  // an iterator suffices
    CHECK(*at == 1);
    at = {};
    CHECK(out == "io");
  }
  CHECK(out == "io");

  out.clear();
  CHECK(all_of(each(program::outer, std::ref(out))).size() == 1000);
  CHECK(out == "io");
}

TEST_CASE("dropping a range unwinds a million frames in a loop") {
  every_frame_dies const check;
  struct program {
    static ints at_depth(int n) {
      if (n != 0) co_await at_depth(n - 1);
      co_await emit<int>::value{n};
    }
  };
  auto const range = each(program::at_depth, 1'000'000);
  CHECK(*range.begin() == 0);
}

TEST_CASE("copies of a range share one stream, and begin() continues at its current value") {
  every_frame_dies const check;
  auto const range = each(up_to, 6);
  auto const copy = range;
  auto first = range.begin();
  ++first;
  auto second = copy.begin();
  CHECK(*second == 1);
  ++second;
  CHECK(*first == 2);
  std::vector<int> rest;
  for (int const n : range) rest.push_back(n);
  CHECK(rest == std::vector{2, 3, 4, 5});
  CHECK(first == range.end());
  CHECK(second == copy.end());
  CHECK(all_of(copy).empty());
}

TEST_CASE("an iterator without a value throws when it is read or incremented") {
  every_frame_dies const check;
  auto const range = each(up_to, 1);
  auto at = range.begin();
  ++at;
  CHECK_THROWS_AS(*at, nothing_emitted);
  CHECK_THROWS_AS(++at, nothing_emitted);
  emitted<int>::iterator none;
  CHECK(none == std::default_sentinel);
  CHECK_THROWS_AS(*none, nothing_emitted);
  CHECK_THROWS_AS(++none, nothing_emitted);
}

TEST_CASE("a computation that reads its own range finds no value there") {
  every_frame_dies const check;
  emitted<int> range;
  bool at_end = false;
  auto const body = [&]() -> ints {
    co_await emit<int>::value{1};
    auto at = range.begin();
    at_end = at == range.end();
    CHECK_THROWS_AS(++at, nothing_emitted);
    CHECK_THROWS_AS(*at, nothing_emitted);
    co_await emit<int>::value{2};
  };
  range = each(body);
  CHECK(all_of(range) == std::vector{1, 2});
  CHECK(at_end);
}

TEST_CASE("a computation may drop the range that runs it") {
  every_frame_dies const check;
  std::optional<emitted<int>> range;
  std::string out;
  auto const body = [&]() -> ints {
    leaves const end(out, 'x');
    range.reset();
    co_await emit<int>::value{1};
    co_await emit<int>::value{2};
  };
  range = each(body);
  {
    auto at = range->begin();
    CHECK_FALSE(range);
    CHECK(*at == 1);
    ++at;
    CHECK(*at == 2);
  }
  CHECK(out == "x");
}

// ---- lifetimes

TEST_CASE("the function and the arguments of each() live as long as the frames") {
  every_frame_dies const check;
  auto const word = std::make_shared<std::string>("abc");
  std::optional<emitted<char>> letters;
  {
    std::string const longer = *word + std::string(100, 'z');
    letters = each(
        [word](std::string const& more) -> eff<void, emit<char>> {
          for (char const c : *word) co_await emit<char>::value{c};
          co_await emit<char>::value{more.back()};
        },
        longer);
  }
  CHECK(word.use_count() == 2);
  CHECK(all_of(*letters) == std::vector{'a', 'b', 'c', 'z'});
  CHECK(word.use_count() == 1);  // destroyed with the frames
  std::function<ints(int)> const kept = [word](int n) { return up_to(n); };
  CHECK(all_of(each(kept, 2)) == std::vector{0, 1});
  CHECK(word.use_count() == 2);
  CHECK(all_of(each([word]() -> ints { co_return; })).empty());
  CHECK(word.use_count() == 2);
  std::function<ints()> const without_arguments = [] { return up_to(1); };
  CHECK(all_of(each(without_arguments)) == std::vector{0});
}

TEST_CASE(
    "a computation of each() may handle effects inside, and a loop over each() may be suspended") {
  every_frame_dies const check;
  // The computation handles its other effects inside.
  auto const asking = [] {
    return handle<ask>(answers{5}, []() -> eff<void, emit<int>, ask> {
      int const n = co_await ask::get{};
      co_await up_to(n);
    });
  };
  auto const body = [asking]() -> ints { co_await asking(); };
  CHECK(all_of(each(body)).size() == 5);

  // The loop that pulls may be suspended, since the range lies in its frame.
  parks p;
  std::string out;
  auto const waits = [&out]() -> eff<void, tick> {
    for (int const n : each(for_ever, std::ref(out))) {
      out += std::to_string(n);
      co_await tick::now{};
    }
  };
  run(handle(p, waits));
  resume(std::move(p.k));
  resume(std::move(p.k));
  CHECK(out == "012");
  p.k = {};
  CHECK(out == "012x");
}

TEST_CASE("two ranges of each() may be pulled at once, or one inside the other") {
  every_frame_dies const check;
  auto const both = each(up_to, 3);
  auto at = both.begin();
  int sum = 0;
  for (int const n : each(up_to, 3)) {
    sum += n * *at;
    ++at;
  }
  CHECK(sum == 5);

  auto const pairs = []() -> ints {
    for (int const n : each(up_to, 3))
      for (int const m : each(up_to, n)) co_await emit<int>::value{10 * n + m};
  };
  CHECK(all_of(each(pairs)) == std::vector{10, 20, 21});
}
