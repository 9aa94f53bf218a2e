// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cluster/servers.hpp"
#include "tests/prelude.hpp"
#include "weft/cluster/router.hpp"

using cluster::lossy_address;
using cluster::lossy_inbox;
using cluster::router;
using tasks = tasking<completions, timing, proc>;
using job = eff<void, tasks, completions, timing, proc>;

nats_server& one_server() {
  static nats_server s;
  return s;
}
cluster::connection_options at(std::string url = one_server().url()) {
  cluster::connection_options o;
  o.url = std::move(url);
  o.patience = 5s;
  return o;
}

struct numbered {
  std::string sender;
  int number = 0;
  MSGPACK_DEFINE(sender, number)
};

BACKENDS_TEST_CASE("the messages of each sender arrive in their order, at every inbox", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<2>, on_stealing<3>) {
  static constexpr int each = 300;
  router here(at());
  std::array<std::unique_ptr<router>, 2> there;
  for (auto& r : there) r = std::make_unique<router>(at());
  std::array<std::array<int, 2>, 2> last{};
  std::uint64_t lost = 1;
  run_on(chosen, [&]() -> job {
    auto exact = co_await here.listen<numbered>("order.a");
    auto fitting = co_await here.listen<numbered>("order.*");
    co_await with_scope([&](auto& s) -> job {
      for (std::size_t i = 0; i != 2; ++i)
        s.start([&, i]() -> job {
          auto const to = there[i]->to<numbered>("order.a");
          for (int n = 1; n <= each; ++n) {
            to.send({.sender = std::to_string(i), .number = n});
            if (n % 16 == 0) co_await proc::yield{};
          }
        });
      std::array<lossy_inbox<numbered>*, 2> const inboxes{&exact, &fitting};
      for (std::size_t i = 0; i != 2; ++i)
        s.start([&, i, in = inboxes[i]]() -> job {
          for (int n = 0; n != 2 * each; ++n) {
            numbered const m = co_await in->receive();
            int& before = last[i][m.sender == "1"];
            if (m.number == before + 1) ++before;
          }
        });
      co_return;
    });
    lost = exact.overflowed() + fitting.overflowed() + exact.unreadable();
  });
  for (auto const& of : last)
    for (int const n : of) CHECK(n == each);
  CHECK(lost == 0);
  CHECK(there[0]->unsent() + there[1]->unsent() == 0);
}

/// Calls until it is true, for a minute at most.
template <class F>
bool comes_true(F f) {
  for (int i = 0; i != 12'000; ++i) {
    if (f()) return true;
    wait_for(5ms);
  }
  return false;
}

TEST_CASE("a full inbox loses the oldest message, and counts") {
  router here(at());
  router there(at());
  schedule([&]() -> job {
    auto in = co_await here.listen<int>("full", {.capacity = 3});
    for (int i = 0; i != 10; ++i) there.to<int>("full").send(i);
    CHECK(comes_true([&] { return in.overflowed() == 7; }));
    for (int i = 7; i != 10; ++i) {
      int const m = co_await in.receive();
      CHECK(m == i);
    }
    CHECK(in.try_receive() == std::nullopt);
  });
}

// Two types of one name, as two versions of a program may have them.
struct old_status {
  static constexpr std::string_view stored_name = "status";
  int is = 0;
  MSGPACK_DEFINE(is)
};
struct new_status {
  static constexpr std::string_view stored_name = "status";
  std::string is;
  MSGPACK_DEFINE(is)
};

TEST_CASE("a message of another type is dropped, and counted") {
  router here(at());
  router there(at());
  schedule([&]() -> job {
    auto in = co_await here.listen<new_status>("types");
    there.to<std::string>("types").send("of another name");
    there.to<old_status>("types").send({.is = 1});
    CHECK(comes_true([&] { return in.unreadable() == 1; }));
    there.to<new_status>("types").send({.is = "here"});
    auto const m = co_await in.receive();
    CHECK(m.is == "here");
    CHECK(in.unreadable() == 2);
  });
}

