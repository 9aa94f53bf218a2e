// SPDX-License-Identifier: MIT
#include "weft/io/memory_network.hpp"

#include "tests/prelude.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/io.hpp"

/// A network in memory: without faults, and with the faults that a seed draws.

TEST_CASE("a network without capacity or backlog is refused") {
  CHECK_THROWS_AS(memory_network({.capacity = 0}), std::invalid_argument);
  CHECK_THROWS_AS(memory_network({.backlog = 0}), std::invalid_argument);
}

using several = eff<void, spawning<io, completions, timing>, io, completions, timing>;
using text = std::string;

/// Runs `program`, and checks that all sockets are closed afterwards.
template <class Program>
void on(memory_network& net, Program program) {
  weft::tests::every_frame_dies const here;
  schedule({.virtual_time = true}, std::move(program), net);
  CHECK(net.sockets() == 0);
}

/// Up to 99 bytes that have arrived.
eff<text, io, completions> reads(connection& c, instant until = instant::max()) {
  text s(99, '-');
  std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(s)), until);
  s.resize(n);
  co_return s;
}
/// All bytes up to the end.
eff<text, io, completions> reads_all(connection& c) {
  text all;
  for (;;) {
    text s = co_await reads(c);
    if (s.empty()) co_return all;
    all += s;
  }
}

/// The two ends of a connection.
struct both {
  connection client, server;
};
eff<both, io, completions> connected(listener& l) {
  connection client = co_await connect(l.local());
  connection server = co_await l.accept();
  co_return both{std::move(client), std::move(server)};
}
eff<both, io, completions> connected() {
  listener l = co_await listen(endpoint());
  co_return co_await connected(l);
}

// ---- streams

TEST_CASE("a reader gets the bytes that were written, in order, and then the end") {
  memory_network net;
  text seen;
  on(net, [&]() -> several {
    both c = co_await connected();
    co_await c.client.write("one ");
    co_await c.client.write("two");
    co_await c.client.finish();
    seen = co_await reads_all(c.server);
  });
  CHECK(seen == "one two");
}

/// The error of a failed operation.
struct noted_error {
  std::optional<std::errc> code;
  text what;
  void note(io_error const& e) {
    what = e.what();
    for (std::errc const c :
         {std::errc::connection_reset, std::errc::connection_refused, std::errc::broken_pipe,
          std::errc::timed_out, std::errc::bad_file_descriptor, std::errc::address_in_use,
          std::errc::too_many_files_open, std::errc::not_connected, std::errc::invalid_argument})
      if (e.code() == c) code = c;
  }
};
/// The error of `attempt`, if it fails.
template <class T, class... Es>
eff<noted_error, Es...> failure_of(eff<T, Es...> attempt) {
  noted_error f;
  try {
    (void)co_await std::move(attempt);
  } catch (io_error const& e) {
    f.note(e);
  }
  co_return f;
}
template <class... Es>
eff<noted_error, Es...> failure_of(eff<void, Es...> attempt) {
  noted_error f;
  try {
    co_await std::move(attempt);
  } catch (io_error const& e) {
    f.note(e);
  }
  co_return f;
}

TEST_CASE("a connection that has finished writing can still read") {
  memory_network net;
  text seen;
  on(net, [&]() -> several {
    both c = co_await connected();
    co_await c.client.finish();
    text const none = co_await reads(c.server);
    CHECK(none.empty());
    co_await c.server.write("answer");
    seen = co_await reads(c.client);
    noted_error const f = co_await failure_of(c.client.write("more"));
    CHECK(f.code == std::errc::broken_pipe);
    CHECK(f.what == "weft: write to " + c.client.peer().text() + ": Broken pipe");
  });
  CHECK(seen == "answer");
}

std::span<std::byte const> bytes(std::string_view s) { return std::as_bytes(std::span(s)); }

