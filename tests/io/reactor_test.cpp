// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/io/system_network.hpp"
#include "tests/prelude.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/sockets.hpp"
#include "weft/io/connection.hpp"

/// A connection from this process to itself.
struct pair_of {
  connection first;
  connection second;
};
eff<pair_of, io, completions> a_pair() {
  listener door = co_await listen(endpoint());
  connection first = co_await connect(door.local());
  connection second = co_await door.accept();
  co_return pair_of{std::move(first), std::move(second)};
}

BACKENDS_TEST_CASE("bytes that are written to a connection arrive at the other end, and back", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  std::string got;
  std::string rest;
  {
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          auto [a, b] = co_await a_pair();
          co_await spawn(echo, std::move(b));
          co_await a.write("hello");
          got = co_await read_text(a, 5);
          co_await a.write("and good bye");
          co_await a.finish();
          rest = co_await read_to_end(a);
        },
        net);
  }
  CHECK(got == "hello");
  CHECK(rest == "and good bye");
}

net_step serves(listener door, int connections) {
  std::vector<connection> all;
  for (int i = 0; i != connections; ++i) all.push_back(co_await door.accept());
  // One message each, the last first.
  std::array<std::byte, 100> buffer;
  while (!all.empty()) {
    std::size_t const n = co_await all.back().read(buffer);
    co_await all.back().write(std::span(buffer).first(n));
    all.pop_back();
  }
}
net_step asks(endpoint at, int number, counter& right) {
  connection c = co_await connect(at);
  std::string const text = "number " + std::to_string(number);
  co_await c.write(text);
  std::string const answer = co_await read_to_end(c);
  right += answer == text;
}

BACKENDS_TEST_CASE("hundreds of connections are open at once, and each gets its own answer", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  constexpr int many = 300;
  counter right = 0;
  {
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          endpoint const at = door.local();
          co_await spawn(serves, std::move(door), many);
          for (int i = 0; i != many; ++i) co_await spawn(asks, at, i, std::ref(right));
        },
        net);
  }
  CHECK(right == many);
}

BACKENDS_TEST_CASE(
    "a write of more bytes than there is room for waits until the other side has read", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  constexpr std::size_t many = 20'000'000;  // more than the buffers of the system hold
  std::string const all = pattern(many);
  std::string got;
  std::atomic<bool> has_filled_it = false;
  {
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          auto [a, b] = co_await a_pair();
          co_await spawn(
              [](connection c, std::string const& text, std::atomic<bool>& full) -> net_step {
                auto rest = std::as_bytes(std::span(text));
                while (!rest.empty()) {
                  // At first the write must not wait.
                  instant const until = full ? instant::max() : instant::min();
                  std::size_t n = 0;
                  try {
                    n = co_await c.write_some(rest, until);
                  } catch (io_error const& e) {
                    if (e.code() != std::errc::timed_out) throw;
                    full = true;
                  }
                  rest = rest.subspan(n);
                }
              },
              std::move(a), std::cref(all), std::ref(has_filled_it));
          while (!has_filled_it) co_await proc::yield{};
          std::vector<std::byte> some(30'000);
          for (;;) {
            std::size_t const n = co_await b.read(some);
            if (n == 0) break;
            got.append(reinterpret_cast<char const*>(some.data()), n);
            co_await proc::yield{};
          }
        },
        net);
  }
  CHECK(got.size() == many);
  CHECK((got == all));
}

BACKENDS_TEST_CASE("a side that has finished writing may continue to read, on either side", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string request;
  std::string answer;
  std::string late;
  {
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          auto [a, b] = co_await a_pair();
          co_await spawn(
              [](connection c, std::string& got) -> net_step {
                got = co_await read_to_end(c);
                co_await c.write("answer to " + got);
              },
              std::move(b), std::ref(request));
          co_await a.write("a request");
          co_await a.finish();
          answer = co_await read_to_end(a);
          std::array<std::byte, 10> more;
          std::size_t const n = co_await a.read(more);  // the end stays the end
          late = std::to_string(n);
        },
        net);
  }
  CHECK(request == "a request");
  CHECK(answer == "answer to a request");
  CHECK(late == "0");
}

BACKENDS_TEST_CASE("an end that arrives with the last bytes is seen", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  // The read gets less than it has room for, so the reactor may take the stream for drained,
  // although the end is there.
  for (int round = 0; round != rounds(200); ++round) {
    std::string got;
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          raw_socket peer = connected_to(door.local().port);
          connection c = co_await door.accept();
          for (int i = 0; i != round % 4; ++i) co_await proc::yield{};
          peer.send("last");
          if (round % 3 == 0) co_await proc::yield{};
          peer.close();
          got = co_await read_to_end(c);
        },
        net);
    REQUIRE(got == "last");
  }
}

BACKENDS_TEST_CASE("out-of-band data does not hide the bytes after it", "", on_one_thread,
                   on_sharing<2>) {
  for (int round = 0; round != rounds(200); ++round) {
    std::string got;
    system_network net;
    run_on(
        chosen,
        [&]() -> net_program {
          listener door = co_await listen(endpoint());
          raw_socket peer = connected_to(door.local().port);
          connection c = co_await door.accept();
          peer.send("before");
          for (int i = 0; i != round % 3; ++i) co_await proc::yield{};
          peer.send("!", MSG_OOB);
          peer.send("after");
          // The end must not come before all bytes have been read.
          got = co_await read_text(c, 11);
        },
        net);
    REQUIRE(got == "beforeafter");
  }
}

