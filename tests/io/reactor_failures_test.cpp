// SPDX-License-Identifier: MIT
#include "tests/io/system_network.hpp"
#include "tests/prelude.hpp"
#include "tests/support/last_words.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/sockets.hpp"
#include "weft/io/connection.hpp"

/// A listener that never accepts, with a full backlog, so that a connect stays unanswered.
class full_door {
 public:
  full_door() : port_(door_.bind()) {
    door_.listen(0);
    // The backlog has room for one; later connects stay unanswered.
    for (int i = 0; i != 4; ++i) {
      waiting_.emplace_back(SOCK_NONBLOCK);
      waiting_.back().connect(port_);
    }
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  raw_socket door_;
  std::uint16_t port_;
  std::vector<raw_socket> waiting_;
};

/// Writes until there is no room.
net_step fills(connection& c) {
  std::string const much(100'000, 'x');
  for (;;) {
    auto const how = co_await outcome_of(c.write(much, instant::min()));
    if (how != found::done) co_return;
  }
}

BACKENDS_TEST_CASE(
    "a deadline ends each wait with an error that names it, and the operation can be tried again",
    "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  std::array<found, 4> how{};
  std::array<std::string, 4> text;
  std::array<std::string, 4> who;
  std::string got;
  std::size_t read_in_all = 0;
  {
    full_door const full;
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          how[0] = co_await outcome_of(door.accept(instant::min()), &text[0]);
          who[0] = door.local().text();
          connection a = co_await connect(door.local());
          connection b = co_await door.accept();

          std::array<std::byte, 10> some;
          how[1] = co_await outcome_of(b.read(some, instant::min()), &text[1]);
          who[1] = b.peer().text();
          co_await a.write("x");
          got = co_await read_text(b, 1);

          co_await fills(a);
          how[2] = co_await outcome_of(a.write("y", instant::min()), &text[2]);
          who[2] = a.peer().text();
          co_await spawn(
              [](connection c, std::size_t& n) -> net_step {
                std::string const all = co_await read_to_end(c);
                n = all.size();
              },
              std::move(b), std::ref(read_in_all));
          co_await a.write("z");

          endpoint const nobody(full.port());
          how[3] = co_await outcome_of(connect(nobody, instant::min()), &text[3]);
          who[3] = nobody.text();
        },
        net);
  }
  constexpr std::array what{"accept at ", "read from ", "write to ", "connect to "};
  for (std::size_t i = 0; i != 4; ++i) {
    CHECK(how[i] == found::timed_out);
    CHECK(text[i] == "weft: " + (what[i] + who[i]) + ": Connection timed out");
  }
  CHECK(got == "x");
  CHECK(read_in_all > 100'000);
}

/// A process for each of the four ways to wait, and how its wait ends.
enum class waits { read, write, accept, connect };
struct endings {
  std::array<found, 4> all{found::other, found::other, found::other, found::other};
  std::atomic<int> begun = 0;
};
net_step waits_for(waits what, endings& to, full_door const& door) {
  found how = found::other;
  // The process may be cancelled before it reaches its wait.
  try {
    listener own = co_await listen(endpoint());
    connection c = co_await connect(own.local());
    connection d = co_await own.accept();
    std::array<std::byte, 10> some;
    if (what == waits::write) co_await fills(c);
    ++to.begun;
    if (what == waits::read) how = co_await outcome_of(c.read(some));
    if (what == waits::write) how = co_await outcome_of(c.write("x"));
    if (what == waits::accept) how = co_await outcome_of(own.accept());
    if (what == waits::connect) how = co_await outcome_of(connect(endpoint(door.port())));
  } catch (cancelled const&) {
    how = found::cancelled;
  }
  to.all[static_cast<std::size_t>(what)] = how;
}
net_program four_who_wait(endings& to, full_door const& door) {
  for (auto const w : {waits::read, waits::write, waits::accept, waits::connect})
    co_await spawn(waits_for, w, std::ref(to), std::cref(door));
}
constexpr std::array all_cancelled{found::cancelled, found::cancelled, found::cancelled,
                                   found::cancelled};

BACKENDS_TEST_CASE(
    "a stop cancels processes that read, write, accept and connect, and all sockets close", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  for (int round = 0; round != rounds(20) + 1; ++round) {
    every_frame_dies const check;
    every_descriptor_is_closed const closed;
    endings how;
    full_door const door;
    std::stop_source stop;
    bool was_cancelled = false;
    {
      system_network net;
      try {
        run_on(
            chosen, options(false, stop.get_token()),
            [&]() -> net_program {
              co_await four_who_wait(how, door);
              while (how.begun != 4) co_await proc::yield{};
              for (int i = 0; i != round; ++i) co_await proc::yield{};
              stop.request_stop();
            },
            net);
      } catch (cancelled const&) {
        was_cancelled = true;
      }
    }
    CHECK(was_cancelled);
    CHECK(how.all == all_cancelled);
  }
}

TEMPLATE_TEST_CASE("shutting down cancels processes that read, write, accept and connect", "",
                   on_one_thread, on_sharing<2>, on_stealing<2>) {
  for (int round = 0; round != rounds(20) + 1; ++round) {
    every_frame_dies const check;
    every_descriptor_is_closed const closed;
    endings how;
    full_door const door;
    {
      system_network net;
      auto s = scheduler_on<TestType>();
      auto const program = [&] { return four_who_wait(how, door); };
      s.start(program, net);
      run_apart run(s);
      until([&] { return how.begun == 4; });
      auto const report = s.shut_down(round % 2 == 0 ? far_away : passed);
      try {
        run.join();
      } catch (cancelled const&) {
      }
      CHECK((round % 2 != 0 || report.in_time));
    }
    if (round % 2 == 0) CHECK(how.all == all_cancelled);
  }
}

net_step reads(connection& c, std::atomic<found>& how) {
  std::array<std::byte, 10> some;
  how = co_await outcome_of(c.read(some));
}

BACKENDS_TEST_CASE("a reset by the peer is an error for a process that reads or waits to read", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::array<std::atomic<found>, 3> how{};
  std::string text;
  std::string who;
  {
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          std::array<std::byte, 10> some;
          {
            raw_socket peer = connected_to(door.local().port);
            connection c = co_await door.accept();
            peer.reset();
            how[0] = co_await outcome_of(c.read(some), &text);
            who = c.peer().text();
            // The connection is gone, so a write fails as well.
            how[2] = co_await outcome_of(c.write("x"));
          }
          raw_socket peer = connected_to(door.local().port);
          connection c = co_await door.accept();
          co_await spawn(reads, std::ref(c), std::ref(how[1]));
          for (int i = 0; i != 3; ++i) co_await proc::yield{};
          peer.reset();
          while (how[1] == found::done) co_await proc::yield{};
        },
        net);
  }
  CHECK(how[0] == found::reset);
  CHECK(how[1] == found::reset);
  CHECK(how[2] == found::broken);
  CHECK(text == "weft: read from " + who + ": Connection reset by peer");
}