TEST_CASE("a write takes as many bytes as there is room for, and then none") {
  memory_network net({.capacity = 4});
  on(net, [&]() -> several {
    owned_socket l = co_await io::listen(endpoint());
    owned_socket client = co_await io::connect(net.local(l.id()));
    bool const there = co_await io::finish_connect(client.id());
    CHECK(there);
    std::optional<owned_socket> server = co_await io::accept(l.id());
    CHECK(server.has_value());
    std::optional<std::size_t> const some = co_await io::write(client.id(), bytes("abcdef"));
    CHECK(some == 4);
    std::optional<std::size_t> const none = co_await io::write(client.id(), bytes("ef"));
    CHECK(none == std::nullopt);
    std::array<std::byte, 3> room{};
    std::optional<std::size_t> const three = co_await io::read(server->id(), room);
    CHECK(three == 3);
    std::optional<std::size_t> const more = co_await io::write(client.id(), bytes("efgh"));
    CHECK(more == 3);
    std::optional<std::size_t> const again = co_await io::read(server->id(), room);
    CHECK(again == 3);
    CHECK(room == std::array{std::byte('d'), std::byte('e'), std::byte('f')});
    std::optional<std::size_t> const last = co_await io::read(server->id(), room);
    CHECK(last == 1);
    std::optional<std::size_t> const not_yet = co_await io::read(server->id(), room);
    CHECK(not_yet == std::nullopt);
  });
}

using talking = eff<void, io, completions, timing>;

TEST_CASE("a write waits for the reader until there is room, however long it is") {
  for (std::size_t const capacity : {1U, 2U, 7U, 1000U}) {
    memory_network net({.capacity = capacity});
    text sent;
    for (int i = 0; sent.size() < 1000; ++i) sent += std::to_string(i);
    text seen;
    on(net, [&]() -> several {
      auto const writes = [](connection c, text const& all) -> talking {
        co_await c.write(all);
        co_await c.finish();
      };
      both c = co_await connected();
      co_await spawn(writes, std::move(c.client), std::cref(sent));
      seen = co_await reads_all(c.server);
    });
    CHECK(seen == sent);
  }
}

TEST_CASE("an operation that waits past its deadline throws, and may be tried again") {
  memory_network net({.capacity = 1});
  on(net, [&]() -> several {
    both c = co_await connected();
    instant const now = co_await timing::now();
    noted_error f = co_await failure_of(reads(c.server, now + 1s));
    CHECK(f.code == std::errc::timed_out);
    CHECK(f.what == "weft: read from " + c.server.peer().text() + ": Connection timed out");
    f = co_await failure_of(c.client.write("ab", now + 2s));
    CHECK(f.code == std::errc::timed_out);
    text const a = co_await reads(c.server);
    co_await c.client.write("c");
    text const then = co_await reads(c.server);
    CHECK(a + then == "ac");
  });
}

// ---- closing

TEST_CASE("a reader gets all bytes of a connection that was closed, and then the end") {
  memory_network net;
  on(net, [&]() -> several {
    both c = co_await connected();
    co_await c.client.write("bye");
    {
      connection const gone = std::move(c.client);
    }
    text const seen = co_await reads_all(c.server);
    CHECK(seen == "bye");
  });
}

TEST_CASE("the second write to a closed connection fails") {
  memory_network net;
  on(net, [&]() -> several {
    both c = co_await connected();
    {
      connection const gone = std::move(c.client);
    }
    co_await c.server.write("lost");
    noted_error const f = co_await failure_of(c.server.write("again"));
    CHECK(f.code == std::errc::broken_pipe);
  });
}

TEST_CASE("closing a connection with unread bytes resets it") {
  memory_network net;
  on(net, [&]() -> several {
    both c = co_await connected();
    co_await c.client.write("what is lost");
    co_await c.server.write("unread");
    text const peer = c.server.peer().text();
    {
      connection const gone = std::move(c.client);
    }
    for (int i = 0; i != 2; ++i) {
      noted_error f = co_await failure_of(reads(c.server));
      CHECK(f.code == std::errc::connection_reset);
      CHECK(f.what == "weft: read from " + peer + ": Connection reset by peer");
      f = co_await failure_of(c.server.write("x"));
      CHECK(f.code == std::errc::connection_reset);
      CHECK(f.what == "weft: write to " + peer + ": Connection reset by peer");
      f = co_await failure_of(c.server.finish());
      CHECK(f.code == std::errc::not_connected);
    }
  });
}

TEST_CASE("a process that waits at a connection is woken when the other side resets it") {
  memory_network net({.capacity = 2});
  std::vector<noted_error> seen;
  auto const waits = [](connection& c, bool reads_it, std::vector<noted_error>& all) -> talking {
    noted_error f;
    if (reads_it)
      f = co_await failure_of(reads(c));
    else
      f = co_await failure_of(c.write("abcdef"));
    all.push_back(f);
  };
  on(net, [&]() -> several {
    both c = co_await connected();
    co_await spawn(waits, std::ref(c.server), true, std::ref(seen));
    co_await spawn(waits, std::ref(c.server), false, std::ref(seen));
    co_await timing::sleep_for(1s);
    CHECK(seen.empty());
    {
      connection const gone = std::move(c.client);
    }  // with "ab" unread
    co_await timing::sleep_for(1s);
  });
  REQUIRE(seen.size() == 2);
  for (auto const& f : seen) CHECK(f.code == std::errc::connection_reset);
}