TEST_CASE("a process whose reads do not wait yields after every 64 of them") {
  every_frame_dies const check;
  system_network net;
  counter turns = 0;
  counter at_63 = 0;
  std::atomic<bool> is_over = false;
  run_on<on_one_thread>(
      [&]() -> net_program {
        auto [a, b] = co_await a_pair();
        co_await a.write(pattern(6400));
        std::array<std::byte, 1> one;
        co_await b.read(one);  // all of it is there now: loopback
        co_await spawn(
            [](counter& n, std::atomic<bool>& over) -> net_step {
              for (; !over; ++n) co_await proc::yield{};
            },
            std::ref(turns), std::ref(is_over));
        for (int i = 0; i != 63; ++i) co_await b.read(one);
        at_63 = turns.load();
        for (int i = 0; i != 640; ++i) co_await b.read(one);
        is_over = true;
      },
      net);
  CHECK(at_63 <= 1);
  CHECK(turns >= 10);
  CHECK(turns <= 12);
}

TEST_CASE("a process that accepts or writes without waiting yields as well") {
  system_network net;
  counter turns = 0;
  int accepting = 0;
  std::atomic<bool> is_over = false;
  run_on<on_one_thread>(
      [&]() -> net_program {
        listener door = co_await listen(endpoint());
        std::vector<raw_socket> peers;
        for (int i = 0; i != 200; ++i) peers.push_back(connected_to(door.local().port));
        co_await spawn(
            [](counter& n, std::atomic<bool>& over) -> net_step {
              for (; !over; ++n) co_await proc::yield{};
            },
            std::ref(turns), std::ref(is_over));
        connection last = co_await door.accept();
        for (int i = 1; i != 200; ++i) last = co_await door.accept();
        accepting = turns;
        turns = 0;
        for (int i = 0; i != 200; ++i) co_await last.write("x");
        is_over = true;
      },
      net);
  CHECK(accepting == 2);  // begins at the first of three yields
  CHECK(turns >= 3);
  CHECK(turns <= 4);
}

TEST_CASE("two schedulers on two threads share a network, and connect to each other") {
  every_frame_dies const check;
  every_descriptor_is_closed const closed;
  std::string got;
  {
    system_network net;
    std::atomic<std::uint16_t> port = 0;
    std::thread other([&] {
      run_on<on_sharing<2>>(
          [&]() -> net_program {
            listener door = co_await listen(endpoint());
            port = door.local().port;
            for (int i = 0; i != 50; ++i) {
              connection c = co_await door.accept();
              co_await spawn(echo, std::move(c));
            }
          },
          net);
    });
    until([&] { return port.load() != 0; });
    run_on<on_one_thread>(
        [&]() -> net_program {
          for (int i = 0; i != 50; ++i) {
            connection c = co_await connect(endpoint(port));
            co_await c.write("over there");
            got = co_await read_text(c, 10);
          }
        },
        net);
    other.join();
  }
  CHECK(got == "over there");
}

TEST_CASE("a connection knows the addresses of its ends, of IPv4 and of IPv6") {
  std::vector<std::string> found;
  system_network net;
  run_on<on_one_thread>(
      [&]() -> net_program {
        for (std::string const address : {"127.0.0.1", "::1"}) {
          listener door = co_await listen(endpoint(address, 0));
          endpoint const at = door.local();
          connection a = co_await connect(at);
          connection b = co_await door.accept();
          found.push_back(at.text().substr(0, at.text().rfind(':')));
          found.push_back(a.peer() == at && b.peer() != at ? "right" : "wrong");
        }
      },
      net);
  CHECK(found == std::vector<std::string>{"127.0.0.1", "right", "[::1]", "right"});
}

TEST_CASE("sockets send at once, do not block, and are not inherited by other programs") {
  int sockets = 0;
  int right = 0;
  system_network net;
  run_on<on_one_thread>(
      [&]() -> net_program {
        listener const door = co_await listen(endpoint());
        auto const ends = co_await a_pair();
        for (int fd = 0; fd != 1000; ++fd) {
          int at_once = 0;
          socklen_t size = sizeof at_once;
          if (::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, &size) != 0) continue;
          ++sockets;
          right += at_once != 0 && (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0 &&
                   (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
        }
      },
      net);
  CHECK(sockets == 3);
  CHECK(right == 3);
}

TEST_CASE("an invalid address throws invalid_argument with a message") {
  system_network net;
  std::string listens;
  std::string connects;
  run_on<on_one_thread>(
      [&]() -> net_program {
        try {
          listener const l = co_await listen(endpoint("localhost", 80));
        } catch (std::invalid_argument const& e) {
          listens = e.what();
        }
        try {
          connection const c = co_await connect(endpoint("1.2.3", 80));
        } catch (std::invalid_argument const& e) {
          connects = e.what();
        }
      },
      net);
  CHECK_THAT(listens, Contains("localhost is no address"));
  CHECK_THAT(connects, Contains("1.2.3 is no address"));
}

#if !defined(WEFT_TEST_OF_ASIO_NETWORK) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a child of fork() leaves the reactor of its parent alone, and is told so") {
  auto net = std::make_unique<system_network>();
  auto const p = []() -> net_program { (void)co_await a_pair(); };
  schedule(p, *net);
  pid_t const child = ::fork();
  if (child == 0) {
    bool const is_told = text_of<std::logic_error>([&] {
                           schedule(p, *net);
                         }).find("after fork()") != std::string::npos;
    net.reset();
    ::_exit(is_told ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  schedule(p, *net);
}
#endif
