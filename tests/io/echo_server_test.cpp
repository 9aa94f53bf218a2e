// SPDX-License-Identifier: MIT
#include <sys/resource.h>

#include "examples/echo.hpp"
#include "tests/io/system_network.hpp"
#include "tests/prelude.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/sockets.hpp"
#include "weft/io/connection.hpp"

using examples::attendance;
using examples::echo_server;
using children = spawning<proc, io, completions, syncing, examples::serving>;
using program = eff<void, children, proc, io, completions, syncing>;
using step = eff<void, proc, io, completions, syncing>;

/// Behaviour of a client.
enum class manner {
  usual,        // one message at a time
  slow,         // sends much, and reads it late
  half_closed,  // sends everything, finishes, and only then reads
  leaves,       // closes in the middle of the answer
  resets        // resets the connection
};
constexpr unsigned manners = 5;

struct tally {
  counter right = 0;  // clients with a complete answer
  counter rude = 0;   // clients that left or reset
};

step usual(connection& c, dice random, tally& all) {
  bool is_right = true;
  for (unsigned i = 0; i != 5; ++i) {
    std::string const said = pattern(1 + random(3000), i);
    co_await c.write(said);
    std::string const heard = co_await read_text(c, said.size());
    is_right = is_right && heard == said;
    if (random(2) == 0) co_await proc::yield{};
  }
  all.right += is_right;
}
/// Makes the server wait until it can write: writes until it would block before it reads.
step slow(connection& c, dice random, tally& all) {
  std::string const said = pattern(200'000 + random(1000));
  auto rest = std::as_bytes(std::span(said));
  std::string heard;
  std::vector<std::byte> some(50'000);
  while (heard.size() != said.size()) {
    bool is_full = rest.empty();
    if (!is_full) try {
        std::size_t const n = co_await c.write_some(rest, instant::min());
        rest = rest.subspan(n);
      } catch (io_error const& e) {
        if (e.code() != std::errc::timed_out) throw;
        is_full = true;
      }
    if (!is_full) continue;
    co_await proc::yield{};
    std::size_t const n = co_await c.read(some);
    heard.append(reinterpret_cast<char const*>(some.data()), n);
  }
  all.right += heard == said;
}
step half_closed(connection& c, dice random, tally& all) {
  std::string const said = pattern(1 + random(5000));
  co_await c.write(said);
  co_await c.finish();
  std::string const heard = co_await read_to_end(c);
  all.right += heard == said;
}
step leaves(connection& c, dice random, tally& all) {
  co_await c.write(pattern(1 + random(20'000)));
  (void)co_await read_text(c, 1);
  ++all.rude;
}
step client(endpoint at, manner how, unsigned seed, tally& all) {
  if (how == manner::resets) {
    raw_socket c = connected_to(at.port);
    c.send("what you say is ");
    co_await proc::yield{};
    c.reset();
    ++all.rude;
    co_return;
  }
  connection c = co_await connect(at);
  dice const random(seed);
  if (how == manner::usual) co_await usual(c, random, all);
  if (how == manner::slow) co_await slow(c, random, all);
  if (how == manner::half_closed) co_await half_closed(c, random, all);
  if (how == manner::leaves) co_await leaves(c, random, all);
}

/// The results of `many` clients of all kinds, and the counts of the server.  With a limit of
/// descriptors, the clients connect before the server accepts.
struct results {
  attendance at_the_end;
  tally clients;
};
program serves(unsigned many, unsigned seed, std::optional<unsigned> descriptors, results& result) {
  shared<attendance> who;
  listener door = co_await listen(endpoint());
  endpoint const at = door.local();
  std::vector<raw_socket> waiting;
  std::optional<few_descriptors> limit;
  if (descriptors) {
    for (unsigned i = 0; i != many; ++i) waiting.push_back(connected_to(at.port));
    for (auto& w : waiting) {
      w.send("x");
      w.finish();
    }
    limit.emplace(*descriptors);
  } else {
    dice random(seed);
    for (unsigned i = 0; i != many; ++i)
      co_await spawn(client, at, static_cast<manner>(random(manners)), seed + i,
                     std::ref(result.clients));
  }
  co_await spawn(echo_server, std::move(door), std::ref(who), many);
  co_await who.wait_for([many](attendance const& a) { return a.gone == many; });
  result.at_the_end = co_await who.get();
  for (auto& w : waiting) result.clients.right += w.receive() == "x";
}

/// Allows so many descriptors: more than two for each connection.
void allow(rlim_t descriptors) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= descriptors) return;
  limit.rlim_cur = descriptors;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

BACKENDS_TEST_CASE(
    "a thousand clients, some slow, half-closed or rude, get their answers, and all sockets close",
    "", on_one_thread, on_sharing<2>, on_stealing<2>) {
  allow(2100);
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  constexpr int many = is_sanitized ? 300 : 1000;
  results seen;
  {
    system_network net;
    run_on(chosen, [&] { return serves(many, 1, std::nullopt, seen); }, net);
  }
  CHECK(seen.at_the_end.here == 0);
  CHECK(seen.at_the_end.gone == many);
  CHECK(seen.at_the_end.cut_off > 0);
  CHECK(seen.at_the_end.cut_off <= static_cast<std::size_t>(seen.clients.rude));
  CHECK(seen.clients.right + seen.clients.rude == many);
  CHECK(seen.clients.rude > many / 5);
}

BACKENDS_TEST_CASE(
    "a server with descriptors for ten connections serves a thousand clients, ten at a time", "",
    on_one_thread, on_sharing<2>, on_stealing<2>) {
  allow(2100);
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  constexpr int many = is_sanitized ? 300 : 1000;
  results seen;
  {
    system_network net;
    run_on(chosen, [&] { return serves(many, 1, 10, seen); }, net);
  }
  CHECK(seen.at_the_end.gone == many);
  CHECK(seen.at_the_end.cut_off == 0);
  CHECK(seen.at_the_end.times_full > 0);
  CHECK(seen.clients.right == many);
}

BACKENDS_TEST_CASE(
    "a client gets its answer whatever the other clients do, in any order of processes", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<2>, on_stealing<2>,
    on_stealing<4>) {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  system_network net;
  seeds(is_sanitized ? 10 : 40).for_each([&](unsigned seed) {
    results seen;
    run_on(chosen, [&] { return serves(30, seed * 100, std::nullopt, seen); }, net);
    INFO("seed " << seed);
    CHECK(seen.at_the_end.gone == 30);
    CHECK(seen.clients.right + seen.clients.rude == 30);
  });
}