/// Sends bytes that no router has made.
class raw_sender {
 public:
  explicit raw_sender(nats_server const& s) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(s.port());
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket_, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0);
    write("CONNECT {\"verbose\":false}\r\n");
  }
  raw_sender(raw_sender const&) = delete;
  raw_sender& operator=(raw_sender const&) = delete;
  ~raw_sender() { close(socket_); }
  void send(std::string const& subject, std::string const& bytes) const {
    write("PUB " + subject + " " + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n");
  }

 private:
  void write(std::string const& all) const {
    REQUIRE(::send(socket_, all.data(), all.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(all.size()));
  }
  int socket_;
};

TEST_CASE("bytes that no router has made are dropped, and counted") {
  router here(at());
  raw_sender const there(one_server());
  static constexpr int many = 3'000;
  schedule([&]() -> job {
    auto in = co_await here.listen<numbered>("bytes", {.capacity = many});
    std::string const good = durable::encode(std::string(durable::stored_name<numbered>())) +
                             durable::encode(numbered{.sender = "x", .number = 1});
    std::mt19937 random(static_cast<unsigned>(next_seed()));
    for (int i = 0; i != many; ++i) {
      std::string bytes = good;
      // Every third is cut, every third has a wrong byte, every third is noise.
      if (i % 3 == 0) bytes.resize(random() % bytes.size());
      if (i % 3 == 1) bytes[random() % bytes.size()] ^= static_cast<char>(1U + random() % 255);
      if (i % 3 == 2)
        for (char& b : bytes) b = static_cast<char>(random() % 256);
      there.send("bytes", bytes);
    }
    there.send("bytes", durable::encode(std::string(durable::stored_name<numbered>())) +
                            durable::encode(numbered{.sender = "last", .number = 2}));
    int read = 0;
    for (auto m = co_await in.receive(); m.sender != "last"; m = co_await in.receive()) ++read;
    CHECK(in.unreadable() + static_cast<unsigned>(read) == many);
    CHECK(in.unreadable() > many / 2);  // a wrong byte may be one of a text
  });
}

BACKENDS_TEST_CASE("a receiver that is cancelled has received nothing", "", on_one_thread,
                   in_random_order, on_locked_stack, on_sharing<2>, on_stealing<3>) {
  router here(at());
  router there(at());
  std::atomic<int> times_cancelled = 0;
  std::atomic<int> sum = 0;
  run_on(chosen, [&]() -> job {
    auto in = co_await here.listen<int>("cancelled");
    auto const receives = [&]() -> job {
      try {
        sum += co_await in.receive();
      } catch (cancelled const&) {
        ++times_cancelled;
        throw;
      }
    };
    try {
      co_await with_scope({.timeout = 20ms}, [&](auto&) -> job { co_await receives(); });
    } catch (cancelled const&) {
      ++times_cancelled;
    }
    co_await with_scope([&](auto& s) -> job {
      s.start(receives);
      co_await timing::sleep_for{10ms};
      s.cancel();
    });
    there.to<int>("cancelled").send(7);
    co_await receives();
  });
  CHECK(times_cancelled == 3);
  CHECK(sum == 7);
}

BACKENDS_TEST_CASE("receive_until yields a message, or nothing after its deadline", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<2>, on_stealing<3>) {
  router here(at());
  router there(at());
  std::optional<int> none = 1;
  std::optional<int> late = 1;
  std::optional<int> one;
  run_on(chosen, [&]() -> job {
    auto in = co_await here.listen<int>("deadline");
    none = co_await in.receive_until(co_await timing::now{} + 10ms);
    late = co_await in.receive_until(instant::min());
    there.to<int>("deadline").send(5);
    one = co_await in.receive_until(co_await timing::now{} + 1min);
  });
  CHECK(none == std::nullopt);
  CHECK(late == std::nullopt);
  CHECK(one == 5);
}

TEST_CASE("a second process that waits at an inbox is refused") {
  router here(at());
  schedule([&]() -> job {
    auto in = co_await here.listen<int>("two");
    co_await with_scope([&](auto& s) -> job {
      s.start([&]() -> job { (void)co_await in.receive(); });
      co_await proc::yield{};
      std::string text;
      try {
        (void)co_await in.receive();
      } catch (std::logic_error const& e) {
        text = e.what();
      }
      CHECK(text == "weft: another process already waits at this lossy_inbox");
      s.cancel();
    });
    auto moved = std::move(in);
    CHECK(moved.try_receive() == std::nullopt);
    CHECK_THROWS_WITH(in.try_receive(), Contains("lossy_inbox was used after it was moved from"));
  });
}

TEST_CASE("a process that receives what has come already lets others run, and is cancelled") {
  router here(at());
  router there(at());
  static constexpr int many = 1'000;
  int turns = 0;
  int received = 0;
  schedule([&]() -> job {
    auto in = co_await here.listen<int>("flood", {.capacity = many});
    for (int i = 0; i <= many; ++i) there.to<int>("flood").send(i);
    CHECK(comes_true([&] { return in.overflowed() == 1; }));
    co_await with_scope([&](auto& s) -> job {
      s.start([&]() -> job {
        for (;;) {
          (void)co_await in.receive();
          ++received;
        }
      });
      for (; turns != 5; ++turns) co_await proc::yield{};
      s.cancel();
    });
  });
  CHECK(received > 0);
  CHECK(received < many / 2);
}

TEST_CASE("what is sent while the server is down is lost, and later messages arrive") {
  nats_server server;
  router here(at(server.url()));
  router there(at(server.url()));
  std::vector<int> got;
  schedule([&]() -> job {
    auto in = co_await here.listen<int>("restart");
    auto const to = there.to<int>("restart");
    to.send(1);
    got.push_back(co_await in.receive());
    server.kill_it();
    CHECK(comes_true([&] {
      to.send(2);  // the router does not know yet; then it does
      return there.unsent() != 0;
    }));
    auto const lost = there.unsent();
    for (int i = 0; i != 100; ++i) to.send(3);
    CHECK(comes_true([&] { return there.unsent() >= lost + 100; }));
    // An inbox that begins to listen now does so when the server is there.
    auto later = co_await here.listen<int>("restart.later");
    server.start();
    std::optional<int> m;
    for (int i = 0; i != 600 && !m; ++i) {
      to.send(4);
      m = co_await in.receive_until(co_await timing::now{} + 100ms);
      while (m == 2) m = in.try_receive();
    }
    got.push_back(m.value_or(0));
    m.reset();
    for (int i = 0; i != 600 && !m; ++i) {
      there.to<int>("restart.later").send(5);
      m = co_await later.receive_until(co_await timing::now{} + 100ms);
    }
    got.push_back(m.value_or(0));
  });
  CHECK(got == std::vector{1, 4, 5});
}

TEST_CASE("a server that is frozen keeps no sender waiting") {
  nats_server server;
  std::optional<router> here(at(server.url()));
  auto const to = here->to<std::string>("frozen");
  server.stop();
  for (int i = 0; i != 100; ++i) to.send(std::string(500'000, 'x'));
  CHECK(comes_true([&] { return here->unsent() != 0; }));
  here.reset();
  server.go_on();
  to.send("to nobody");
}

using cluster::routing_error;

BACKENDS_TEST_CASE("a receiver whose router is closed receives what has come, and finds out", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<2>, on_stealing<3>) {
  std::string text;
  counter sum = 0;
  run_on(chosen, [&]() -> job {
    std::optional<router> here(at());
    auto in = co_await here->listen<int>("closed");
    auto const to = here->to<int>("closed");
    co_await with_scope([&](auto& s) -> job {
      s.start([&]() -> job {
        try {
          for (;;) {
            int const n = co_await in.receive();
            sum += n;
          }
        } catch (routing_error const& e) {
          text = e.what();
        }
      });
      to.send(1);
      to.send(2);
      while (sum != 3) co_await timing::sleep_for{1ms};
      here.reset();
      to.send(4);
    });
  });
  CHECK(sum == 3);
  CHECK_THAT(text, Contains("weft: the router at nats://127.0.0.1:") && Contains(" was closed"));
}

BACKENDS_TEST_CASE("a scheduler ends while messages come, and some are left", "", on_one_thread,
                   in_random_order, on_locked_stack, on_sharing<2>, on_stealing<3>) {
  router here(at());
  std::atomic<bool> is_over = false;
  std::thread sends([&] {
    router there(at());
    auto const to = there.to<int>("end");
    while (!is_over) {
      for (int i = 0; i != 50; ++i) to.send(i);
      wait_for(1ms);
    }
  });
  for (int round = 0; round != 30; ++round) {
    std::optional<lossy_inbox<int>> kept;
    struct failure : std::exception {};
    auto const ends = [&]() -> job {
      auto own = co_await here.listen<int>("end", {.capacity = 8});
      kept.emplace(co_await here.listen<int>("end", {.capacity = 8}));
      co_await with_scope([&](auto& s) -> job {
        s.start([&]() -> job {
          for (;;) (void)co_await kept->receive();
        });
        s.start([&]() -> job {
          auto silent = co_await here.listen<int>("silence");
          (void)co_await silent.receive();
        });
        for (int i = 0; i != round; ++i) (void)co_await own.receive();
        throw failure();
      });
    };
    CHECK_THROWS_AS(run_on(chosen, ends), failure);
    (void)kept->try_receive();
  }
  is_over = true;
  sends.join();
}

TEST_CASE("subjects are checked") {
  router r(at());
  auto const listen = [&](std::string const& subject, cluster::listen_options o = {}) {
    schedule([&]() -> job { (void)co_await r.listen<int>(subject, o); });
  };
  for (std::string const bad : {"", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPUB b 0",
                                "$SYS.x", "weft", "weft.s.log", "a*", "a.b>", "a.>.b"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(r.to<int>(bad), std::invalid_argument);
    CHECK_THROWS_AS(listen(bad), std::invalid_argument);
  }
  CHECK_THROWS_WITH(
      r.to<int>("a.*"),
      "weft: \"a.*\" is no subject of a router: words with dots between them, without blanks, at "
      "most 1000 bytes, the first neither `weft` nor with a $; `*` and `>` are words of listen() "
      "only");
  CHECK_THROWS_AS(r.to<int>(std::string(1'001, 'a')), std::invalid_argument);
  CHECK(r.to<int>("wefts.a-b_c").subject() == "wefts.a-b_c");
  schedule([&]() -> job {
    auto all = co_await r.listen<int>("checked.>");
    r.to<int>("checked.\xc3\xa4.b").send(1);
    int const m = co_await all.receive();
    CHECK(m == 1);
    CHECK_THROWS_AS(r.to<int>("checked.>"), std::invalid_argument);
  });
  CHECK_THROWS_WITH(listen("a", {.capacity = 0}),
                    "weft: a lossy_inbox must have a capacity of at least 1");
}

TEST_CASE("a message that the server would not take is refused") {
  router r(at());
  CHECK_THROWS_WITH(r.to<std::string>("long").send(std::string(2'000'000, 'x')),
                    Contains("weft: a message of 2000") &&
                        Contains("bytes is too long for the router: the server takes 1048576"));
  CHECK_NOTHROW(r.to<std::string>("long").send(std::string(1'000'000, 'x')));
}

TEST_CASE("a router without a server, or without its permission, says so") {
  auto o = at("nats://somebody:secret@127.0.0.1:" + std::to_string(free_port()));
  o.patience = 50ms;
  CHECK_THROWS_WITH(router(o), Contains("weft: the router at nats://127.0.0.1:") &&
                                   Contains(" cannot be reached: no server of NATS answers"));
  nats_server const server({"--user", "a", "--pass", "b"});
  o.url = server.url();
  o.user = "a";
  o.password = "secret";
  CHECK_THROWS_WITH(
      router(o),
      Contains("cannot be reached: the server does not accept this user") && !Contains("secret"));
  o.password = "b";
  CHECK_NOTHROW(router(o));
}