BACKENDS_TEST_CASE("a connect to a port without a listener is refused", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  found how{};
  std::string text;
  std::uint16_t port = 0;
  {
    raw_socket nobody;
    port = nobody.bind();
    system_network net;
    run_on(
        chosen, [&]() -> net_program { how = co_await outcome_of(connect(endpoint(port)), &text); },
        net);
  }
  CHECK(how == found::refused);
  CHECK(text == "weft: connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
}

TEST_CASE("listening at an address in use throws an error that names it") {
  std::string text;
  system_network net;
  std::string where;
  run_on<on_one_thread>(
      [&]() -> net_program {
        listener const first = co_await listen(endpoint());
        where = first.local().text();
        (void)co_await outcome_of(listen(first.local()), &text);
      },
      net);
  CHECK(text == "weft: listen at " + where + ": Address already in use");
}

BACKENDS_TEST_CASE(
    "a process that waits at a connection finds it closed when another process closes it", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    std::atomic<found> reading{};
    std::atomic<found> accepting{};
    found later{};
    std::string text;
    {
      system_network net;
      run_on(
          chosen,
          [&]() -> net_program {
            listener door = co_await listen(endpoint());
            connection a = co_await connect(door.local());
            connection b = co_await door.accept();
            co_await spawn(reads, std::ref(a), std::ref(reading));
            co_await spawn(
                [](listener& at, std::atomic<found>& how) -> net_step {
                  how = co_await outcome_of(at.accept());
                },
                std::ref(door), std::ref(accepting));
            for (int i = 0; i != round % 4; ++i) co_await proc::yield{};
            co_await a.close();
            co_await door.close();
            later = co_await outcome_of(a.write("x"), &text);
            while (reading == found::done || accepting == found::done) co_await proc::yield{};
          },
          net);
    }
    CHECK(reading == found::closed);
    CHECK(accepting == found::closed);
    CHECK(later == found::closed);
    CHECK(text == "weft: write to a socket that is closed: Bad file descriptor");
  }
}

