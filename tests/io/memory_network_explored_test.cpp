// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/io.hpp"
#include "weft/io/memory_network.hpp"

/// Faults of a network in memory under explore: each fault that the options allow, wherever it is
/// possible, and no other.

using text = std::string;
using talking = eff<void, io, completions>;
using several = eff<void, spawning<io, completions>, io, completions>;

struct world {
  memory_network net;
  text said{};
};
auto a_world(memory_network_options const& o) {
  return [o] { return world{memory_network(o)}; };
}
memory_network& its_network(world& w) { return w.net; }
/// The outcome of a run; it also tells whether sockets are open.
text said(world const& w) {
  return w.said + (w.net.sockets() == 0 ? "" : ", and sockets are open");
}
using outcomes = std::set<text>;
outcomes texts(exploration const& found) {
  outcomes all;
  for (auto const& o : found.outcomes) all.insert(o.result.text);
  return all;
}

TEST_CASE("the reduction knows that listeners and ports are shared") {
  weft::tests::every_frame_dies const here;
  auto const comes = [](endpoint to, text& into) -> talking {
    try {
      connection const c = co_await connect(to, instant() + 1s);
      into += c.peer().text() + " is there; ";
    } catch (io_error const& e) {
      into += e.what();
    }
  };
  auto const listens = []() -> talking {
    listener const l = co_await listen(endpoint(80));
    external_event nobody_opens;
    bool const is_open = co_await completions::wait_until(nobody_opens, instant() + 2s);
    CHECK_FALSE(is_open);
  };
  auto const one_comes = [&](world& w) -> several {
    co_await spawn(comes, endpoint(80), std::ref(w.said));
    co_await spawn(listens);
  };
  auto const takes_a_port = [](text& mine) -> talking {
    listener const l = co_await listen(endpoint());
    mine = l.local().text() + ' ';
  };
  struct two_ports {
    memory_network net{};
    std::array<text, 2> said{};
  };
  auto const both_take_one = [&](two_ports& w) -> several {
    for (text& mine : w.said) co_await spawn(takes_a_port, std::ref(mine));
  };
  for (bool const reduce : {false, true}) {
    auto const found = explore({.reduce = reduce}, a_world({}), one_comes, said, its_network);
    CHECK(texts(found) ==
          outcomes{"127.0.0.1:80 is there; ", "weft: connect to 127.0.0.1:80: Connection refused"});
    auto const ports = explore(
        {.reduce = reduce}, [] { return two_ports(); }, both_take_one,
        [](two_ports const& w) { return w.said[0] + w.said[1]; },
        [](two_ports& w) -> auto& { return w.net; });
    CHECK(texts(ports).size() == 2);
    CHECK(ports.ok());
  }
}

/// Appends each piece up to the end, with a bar behind it, or the error.
talking reads_to_end(connection& c, text& into, instant until = instant::max()) {
  try {
    for (;;) {
      text s(9, '-');
      std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(s)), until);
      into += s.substr(0, n) + '|';
      if (n == 0) co_return;
    }
  } catch (io_error const& e) {
    into += e.code().message();
  }
}
talking writes(endpoint to, text what, text& into) {
  try {
    connection c = co_await connect(to, instant() + 3s);
    co_await c.write(what);
  } catch (io_error const& e) {
    into += '(' + e.code().message() + ')';
  }
}
/// One process writes four bytes, another reads them.
several one_writes(world& w) {
  listener l = co_await listen(endpoint());
  co_await spawn(writes, l.local(), "abcd", std::ref(w.said));
  try {
    connection c = co_await l.accept(instant() + 1s);
    co_await reads_to_end(c, w.said, instant() + 2s);
  } catch (io_error const& e) {
    w.said += "nobody comes: " + e.code().message();
  }
}
exploration every_way(memory_network_options const& o, bool reduce = false) {
  return explore({.reduce = reduce}, a_world(o), one_writes, said, its_network);
}

// ---- single faults

TEST_CASE("each fault occurs wherever it is possible, and as often as it may") {
  weft::tests::every_frame_dies const here;
  struct expected {
    char const* of;
    memory_network_options may;
    outcomes are;
  };
  text const reset = "Connection reset by peer";
  text const late = "Connection timed out";
  for (auto const& e : std::vector<expected>{
           {"nothing", {}, {"abcd||"}},
           {"a split", {.splits = 1}, {"abcd||", "a|bcd||", "ab|cd||"}},
           {"two splits", {.splits = 2}, {"abcd||", "a|bcd||", "ab|cd||", "a|b|cd||", "ab|c|d||"}},
           {"a short write", {.short_writes = 1}, {"abcd||", "a|bcd||", "ab|cd||"}},
           {"a delay", {.delays = 1}, {"abcd||"}},
           {"a reset at a write, or a read",
            {.resets = 1},
            {"abcd||", '(' + reset + ')' + reset, reset, "abcd|" + reset}},
           {"a refusal", {.refusals = 1}, {"abcd||", "(Connection refused)nobody comes: " + late}},
           {"silence",
            {.silences = 1},
            {"abcd||", "nobody comes: " + late + '(' + late + ')', late, "abcd|" + late}},
       }) {
    INFO(e.of);
    auto const found = every_way(e.may);
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(texts(found) == e.are);
    CHECK(texts(every_way(e.may, true)) == e.are);
    for (auto const& o : found.outcomes) {
      auto const again = follow(o.path.text(), a_world(e.may), one_writes, said, its_network);
      CHECK_FALSE(again.nondeterminism);
      CHECK(again.outcomes.at(0).result == o.result);
    }
  }
}

