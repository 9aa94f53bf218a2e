// SPDX-License-Identifier: MIT
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/cluster/proxy.hpp"
#include "tests/cluster/servers.hpp"
#include "tests/durable/killed_programs.hpp"
#include "tests/prelude.hpp"
#include "tests/support/own_directory.hpp"
#include "weft/cluster/nats_store.hpp"
#include "weft/durable/engine.hpp"

/// Workers and servers that are killed, frozen and cut off, while processes go on.  A ledger outside
/// has each act of a step.
///
/// Workers are programs of their own: this one, with the name of a hidden test.

constexpr auto lease = 1s;
constexpr forest trees{100};

// ---- in a program of its own

std::string from_environment(char const* name) {
  char const* const value = std::getenv(name);
  return value ? value : "";
}
/// The store of all programs.
cluster::nats_store forest_store() {
  return cluster::nats_store(
      {.url = from_environment("WEFT_URL")},
      {.name = "forest",
       .replicas = static_cast<unsigned>(std::stoul(from_environment("WEFT_REPLICAS"))),
       .sharing = {.lease = lease}});
}

TEST_CASE("child: begin", "[.]") {
  auto s = forest_store();
  forest_engine e(s, leaf_process, tree_process, collector_process);
  trees.start(e);
}

/// A ledger whose acts take long enough for something to happen meanwhile.
struct slow_ledger : ledger_file {
  using ledger_file::ledger_file;
  int on(world::act const& a) const {
    wait_for(30ms);
    return ledger_file::on(a);
  }
};

TEST_CASE("child: work", "[.]") {
  auto s = forest_store();
  forest_engine e({.until = durable::run_until::all_ended}, s, leaf_process, tree_process,
                  collector_process);
  slow_ledger l(from_environment("WEFT_ACTS"));
  schedule<sharing>({.threads = 2}, [&] { return e.run(); }, l);
}

TEST_CASE("child: judge", "[.]") {
  auto s = forest_store();
  forest_engine e(s, leaf_process, tree_process, collector_process);
  trees.require_all_done(e, acts_in(from_environment("WEFT_ACTS")));
  CHECK(s.workers().empty());
}

// ---- the programs

