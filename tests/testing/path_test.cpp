// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

schedule_path path_of(std::vector<unsigned> const& choices,
                      granularity g = granularity::cooperative) {
  schedule_path p(g);
  for (auto const c : choices) p.add(c);
  return p;
}

TEST_CASE("a path's text is its version, its granularity, its choices and a checksum") {
  CHECK_THAT(path_of({0, 1, 1, 1, 2}).text(), Catch::StartsWith("1c:0.1x3.2:"));
  CHECK_THAT(path_of({0, 0}, granularity::parallel).text(), Catch::StartsWith("1p:0x2:"));
  CHECK_THAT(path_of({12, 1, 12}).text(), Catch::StartsWith("1c:12.1.12:"));
  // CRC-16/XMODEM, as other programs compute it, too.
  CHECK(path_of({}).text() == "1c::3bf5");
  CHECK(path_of({1, 0, 0}).text() == "1c:1.0x2:a2f6");
}

using weft::tests::dice;
using weft::tests::seeds;

/// Draws runs of equal choices, short and long, with a large number now and then.
schedule_path draw_path(dice& d) {
  schedule_path p(d(2) == 0 ? granularity::cooperative : granularity::parallel);
  for (unsigned runs = d(8); runs != 0; --runs) {
    unsigned const choice = d(10) == 0 ? d(1'000'000) : d(4);
    for (unsigned n = 1 + d(d(4) == 0 ? 40 : 3); n != 0; --n) p.add(choice);
  }
  return p;
}
/// Draws a process: mostly near the root; some ids are hashes.
process_id draw_id(dice& d) {
  process_id id = d(8) == 0 ? process_id::submitted(1 + d(3)) : process_id();
  for (unsigned depth = d(10) == 0 ? d(20) : d(3); depth != 0; --depth)
    id = id.child(1 + d(d(6) == 0 ? 1'000 : 3));
  return id;
}
/// As draw_path, but with named processes.
schedule_path draw_named_path(dice& d) {
  schedule_path p(d(2) == 0 ? granularity::cooperative : granularity::parallel);
  p.add(d(3), draw_id(d));
  for (unsigned runs = d(8); runs != 0; --runs) {
    bool const is_decision = d(4) == 0;
    unsigned const choice = d(10) == 0 ? d(1'000'000) : d(4);
    auto const id = draw_id(d);
    for (unsigned n = 1 + d(d(4) == 0 ? 40 : 3); n != 0; --n)
      is_decision ? p.add(choice) : p.add(choice, id);
  }
  return p;
}

TEST_CASE("the text of a path is read back as that path") {
  seeds(1'000).for_each([](unsigned seed) {
    dice d(seed);
    auto const p = seed % 2 == 0 ? draw_path(d) : draw_named_path(d);
    auto const text = p.text();
    schedule_path const read{std::string_view(text)};
    INFO("seed " << seed << ": " << text);
    CHECK(read == p);
    CHECK(read.grain() == p.grain());
    CHECK(read.text() == text);
  });
}

/// The text with its checksum: the remainder of the division by x^16 + x^12 + x^5 + 1.
std::string signed_text(std::string const& body) {
  std::uint64_t rest = 0;
  for (char const c : body + std::string(2, '\0')) {
    rest = rest << 8 | static_cast<unsigned char>(c);
    for (int bit = 23; bit >= 16; --bit)
      if ((rest >> bit & 1u) != 0) rest ^= std::uint64_t{0x11021} << (bit - 16);
  }
  std::string text = body + ':';
  for (int shift = 12; shift >= 0; shift -= 4) text += "0123456789abcdef"[rest >> shift & 15u];
  return text;
}

TEST_CASE("a path names the process of a choice at its first use and whenever it changes") {
  process_id const first, second = first.child(2), third = first.child(3);
  schedule_path p(granularity::parallel);
  p.add(1, second);
  p.add(1, second);
  p.add(0, first);
  p.add(1, second);
  p.add(1);
  p.add(1, third);
  p.add(0, first);
  CHECK(p.text() == signed_text("2p:1=1.2x2,0=1,1,d1,1=1.3,0"));
  schedule_path const read{std::string_view(p.text())};
  CHECK(read.names_processes());
  CHECK(read.process(3) == second);
  CHECK(read.process(4) == std::nullopt);
  CHECK(read.process(5) == third);
}

TEST_CASE("the text of an id is read back as that id, and other texts are refused") {
  seeds(2'000).for_each([](unsigned seed) {
    dice d(seed);
    auto const id = draw_id(d);
    INFO("seed " << seed << ": " << id.text());
    CHECK(process_id::read(id.text()) == id);
  });
  CHECK(process_id::read("0.0.7") == process_id::internal(7));
  CHECK(process_id::read("1.9223372036854775807") == std::nullopt);
  for (auto const* const s : {"", "1.", ".1", "2", "1..1", "1.0.1", "0.0.0.1", "0.0", "01", "1.+1",
                              "#", "#-1", "#18446744073709551616", "#9223372036854775809", "1 "})
    CHECK(process_id::read(s) == std::nullopt);
}