TEST_CASE("a report names the fault and the step of its process") {
  weft::tests::every_frame_dies const here;
  auto const is_whole = [](world const& w) { return w.said == "abcd||"; };
  auto const found = explore(a_world({.splits = 3, .short_writes = 2, .delays = 3}), one_writes,
                             is_whole, its_network);
  CHECK(found.failed != 0);
  REQUIRE(found.first_failure());
  CHECK(found.first_failure()->decisions == 1);  // one fault suffices
  CHECK_THAT(found.report(), Contains("; decided: read of one byte\n"));
}

TEST_CASE("a process that waits without a deadline for a silent peer is in a deadlock") {
  weft::tests::every_frame_dies const here;
  auto const waits = [](world& w) -> several {
    listener l = co_await listen(endpoint());
    co_await spawn(writes, l.local(), "abcd", std::ref(w.said));
    connection c = co_await l.accept();
    co_await reads_to_end(c, w.said);
  };
  auto const found = explore(a_world({.silences = 1}), waits, said, its_network);
  CHECK(found.failed == 0);
  CHECK(found.deadlocks != 0);
  CHECK(texts(found).contains("abcd||"));
}

// ---- the order of two connections

std::span<std::byte const> bytes(std::string_view s) { return std::as_bytes(std::span(s)); }

/// Two sockets that have connected and two that have been accepted, which may be in the other
/// order.
struct two_pairs {
  std::vector<owned_socket> clients, servers;
};
eff<two_pairs, io> makes_two_pairs(network& net) {
  two_pairs p;
  owned_socket l = co_await io::listen(endpoint());
  for (int i = 0; i != 2; ++i) {
    owned_socket c = co_await io::connect(net.local(l.id()));
    p.clients.push_back(std::move(c));
  }
  std::set<std::size_t> there;
  while (there.size() != 2)
    for (std::size_t i = 0; i != 2; ++i) {
      bool const is_there = co_await io::finish_connect(p.clients[i].id());
      if (is_there) there.insert(i);
    }
  while (p.servers.size() != 2) {
    std::optional<owned_socket> s = co_await io::accept(l.id());
    if (s) p.servers.push_back(std::move(*s));
  }
  co_return p;
}
/// Writes "a" to the first and then "b" to the second, and tells which one can be read first.
eff<void, io> looks_who_is_first(world& w) {
  two_pairs p = co_await makes_two_pairs(w.net);
  for (std::size_t i = 0; i != 2; ++i)
    for (;;) {
      std::optional<std::size_t> const n =
          co_await io::write(p.clients[i].id(), bytes(i == 0 ? "a" : "b"));
      if (n) break;
    }
  bool const is_in_order = w.net.peer(p.servers[0].id()) == w.net.local(p.clients[0].id());
  w.said += is_in_order ? "in order: " : "the other first: ";
  if (!is_in_order) std::swap(p.servers[0], p.servers[1]);
  while (!w.said.ends_with("ab") && !w.said.ends_with("ba"))
    for (auto& s : p.servers) {
      std::array<char, 1> c{};
      std::optional<std::size_t> const n =
          co_await io::read(s.id(), std::as_writable_bytes(std::span(c)));
      if (n) w.said += c[0];
    }
}

TEST_CASE("any of two connections may be later if one may be delayed") {
  weft::tests::every_frame_dies const here;
  auto const orders = [](std::size_t delays) {
    return texts(explore(a_world({.delays = delays}), looks_who_is_first, said, its_network));
  };
  CHECK(orders(0) == outcomes{"in order: ab"});
  CHECK(orders(1) == outcomes{"in order: ab", "in order: ba", "the other first: ab"});
  CHECK(orders(2).contains("the other first: ba"));
}

using weft::tests::dice;
using weft::tests::seeds;

// ---- laws, of random programs

struct life {
  std::vector<text> writes;
  bool finishes = false;
};
struct town {
  memory_network_options may;
  std::vector<life> clients;
  std::size_t room = 9;  // of the reader
};
struct town_world {
  explicit town_world(town const& t) : net(t.may), of(t), of_clients(t.clients.size()) {}
  memory_network net;
  town const& of;
  std::vector<text> of_clients;
  struct heard {
    text pieces, all;
    bool ended = false;
  };
  std::map<text, heard> of_servers;  // by the address of the client
};