/// A program that runs a hidden test.
class child {
 public:
  explicit child(std::string const& test, std::string const& url) {
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ != 0) return;
    setenv("WEFT_URL", url.c_str(), 1);
    std::string name = "survival";
    std::string which = test;
    std::array<char*, 3> args{name.data(), which.data(), nullptr};
    execv("/proc/self/exe", args.data());
    _exit(127);
  }
  child(child const&) = delete;
  child& operator=(child const&) = delete;
  ~child() { kill_it(); }
  void signal(int s) const {
    if (pid_ > 0) ::kill(pid_, s);
  }
  void kill_it() {
    signal(SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  /// Its exit status; -1 while it runs.
  int status() {
    int s = 0;
    if (pid_ <= 0 || waitpid(pid_, &s, WNOHANG) != pid_) return -1;
    pid_ = 0;
    return WIFEXITED(s) ? WEXITSTATUS(s) : 128;
  }
  int wait() {
    int s = 0;
    for (int tries = 0; pid_ > 0 && (s = status()) == -1; ++tries) {
      if (tries == 60'000) return -1;
      wait_for(1ms);
    }
    return s;
  }

 private:
  pid_t pid_ = 0;
};

/// Workers, and what happens to them until all processes have ended.
class scene {
 public:
  scene(std::string url, unsigned replicas) : url_(std::move(url)) {
    setenv("WEFT_REPLICAS", std::to_string(replicas).c_str(), 1);
    setenv("WEFT_ACTS", files_.file("acts").c_str(), 1);
    REQUIRE(child("child: begin", url_).wait() == 0);
  }
  /// Lets the workers reach the server by these URLs, one each.
  std::vector<std::string> urls{};
  /// Lets `workers` programs work; while they do, `happens` is called after each pause.
  void play(std::size_t workers, std::function<void(scene&)> const& happens,
            std::chrono::milliseconds pause) {
    INFO("seed " << seed_);
    workers_.clear();
    for (std::size_t i = 0; i != workers; ++i) workers_.push_back(worker(i));
    auto left = std::chrono::milliseconds(120s);
    for (bool is_over = false; !is_over; left -= pause) {
      REQUIRE(left > 0s);
      wait_for(pause);
      happens(*this);
      for (auto& w : workers_) {
        int const s = w->status();
        if (s == -1) continue;
        REQUIRE(s == 0);  // one has seen that all have ended
        is_over = true;
      }
    }
    for (auto& w : workers_) {
      w->signal(SIGCONT);
      CHECK(w->wait() == 0);
    }
    CHECK(child("child: judge", url_).wait() == 0);
  }
  [[nodiscard]] std::size_t any(std::size_t n) { return random_() % n; }
  child& some_worker() { return *workers_[any(workers_.size())]; }
  void kill_some_worker() {
    std::size_t const i = any(workers_.size());
    workers_[i]->kill_it();
    workers_[i] = worker(i);
    ++killed;
  }
  int killed = 0;

 private:
  [[nodiscard]] std::unique_ptr<child> worker(std::size_t i) const {
    return std::make_unique<child>("child: work", i < urls.size() ? urls[i] : url_);
  }

  std::string url_;
  own_directory files_;
  unsigned seed_ = static_cast<unsigned>(next_seed());
  std::mt19937 random_{seed_};
  std::vector<std::unique_ptr<child>> workers_;
};

TEST_CASE("workers that are killed lose nothing") {
  nats_server server;
  scene s(server.url(), 1);
  s.play(
      3,
      [](scene& all) {
        if (all.killed < 20) all.kill_some_worker();
      },
      40ms);
  CHECK(s.killed > 3);
}

TEST_CASE("a worker that is frozen for longer than its lease is fenced out") {
  nats_server server;
  scene s(server.url(), 1);
  child* frozen = nullptr;
  int n = 0;
  s.play(
      3,
      [&](scene& all) {
        if (++n % 8 == 1 && n < 60) {
          if (frozen) frozen->signal(SIGCONT);
          frozen = &all.some_worker();
          frozen->signal(SIGSTOP);
        } else if (n == 60 && frozen) {
          frozen->signal(SIGCONT);
        }
      },
      200ms);
}

TEST_CASE("the only server is killed, and started again on its files") {
  nats_server server;
  scene s(server.url(), 1);
  int n = 0;
  s.play(
      2,
      [&](scene& all) {
        if (n++ < 10) {
          server.kill_it();
          wait_for(std::chrono::milliseconds(all.any(300)));
          server.start();
        }
      },
      100ms);
  CHECK(n > 3);
}

TEST_CASE("one of three servers is killed, and the others go on") {
  nats_cluster servers;
  scene s(servers.url(), 3);
  int n = 0;
  s.play(
      2,
      [&](scene& all) {
        if (n++ >= 6) return;
        auto& one = servers[all.any(nats_cluster::size)];
        one.kill_it();
        wait_for(300ms);
        one.start();
        wait_for(1s);  // a majority is there at all times
      },
      100ms);
  CHECK(n > 1);
}

/// Three workers, each with a network of its own.
struct cut_network {
  nats_server server;
  std::vector<std::unique_ptr<proxy>> all;
  scene s{server.url(), 1};
  cut_network() {
    for (int i = 0; i != 3; ++i) {
      all.push_back(std::make_unique<proxy>(server.port()));
      s.urls.push_back(all.back()->url());
    }
  }
};

TEST_CASE("a worker that is cut off for longer than its lease is fenced out, though it goes on") {
  cut_network n;
  int times = 0;
  n.s.play(
      3,
      [&](scene& all) {
        if (++times > 4) return;
        auto& one = *n.all[all.any(3)];
        one.keep_back(true, true);
        wait_for(1'300ms);
        one.keep_back(false, false);  // what was kept back arrives now
      },
      100ms);
  CHECK(times > 1);
}

TEST_CASE("a request is carried out once, though its answer is lost and it is sent again") {
  cut_network n;
  int times = 0;
  n.s.play(
      3,
      [&](scene& all) {
        if (++times > 30) return;
        auto& one = *n.all[all.any(3)];
        one.keep_back(false, true);
        wait_for(50ms);
        one.break_connections();
        one.keep_back(false, false);
      },
      20ms);
  CHECK(times > 5);
}

TEST_CASE("a server with a slow disk slows workers down, and loses nothing") {
  nats_server server;
  scene s(server.url(), 1);
  int times = 0;
  s.play(
      2,
      [&](scene& all) {
        if (++times > 15) return;
        server.stop();  // as a program does that waits for its disk
        wait_for(std::chrono::milliseconds(50 + all.any(300)));
        server.go_on();
      },
      50ms);
  CHECK(times > 5);
}