TEST_CASE("a run of equal choices is written once, so a long path can have a short text") {
  std::vector<unsigned> const choices(100'000, 1);
  auto const text = path_of(choices).text();
  CHECK_THAT(text, Catch::StartsWith("1c:1x100000:"));
  CHECK(schedule_path(std::string_view(text)).length() == 100'000);
}

/// The reason why `text` is no path; empty if it is one.
std::string refusal(std::string const& text) {
  try {
    schedule_path const p{std::string_view(text)};
    return "";
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
}

TEST_CASE("a text with any one character changed is refused") {
  static std::string const all = "0123456789abcdefx.,=#:pc ";
  seeds(30).for_each([](unsigned seed) {
    dice d(seed);
    auto const text = (seed % 2 == 0 ? draw_path(d) : draw_named_path(d)).text();
    for (std::size_t i = 0; i != text.size(); ++i)
      for (char const c : all) {
        if (c == text[i]) continue;
        auto changed = text;
        changed[i] = c;
        if (refusal(changed).empty()) FAIL("seed " << seed << ": " << text << ", " << changed);
      }
  });
  // A 16-bit hash in place of the CRC would not tell these two apart.
  for (auto const* const s : {"1c:0x4.2x2.1x5:840d", "1c:0x4.232.1x5:840d"})
    CHECK_THAT(refusal(s), Contains("its checksum, behind the last colon, is another one"));
}

TEST_CASE("a text with two neighbouring characters swapped is refused") {
  seeds(100).for_each([](unsigned seed) {
    dice d(seed);
    auto const text = (seed % 2 == 0 ? draw_path(d) : draw_named_path(d)).text();
    for (std::size_t i = 1; i != text.size(); ++i) {
      if (text[i - 1] == text[i]) continue;
      auto changed = text;
      std::swap(changed[i - 1], changed[i]);
      if (refusal(changed).empty()) FAIL("seed " << seed << ": " << text << ", " << changed);
    }
  });
}

TEST_CASE("a text that was not copied whole is refused") {
  auto const text = path_of({0, 1, 1, 2, 10, 10}).text();
  for (std::size_t n = 0; n != text.size(); ++n) {
    CHECK_FALSE(refusal(text.substr(0, n)).empty());
    if (n != 0) CHECK_FALSE(refusal(text.substr(n)).empty());
  }
}

TEST_CASE("a text that is no path is refused with the reason") {
  auto const begins = "it must begin with 2c:, 2p:, 1c: or 1p:";
  auto const numbers = "its choices are numbers with dots between them, as in 1.0x4.2";
  for (auto const* const s :
       {"", "1", "1c", "3c:0:0000", "1d:0:0000", "2d:0:0000", "1c0:0000", ":::", "hello"})
    CHECK_THAT(refusal(s), Contains(begins));
  for (auto const* const s : {"1c:", "1c:0", "1c::", "1c:0:", "1c:0:0000", "1p:0:00000"})
    CHECK_THAT(refusal(s), Contains("its checksum, behind the last colon, is another one"));
  for (auto const* const s : {"1c:.", "1c:0.", "1c:.0", "1c:0..1", "1c:x2", "1c:0x", "1c:0x1x1",
                              "1c:-1", "1c:a", "1c:0 1", "1c:99999999999", "1c:0:1"})
    CHECK_THAT(refusal(signed_text(s)), Contains(numbers));
  for (auto const* const s : {"1c:0x0", "1c:0x100000001", "1c:0x99999999.0x99999999"})
    CHECK_THAT(refusal(signed_text(s)), Contains("a choice is made 0 or too many times"));
  auto const names =
      "its choices are numbers with commas between them, each with its process the first time, and "
      "decisions, as in 1=1.2,0=1.1x4,d2";
  for (auto const* const s : {"2c:", "2c:0", "2c:d0", "2c:0=1.1,1", "2c:0=1.1,", "2c:0=", "2c:0=x2",
                              "2c:0=2.1", "2c:0=1.", "2c:0=1.01", "2c:0=1.0", "2c:0=0", "2c:0=#",
                              "2c:0=#1.2", "2c:0=1.1.1=1.2", "2c:d=1.1", "2c:d1=1.1", "2c:0=1.1x"})
    CHECK_THAT(refusal(signed_text(s)), Contains(names));
  CHECK_THAT(refusal(signed_text("2c:0=1.1x0")), Contains("a choice is made 0 or too many times"));
  CHECK(refusal(signed_text("2c:0=0.1,1=#77x2,0,1=1.2,d3x2")).empty());
  CHECK_THAT(refusal("1c:nonsense"), Contains("weft: \"1c:nonsense\" is no path: "));
  CHECK(refusal(signed_text("1c:0x2.1")).empty());
}

// ---- paths and programs

struct world {
  std::unique_ptr<mutex> free = std::make_unique<mutex>();
  int n = 0;
};
/// Three steps in parallel granularity, under a lock; two in the cooperative one.
eff<void, proc, syncing> adds(world& w) {
  auto const held = co_await w.free->lock();
  int const seen = w.n;
  co_await proc::yield{};
  w.n = seen + 1;
}
eff<void, spawning<proc, syncing>> two_add(world& w) {
  co_await spawn(adds, std::ref(w));
  co_await spawn(adds, std::ref(w));
}
world make_world() { return {}; }
bool is_two(world const& w) { return w.n == 2; }

exploration follow_there(schedule_path const& p) {
  weft::tests::every_frame_dies const here;
  return follow(p.text(), make_world, two_add, is_two);
}
std::vector<exploration::outcome> outcomes_of(granularity g) {
  weft::tests::every_frame_dies const here;
  auto const found = explore({.granularity = g}, make_world, two_add, is_two);
  CHECK(found.ok());
  CHECK(found.complete);
  return found.outcomes;
}

TEST_CASE("a path of the program is followed, and a path of the other granularity is refused") {
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  auto const p = outcomes_of(g).at(0).path;
  CHECK(p.grain() == g);
  auto const seen = follow_there(p);
  CHECK(seen.ok());
  CHECK(seen.schedules == 1);
  CHECK(seen.what_differed.empty());
  CHECK(seen.outcomes.at(0).path == p);

  auto const other = g == granularity::parallel ? granularity::cooperative : granularity::parallel;
  schedule_path q(other);
  for (std::size_t i = 0; i != p.length(); ++i) q.add(p[i]);
  CHECK(follow_there(q).nondeterminism);
}

schedule_path with(schedule_path const& p, std::size_t length, std::vector<unsigned> more) {
  schedule_path q(p.grain());
  for (std::size_t i = 0; i != length; ++i) q.add(p[i]);
  for (auto const c : more) q.add(c);
  return q;
}

TEST_CASE("a path of version 1, which names no process, can still be followed") {
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  auto const p = outcomes_of(g).at(0).path;
  REQUIRE(p.names_processes());
  auto const old = with(p, p.length(), {});
  CHECK_FALSE(old.names_processes());
  CHECK(old.text().starts_with("1"));
  auto const seen = follow_there(old);
  CHECK(seen.ok());
  CHECK(seen.outcomes.at(0).path == old);
}

TEST_CASE("a path with another process at a step is refused, although its numbers fit") {
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  auto const p = outcomes_of(g).at(0).path;
  auto const fits =
      "the path is not one of this program, or the program does not always do the "
      "same: ";
  // The same numbers, but another process at the second choice.
  schedule_path other(g);
  for (std::size_t i = 0; i != p.length(); ++i)
    other.add(p[i], i == 1 ? process_id().child(3) : *p.process(i));
  auto const seen = follow_there(other);
  CHECK(seen.nondeterminism);
  CHECK_THAT(seen.what_differed,
             Contains(fits +
                      std::string("choice 2 of the path, at step 3, is process 1.3, "
                                  "candidate ") +
                      std::to_string(p[1]) + ", and 2 are ready, counted from 0: 1.1 and 1.2"));
  // A decision where a process is to run.
  schedule_path decided(g);
  for (std::size_t i = 0; i != p.length(); ++i)
    if (i == 1)
      decided.add(p[i]);
    else
      decided.add(p[i], *p.process(i));
  CHECK_THAT(follow_there(decided).what_differed,
             Contains("choice 2 of the path, at step 3, is decision " + std::to_string(p[1]) +
                      ", and 2 are ready, counted from 0: 1.1 and 1.2"));
}

eff<void, proc> yields_once(int& n) {
  co_await proc::yield{};
  ++n;
}

TEST_CASE("a path of another program is refused, although its numbers fit") {
  weft::tests::every_frame_dies const here;
  // One program spawns two children; the other spawns a child that spawns two.
  auto const two = [](int& n) -> eff<void, spawning<proc>> {
    co_await spawn(yields_once, std::ref(n));
    co_await spawn(yields_once, std::ref(n));
  };
  auto const further_down = [](int& n) -> eff<void, spawning<spawning<proc>, proc>> {
    co_await spawn(
        [](int& m) -> eff<void, spawning<proc>, proc> {
          co_await spawn(yields_once, std::ref(m));
          co_await spawn(yields_once, std::ref(m));
        },
        std::ref(n));
  };
  auto const zero = [] { return 0; };
  auto const fine = [](int) { return true; };
  auto const path = explore(zero, two, fine).outcomes.at(0).path;
  CHECK(follow(path.text(), zero, two, fine).ok());
  CHECK(follow(with(path, path.length(), {}).text(), zero, further_down, fine)
            .ok());  // the numbers fit
  auto const seen = follow(path.text(), zero, further_down, fine);
  CHECK(seen.nondeterminism);
  CHECK_THAT(seen.what_differed, Contains("of the path, at step ") && Contains("is process 1.") &&
                                     Contains("are ready, counted from 0: 1.1.1 and 1.1.2"));
}

TEST_CASE("a path that runs a process where the program makes a decision is refused") {
  weft::tests::every_frame_dies const here;
  auto const zero = [] { return 0; };
  auto const fine = [](int) { return true; };
  struct flips {
    struct now : op<bool> {};
    using operations = op_list<now>;
  };
  struct coin : handler<flips> {
    bool on(flips::now) { return decide(2) == 1; }
  };
  auto const program = [](int&) -> eff<void, flips> { (void)co_await flips::now{}; };
  schedule_path p;
  p.add(1, process_id());
  auto const seen = follow(p.text(), zero, program, fine, [](int&) { return coin(); });
  CHECK(seen.nondeterminism);
  CHECK_THAT(seen.what_differed, Contains("choice 1 of the path, in step 1, is process 1, "
                                          "candidate 1, and one of 2 ways is to be chosen"));
}

TEST_CASE("a choice of a process that is not ready is reported, with the ready processes") {
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  auto const p = outcomes_of(g).at(0).path;
  auto const seen = follow_there(with(p, 1, {2}));
  CHECK(seen.nondeterminism);
  CHECK_FALSE(seen.ok());
  CHECK_THAT(seen.what_differed,
             Contains("the path is not one of this program, or the program does not always do the "
                      "same: choice 2 of the path, at step 3, is candidate 2, and 2 are ready, "
                      "counted from 0: 1.1 and 1.2"));
  CHECK_THAT(seen.report(), Contains("nondeterminism: the path is not one of this program"));
}

TEST_CASE("a path that ends before the program does is reported, with the ready processes") {
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  auto const p = outcomes_of(g).at(0).path;
  REQUIRE(p.length() >= 2);
  auto const seen = follow_there(with(p, 1, {}));
  CHECK(seen.nondeterminism);
  CHECK_THAT(seen.what_differed,
             Contains("the path ends after 1 choices, and at step 3 the processes 1.1 and 1.2 are "
                      "ready"));
}

TEST_CASE("a path that continues after the program's end is reported, with the place of the end") {
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  auto const outcome = outcomes_of(g).at(0);
  auto const n = outcome.path.length();
  auto const seen = follow_there(with(outcome.path, n, {0, 1}));
  CHECK(seen.nondeterminism);
  CHECK_THAT(seen.what_differed,
             Contains("the path has " + std::to_string(n + 2) +
                      " choices, and the program was over after " + std::to_string(n) + ", in " +
                      std::to_string(outcome.trace.size()) + " steps"));
}

TEST_CASE("a report of a path with several faults names the first") {
  auto const p = outcomes_of(granularity::cooperative).at(0).path;
  auto const seen = follow_there(with(p, 1, {7, 0, 9, 0, 0, 0, 0}));
  CHECK_THAT(seen.what_differed, Contains("choice 2 of the path"));
}

TEST_CASE("a program without a choice has the empty path") {
  weft::tests::every_frame_dies const here;
  auto const on_one_thread = [](int&) -> eff<void, proc> {
    for (int i = 0; i != 3; ++i) co_await proc::yield{};
  };
  auto const zero = [] { return 0; };
  auto const fine = [](int) { return true; };
  auto const found = explore(zero, on_one_thread, fine);
  CHECK(found.schedules == 1);
  CHECK(found.outcomes.at(0).path == schedule_path());
  CHECK(follow("1c::3bf5", zero, on_one_thread, fine).ok());
}

TEST_CASE("a schedule of many steps can be followed and shrunk") {
  weft::tests::every_frame_dies const here;
  auto const yields = [](int& n, int times) -> eff<void, proc> {
    for (int i = 1; i < times; ++i) co_await proc::yield{};
    n = times;
  };
  auto const program = [=](int& n) -> eff<void, spawning<proc>> {
    co_await spawn(yields, std::ref(n), 20'000);
    co_await spawn(yields, std::ref(n), 2);
  };
  auto const zero = [] { return 0; };
  auto const check = [](int n) { return n == 2; };
  auto const found = random_walk({.by = walk_strategy::uniform,
                                  .max_schedules = 1,
                                  .max_steps = 30'000,
                                  .max_shrinking_runs = 0},
                                 zero, program, check);
  REQUIRE(found.first_failure());
  CHECK(found.first_failure()->trace.size() == 20'003);
  auto const path = found.first_failure()->path.text();
  auto const again = follow(path, zero, program, check);
  CHECK_FALSE(again.nondeterminism);
  CHECK(again.cut == 0);
  CHECK(again.failed == 1);
  auto const small = shrink(path, 5, zero, program, check);
  CHECK(small.failed == 1);
  CHECK(small.outcomes.at(0).trace.size() == 20'003);
}