/// Writes all its texts, and waits for the end.
talking lives_on(town_world& w, std::size_t who, endpoint to) {
  life const& l = w.of.clients[who];
  text& said = w.of_clients[who];
  try {
    connection c = co_await connect(to, instant() + 1s);
    for (auto const& one : l.writes) co_await c.write(one, instant() + 1s);
    if (!l.finishes) co_return;
    co_await c.finish();
    co_await reads_to_end(c, said, instant() + 1s);
  } catch (io_error const& e) {
    said += e.code().message();
  }
}
talking serves(town_world& w, connection c) {
  auto& heard = w.of_servers[c.peer().text()];
  try {
    for (;;) {
      text s(w.of.room, '-');
      std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(s)), instant() + 2s);
      s.resize(n);
      heard.pieces += s + '|';
      heard.all += s;
      heard.ended = n == 0;
      if (heard.ended) co_return;
    }
  } catch (io_error const& e) {
    heard.pieces += e.code().message();
  }
}
eff<void, spawning<io, completions>, io, completions> all_live(town_world& w) {
  listener l = co_await listen(endpoint());
  for (std::size_t i = 0; i != w.of.clients.size(); ++i)
    co_await spawn(lives_on, std::ref(w), i, l.local());
  try {
    for (std::size_t i = 0; i != w.of.clients.size(); ++i) {
      connection c = co_await l.accept(instant() + 1s);
      co_await spawn(serves, std::ref(w), std::move(c));
    }
  } catch (io_error const&) {
  }
}

text sent_by(life const& l) {
  text all;
  for (auto const& one : l.writes) all += one;
  return all;
}
run_result law_of_town(town_world const& w) {
  text all;
  for (auto const& said : w.of_clients) all += said + "; ";
  bool is_right = w.net.sockets() == 0;
  std::multiset<text> whole;
  for (auto const& [who, heard] : w.of_servers) {
    all += who + ' ' + heard.pieces + "; ";
    if (heard.ended) whole.insert(heard.all);
    is_right &= std::ranges::any_of(w.of.clients, [&h = heard](life const& l) {
      return h.ended ? sent_by(l) == h.all : sent_by(l).starts_with(h.all);
    });
  }
  std::multiset<text> sent;
  for (auto const& l : w.of.clients) sent.insert(sent_by(l));
  auto const& may = w.of.may;
  if (may.resets + may.refusals + may.silences == 0) is_right &= whole == sent;
  return {is_right ? verdict::ok : verdict::failed, all};
}
exploration of_town(town const& t, bool reduce) {
  return explore(
      {.max_schedules = 5'000,
       .reduce = reduce,
       .max_shrinking_runs = 0,
       .progress = progress::never},
      [&t] { return std::make_unique<town_world>(t); },
      [](std::unique_ptr<town_world>& w) { return all_live(*w); },
      [](std::unique_ptr<town_world> const& w) { return law_of_town(*w); },
      [](std::unique_ptr<town_world>& w) -> auto& { return w->net; });
}

TEST_CASE(
    "a reader gets a prefix of the bytes that were written, and all of them if no connection is "
    "lost") {
  weft::tests::every_frame_dies const here;
  std::size_t compared = 0;
  std::size_t full = 0;
  std::size_t fewer = 0;
  seeds(30).for_each([&](unsigned seed) {
    INFO("seed " << seed);
    dice random(seed);
    town t;
    t.clients.resize(1 + random(2));
    t.room = 2 + random(3);
    t.may.capacity = 2 + random(4);
    for (std::size_t i = 0; i != t.clients.size(); ++i) {
      for (unsigned n = random(3); n != 0; --n)
        t.clients[i].writes.push_back(text(1 + random(3), static_cast<char>('a' + 10 * i + n)));
      t.clients[i].finishes = random(2) == 0;
    }
    for (int n = 0; n != 2; ++n)
      ++*std::array{&t.may.splits, &t.may.short_writes, &t.may.delays,
                    &t.may.resets, &t.may.refusals,     &t.may.silences}[random(6)];
    auto const reduced = of_town(t, true);
    INFO(reduced.report());
    CHECK(reduced.ok());
    if (!reduced.complete) return;
    auto const all = of_town(t, false);
    CHECK(all.ok());
    if (!all.complete) return;
    CHECK(texts(reduced) == texts(all));
    ++compared;
    full += all.schedules;
    fewer += reduced.schedules;
  });
  if (seeds(0).only_some()) return;
  CHECK(compared > 15);
  CHECK(fewer < full);
}

TEST_CASE("connections of different processes are independent for the reduction") {
  weft::tests::every_frame_dies const here;
  town const t{{}, {life{{"aaa"}, true}, life{{"bbb"}, true}}};
  auto const all = of_town(t, false);
  auto const reduced = of_town(t, true);
  CHECK(all.schedules == 42);
  CHECK(reduced.schedules == 4);  // the order of the connects, and of the two at a deadline
  CHECK(texts(all) == texts(reduced));
}