TEST_CASE("the id of a closed socket does not refer to a new socket in its place") {
  std::vector<found> how;
  std::string got;
  system_network net;
  run_on<on_one_thread>(
      [&]() -> net_program {
        listener door = co_await listen(endpoint());
        std::optional<owned_socket> old = co_await io::connect(door.local());
        socket_id const gone = old->id();
        old.reset();
        owned_socket now = co_await io::connect(door.local());
        how.push_back(now.id().place == gone.place ? found::done : found::other);
        std::array<std::byte, 1> one{std::byte{'x'}};
        external_event gate;
        how.push_back(co_await outcome_of([](socket_id s, auto& b) -> eff<void, io, completions> {
          (void)co_await io::write(s, b);
        }(gone, one)));
        how.push_back(co_await outcome_of([](socket_id s, auto& b) -> eff<void, io, completions> {
          (void)co_await io::read(s, b);
        }(gone, one)));
        how.push_back(
            co_await outcome_of([](socket_id s, external_event& g) -> eff<void, io, completions> {
              co_await io::watch(s, direction::reading, g);
            }(gone, gate)));
        co_await io::close(gone);  // has no effect
        how.push_back(co_await outcome_of(
            [](socket_id s) -> eff<void, io, completions> { co_await io::finish(s); }(now.id())));
        how.push_back(co_await outcome_of([](socket_id s) -> eff<void, io, completions> {
          co_await io::finish(s);
        }(socket_id{1'000'000, 1})));
      },
      net);
  CHECK(how == std::vector{found::done, found::closed, found::closed, found::closed, found::done,
                           found::closed});
}

BACKENDS_TEST_CASE("a second process that waits in the same direction at a socket is refused", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  counter refused = 0;
  counter done = 0;
  std::string text;
  {
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          connection a = co_await connect(door.local());
          connection b = co_await door.accept();
          for (int i = 0; i != 2; ++i)
            co_await spawn(
                [](connection& c, counter& no, counter& yes, std::string& why) -> net_step {
                  std::array<std::byte, 1> one;
                  try {
                    co_await c.read(one);
                    ++yes;
                  } catch (std::logic_error const& e) {
                    why = e.what();
                    ++no;
                  }
                },
                std::ref(a), std::ref(refused), std::ref(done), std::ref(text));
          while (refused == 0) co_await proc::yield{};
          co_await b.write("x");
          while (done == 0) co_await proc::yield{};
        },
        net);
  }
  CHECK(refused == 1);
  CHECK(done == 1);
  CHECK_THAT(text, Contains("one at a time may"));
}

using Catch::Matchers::EndsWith;

BACKENDS_TEST_CASE(
    "with too many open files a connection waits, and is accepted when another one is closed", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  constexpr int many = 10;
  int refused = 0;
  std::string text;
  std::vector<std::string> got;
  {
    system_network net;
    std::vector<raw_socket> peers;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          for (int i = 0; i != many; ++i) peers.push_back(connected_to(door.local().port));
          few_descriptors const limit(3);
          std::vector<connection> all;
          for (int served = 0; served != many;) {
            std::optional<connection> c;
            try {
              c.emplace(co_await door.accept());
            } catch (io_error const& e) {
              if (e.code() != std::errc::too_many_files_open) throw;
              text = e.what();
              ++refused;
            }
            if (c) {
              ++served;
              co_await c->write("welcome");
              all.push_back(std::move(*c));
            } else {
              all.erase(all.begin());
            }
          }
        },
        net);
    for (auto& p : peers) got.push_back(p.receive());
  }
  CHECK(refused == many - 3);
  CHECK_THAT(text, Contains("weft: accept at 127.0.0.1:") && EndsWith(": Too many open files"));
  CHECK(got == std::vector<std::string>(many, "welcome"));
}

TEST_CASE("too many open files are no error for an accept while no connection waits") {
  found accepts{};
  found connects{};
  found listens{};
  system_network net;
  run_on<on_one_thread>(
      [&]() -> net_program {
        listener door = co_await listen(endpoint());
        few_descriptors const limit(0);
        accepts = co_await outcome_of(door.accept(instant::min()));
        connects = co_await outcome_of(connect(door.local()));
        listens = co_await outcome_of(listen(endpoint()));
      },
      net);
  CHECK(accepts == found::timed_out);
  CHECK(connects == found::files);
  CHECK(listens == found::files);
}

TEST_CASE("a network that cannot be created throws, and leaks no descriptor") {
  for (unsigned n = 0; n != 2; ++n) {
    every_descriptor_is_closed const closed;
    std::string text;
    {
      few_descriptors const limit(n);
      try {
        system_network const net;
      } catch (std::system_error const& e) {
        text = e.what();
      }
    }
    CHECK_THAT(text, EndsWith(cannot_begin));
  }
}

TEST_CASE("a network that is destroyed before its sockets ends the program with a message") {
  auto const said = last_words([] {
    std::optional<system_network> net(std::in_place);
    auto* const kept = new std::optional<owned_socket>();
    run_on<on_one_thread>(
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          *kept = co_await io::connect(door.local());
        },
        *net);
    net.reset();
  });
  CHECK(said == "weft: " + std::string(its_name) +
                    " ends while 1 of its sockets are open: it must outlive them\n");
}