TEST_CASE(
    "a process that waits at a socket is woken, and its next read fails, when the socket is "
    "closed") {
  memory_network net;
  noted_error seen;
  auto const waits = [](owned_socket const& s, noted_error& f) -> talking {
    external_event g;
    co_await io::watch(s.id(), direction::reading, g);
    co_await completions::wait(g);
    std::array<std::byte, 1> room{};
    try {
      (void)co_await io::read(s.id(), room);
    } catch (io_error const& e) {
      f.note(e);
    }
  };
  on(net, [&]() -> several {
    owned_socket l = co_await io::listen(endpoint());
    owned_socket client = co_await io::connect(net.local(l.id()));
    bool const is_there = co_await io::finish_connect(client.id());
    CHECK(is_there);
    co_await spawn(waits, std::cref(client), std::ref(seen));
    co_await timing::sleep_for(1s);
    CHECK_FALSE(seen.code.has_value());
    co_await io::close(client.id());
    co_await timing::sleep_for(1s);
    CHECK_THROWS_AS(net.peer(client.id()), io_error);
  });
  CHECK(seen.code == std::errc::bad_file_descriptor);
  CHECK(seen.what == "weft: read from a socket that is closed: Bad file descriptor");
}

TEST_CASE("a second process that waits to read the same socket is refused") {
  memory_network net;
  auto const waits = [](connection& c) -> talking { (void)co_await reads(c); };
  auto const both_wait = [&]() -> several {
    both c = co_await connected();
    co_await spawn(waits, std::ref(c.client));
    co_await spawn(waits, std::ref(c.client));
    co_await timing::sleep_for(1s);
  };
  CHECK_THROWS_WITH(
      schedule(both_wait, net),
      "weft: a process already waits to read from, or accept at, this socket: one at a time may");
  CHECK(net.sockets() == 0);
}

// ---- listening and connecting

TEST_CASE("a connect to an address without a listener is refused") {
  memory_network net;
  on(net, [&]() -> several {
    noted_error const f = co_await failure_of(connect(endpoint(4711)));
    CHECK(f.code == std::errc::connection_refused);
    CHECK(f.what == "weft: connect to 127.0.0.1:4711: Connection refused");
  });
}

TEST_CASE("connections are accepted in the order of their connects, even if some had to wait") {
  for (std::size_t const backlog : {1U, 2U, 5U}) {
    memory_network net({.backlog = backlog});
    text order;
    std::size_t are_connected = 0;
    auto const comes = [](endpoint to, char name, std::size_t& count) -> talking {
      connection c = co_await connect(to);
      ++count;
      co_await c.write(text(1, name));
      (void)co_await reads(c);
    };
    on(net, [&]() -> several {
      listener l = co_await listen(endpoint());
      for (char const name : {'a', 'b', 'c', 'd'})
        co_await spawn(comes, l.local(), name, std::ref(are_connected));
      co_await timing::sleep_for(1s);
      CHECK(are_connected == std::min<std::size_t>(backlog, 4));
      for (int i = 0; i != 4; ++i) {
        connection c = co_await l.accept();
        text const name = co_await reads(c);
        order += name;
      }
    });
    CHECK(order == "abcd");
    CHECK(are_connected == 4);
  }
}

TEST_CASE("closing a listener resets waiting connections and refuses waiting connects") {
  memory_network net({.backlog = 1});
  std::vector<noted_error> seen(2);
  auto const comes = [](endpoint to, noted_error& f) -> talking {
    try {
      connection c = co_await connect(to);
      (void)co_await reads(c);
    } catch (io_error const& e) {
      f.note(e);
    }
  };
  on(net, [&]() -> several {
    listener l = co_await listen(endpoint());
    for (noted_error& f : seen) co_await spawn(comes, l.local(), std::ref(f));
    co_await timing::sleep_for(1s);
  });
  CHECK(seen[0].code == std::errc::connection_reset);
  CHECK(seen[1].code == std::errc::connection_refused);
}

