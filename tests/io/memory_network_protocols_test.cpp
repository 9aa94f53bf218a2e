// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/memory_network.hpp"

/// Protocols over a network with faults: explore finds the wrong ones, and the right one passes
/// every schedule.

using text = std::string;
using talking = eff<void, io, completions>;

// ---- messages: one byte with the length, and then that many bytes

eff<void, io, completions> sends(connection& c, text message, instant until) {
  co_await c.write(text(1, static_cast<char>(message.size())) + message, until);
}
eff<text, io, completions> receives(connection& c, instant until) {
  std::array<std::byte, 1> length{};
  co_await c.read_all(length, until);
  text message(std::to_integer<std::size_t>(length[0]), '-');
  co_await c.read_all(std::as_writable_bytes(std::span(message)), until);
  co_return message;
}
/// Wrong: takes the first read for the whole message.
eff<text, io, completions> receives_at_once(connection& c, instant until) {
  text message(9, '-');
  std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(message)), until);
  message.resize(n);
  co_return message.substr(std::min<std::size_t>(1, n));
}

// ---- a bank: "+5" adds 5; "+5 by 7" does so once, since the bank remembers the number 7

enum class manner { right, reads_once, gives_up, has_no_number };

struct bank {
  memory_network net;
  int balance = 0;
  std::set<text> done{};
  bool is_answered = false;
};

constexpr instant closing_time = instant() + 60s;

/// Serves one connection.  The bytes may come in pieces and late, since the peer may be silent.
talking serves(bank& b, connection c, manner how) {
  try {
    text request;
    if (how == manner::reads_once)
      request = co_await receives_at_once(c, closing_time);
    else
      request = co_await receives(c, closing_time);
    bool const has_number = request.find(" by ") != text::npos;
    if (!has_number || b.done.insert(request).second) b.balance += std::stoi(request);
    co_await sends(c, "ok", closing_time);
  } catch (io_error const&) {
    // A client without an answer asks again.
  }
}
eff<bool, io, completions> asks_once(endpoint to, text request, instant until) {
  connection c = co_await connect(to, until);
  co_await sends(c, request, until);
  text const answer = co_await receives(c, until);
  co_return answer == "ok";
}
/// Asks up to twice.
talking adds_five(bank& b, endpoint to, manner how) {
  text const request = how == manner::has_no_number ? "+5" : "+5 by 7";
  for (auto const until : {instant() + 1s, instant() + 2s}) {
    try {
      b.is_answered = co_await asks_once(to, request, until);
    } catch (io_error const&) {
      if (how == manner::gives_up) throw;
    }
    if (b.is_answered) co_return;
  }
}
eff<void, spawning<io, completions>, io, completions> a_day(bank& b, manner how) {
  listener l = co_await listen(endpoint());
  co_await spawn(adds_five, std::ref(b), l.local(), how);
  try {
    for (;;) {
      connection c = co_await l.accept(instant() + 10s);
      co_await spawn(serves, std::ref(b), std::move(c), how);
    }
  } catch (io_error const&) {  // no client came in time
  }
}

auto opened(memory_network_options const& o) {
  return [o] { return bank{memory_network(o)}; };
}
auto under(manner how) {
  return [how](bank& b) { return a_day(b, how); };
}
memory_network& its_network(bank& b) { return b.net; }
/// The right outcome, which a right client reaches in spite of one fault.
run_result is_right(bank const& b) {
  bool const all_closed = b.net.sockets() == 0;
  return {b.balance == 5 && b.is_answered && all_closed ? verdict::ok : verdict::failed,
          std::to_string(b.balance)};
}
exploration every_schedule(manner how, memory_network_options const& o, bool reduce = true) {
  return explore({.reduce = reduce}, opened(o), under(how), is_right, its_network);
}

/// Checks that no fault-free schedule fails, that one fault of `by` makes one fail, and that its
/// path reproduces the failure.
void is_found(manner how, memory_network_options const& by, text const& why) {
  weft::tests::every_frame_dies const here;
  CHECK(every_schedule(how, {}, false).ok());
  CHECK(every_schedule(how, {.delays = 2}).ok());
  auto const found = every_schedule(how, by);
  CHECK_FALSE(found.nondeterminism);
  CHECK(found.leaked == 0);
  auto const* const wrong = found.first_failure();
  REQUIRE(wrong);
  CHECK(wrong->decisions == 1);
  CHECK_THAT(wrong->result.text, Contains(why));
  auto const again = follow(wrong->path.text(), opened(by), under(how), is_right, its_network);
  CHECK_FALSE(again.nondeterminism);
  CHECK(again.outcomes.at(0).result == wrong->result);
}

TEST_CASE("a split read exposes a client that takes one read for a message") {
  is_found(manner::reads_once, {.splits = 1}, "stoi");
}

TEST_CASE("a reset exposes a client that does not handle a reset") {
  is_found(manner::gives_up, {.resets = 1}, "Connection reset by peer");
}

TEST_CASE("a silent peer exposes a client that does not handle a deadline") {
  is_found(manner::gives_up, {.silences = 1}, "Connection timed out");
}

TEST_CASE("a request without a number is executed twice if its answer is lost") {
  is_found(manner::has_no_number, {.resets = 1}, "10");
  is_found(manner::has_no_number, {.silences = 1}, "10");
}

TEST_CASE("the right protocol tolerates any one fault in every schedule, with any delays") {
  weft::tests::every_frame_dies const here;
  for (auto const& o : {memory_network_options{.splits = 2},
                        {.short_writes = 2},
                        {.delays = 3},
                        {.splits = 1, .short_writes = 1, .delays = 1},
                        {.splits = 1, .delays = 1, .resets = 1},
                        {.splits = 1, .delays = 1, .refusals = 1},
                        {.splits = 1, .delays = 1, .silences = 1}}) {
    auto const found = every_schedule(manner::right, o);
    INFO(found.report());
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules >= 10);
  }
}

TEST_CASE("two faults defeat two attempts, and a random walk finds them") {
  weft::tests::every_frame_dies const here;
  auto const found =
      random_walk({.seed = 3}, opened({.resets = 2}), under(manner::right), is_right, its_network);
  REQUIRE(found.first_failure());
  CHECK(found.first_failure()->decisions == 2);
}

TEST_CASE("the right protocol passes with random faults, in a random order of processes") {
  for (std::uint64_t seed = 1; seed != 100; ++seed) {
    weft::tests::every_frame_dies const here;
    bank b{
        memory_network({.splits = 9, .short_writes = 9, .delays = 9, .resets = 1, .seed = seed})};
    schedule<random_order>(
        {.seed = seed, .virtual_time = true}, [&b] { return a_day(b, manner::right); }, b.net);
    CHECK(is_right(b).verdict == verdict::ok);
  }
}