TEST_CASE("each listener has a port of its own") {
  memory_network net;
  on(net, [&]() -> several {
    listener const a = co_await listen(endpoint());
    listener const b = co_await listen(endpoint());
    CHECK(a.local().port != b.local().port);
    CHECK(a.local().address == "127.0.0.1");
    noted_error const f = co_await failure_of(listen(a.local()));
    CHECK(f.code == std::errc::address_in_use);
    CHECK(f.what == "weft: listen at " + a.local().text() + ": Address already in use");
    listener any = co_await listen(endpoint("0.0.0.0", 80));
    connection const client = co_await connect(endpoint(80));
    connection const server = co_await any.accept();
    CHECK(client.peer() == endpoint(80));
    CHECK(server.peer().address == "127.0.0.1");
    CHECK(server.peer() != client.peer());
    listener const six = co_await listen(endpoint("::1", 80));
    CHECK(six.local().text() == "[::1]:80");
  });
  auto const listens_at_a_name = []() -> several { (void)co_await listen(endpoint("here", 1)); };
  CHECK_THROWS_WITH(schedule(listens_at_a_name, net),
                    "weft: here is no address of IPv4 or IPv6, in digits");
  auto const connects_to_none = []() -> several { (void)co_await connect(endpoint("", 1)); };
  CHECK_THROWS_AS(schedule(connects_to_none, net), std::invalid_argument);
}

TEST_CASE("with too many sockets accept fails, and the connection waits for the next accept") {
  memory_network net({.max_sockets = 3});
  on(net, [&]() -> several {
    listener l = co_await listen(endpoint());
    connection first = co_await connect(l.local());
    {
      connection second = co_await connect(l.local());
      co_await second.write("second");
      co_await second.finish();
      noted_error f = co_await failure_of(l.accept());
      CHECK(f.code == std::errc::too_many_files_open);
      CHECK(f.what == "weft: accept at " + l.local().text() + ": Too many open files");
      f = co_await failure_of(connect(l.local()));
      CHECK(f.code == std::errc::too_many_files_open);
    }
    {
      connection const one = co_await l.accept();
    }
    connection two = co_await l.accept();
    text const seen = co_await reads_all(two);
    CHECK(seen == "second");
  });
}

TEST_CASE("read at a listener and accept at a connection fail") {
  memory_network net;
  on(net, [&]() -> several {
    owned_socket const l = co_await io::listen(endpoint());
    std::array<std::byte, 1> room{};
    noted_error f;
    try {
      (void)co_await io::read(l.id(), room);
    } catch (io_error const& e) {
      f.note(e);
    }
    CHECK(f.code == std::errc::not_connected);
    owned_socket const c = co_await io::connect(net.local(l.id()));
    try {
      (void)co_await io::accept(c.id());
    } catch (io_error const& e) {
      f.note(e);
    }
    CHECK(f.code == std::errc::invalid_argument);
  });
}

// ---- faults by a seed

/// The pieces that a reader gets, with the error that ended them, if any.
std::vector<text> pieces(memory_network_options const& o) {
  memory_network net(o);
  std::vector<text> all;
  on(net, [&]() -> several {
    auto const writes = [](connection c) -> talking {
      text const some = "0123456789";
      noted_error const f = co_await failure_of(c.write(some + some + some));
      if (f.code) co_return;
      (void)co_await failure_of(c.finish());
    };
    both c = co_await connected();
    co_await spawn(writes, std::move(c.client));
    try {
      for (;;) {
        text s = co_await reads(c.server);
        all.push_back(s);
        if (s.empty()) co_return;
      }
    } catch (io_error const& e) {
      all.push_back(e.what());
    }
  });
  return all;
}

TEST_CASE("without a seed no fault occurs, whatever the options allow") {
  memory_network_options const o{.splits = 9, .short_writes = 9, .delays = 9, .resets = 9};
  CHECK(pieces(o) == std::vector<text>{"012345678901234567890123456789", ""});
}

TEST_CASE("a seed draws the same faults each time, and no more than the options allow") {
  std::set<std::vector<text>> different;
  std::size_t resets = 0;
  for (std::uint64_t seed = 0; seed != 100; ++seed) {
    memory_network_options o{
        .splits = 2, .short_writes = 2, .delays = 3, .seed = seed, .capacity = 5};
    auto const seen = pieces(o);
    CHECK(pieces(o) == seen);
    different.insert(seen);
    text whole;
    for (auto const& s : seen) whole += s;
    CHECK(whole == "012345678901234567890123456789");
    o.resets = 1;
    resets += pieces(o).back().find("reset") != text::npos;
  }
  CHECK(different.size() > 20);
  CHECK(resets > 20);
  CHECK(resets < 100);
}
