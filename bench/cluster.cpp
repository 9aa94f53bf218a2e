// SPDX-License-Identifier: MIT

/// What does it cost to be durable on a NATS server?  The bench starts one, with JetStream and files,
/// on the loopback of this computer; the engines are on it as well.
///
///   append/1         One process, one step after the other.  ns a step.  Rival, `nats client`: the C
///                    client publishes an entry of the same size and waits for its
///                    acknowledgement, one after the other.
///   append/1000      A thousand processes, whose steps share commits.  Steps a second.  Rival: the
///                    C client publishes the same entries asynchronously.
///   workers/1, /2, /4  Programs that share the processes.  Steps a second.  Rival of the last two:
///                    one worker.
///   failover         From the SIGKILL of a worker to the next step of its process, on another
///                    one.  ms.  Rival: its lease.

#include <nats/nats.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/durable_steps.hpp"
#include "bench/harness.hpp"
#include "tests/cluster/servers.hpp"
#include "weft/cluster/nats_store.hpp"
#include "weft/durable/engine.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace {

using namespace std::chrono_literals;
using weft::eff;
using weft::schedule;
using weft::bench::durable_steps;
using weft::bench::steps_process;
using weft::bench::timed;
using weft::bench::whole;
using weft::cluster::nats_store;
namespace durable = weft::durable;

using row = durable::all<>;
constexpr auto lease = 1s;

/// A step that is seen from outside: the file grows by a byte.
int mark(int n) {
  std::this_thread::sleep_for(5ms);
  std::string const path = std::getenv("WEFT_MARKS");
  FILE* const f = std::fopen(path.c_str(), "a");
  std::fputc('.', f);
  std::fclose(f);
  return n;
}
eff<void, row> marks(int n) {
  for (int i = 0; i != n; ++i) co_await durable::step("mark", mark, i);
}
constexpr durable::function marks_process{"marks", 1, marks};

weft::tests::nats_server& server() {
  static weft::tests::nats_server one;
  return one;
}
std::string fresh_name() {
  static int n = 0;
  return "bench_" + std::to_string(++n);
}
nats_store store_named(std::string name, std::string url = server().url()) {
  return nats_store({.url = std::move(url)},
                    {.name = std::move(name), .sharing = {.lease = lease}});
}

// ---- subject

timed steps_on_a_server(int processes, int each) {
  auto store = store_named(fresh_name());
  return durable_steps(store, processes, each);
}

// ---- rival

void check(natsStatus s) {
  if (s != NATS_OK) throw std::runtime_error(natsStatus_GetText(s));
}
/// A stream of its own, by the C client.
class client {
 public:
  client() {
    check(natsConnection_ConnectTo(&connection_, server().url().c_str()));
    jsOptions o;
    jsOptions_Init(&o);
    o.PublishAsync.MaxPending = 4000;
    check(natsConnection_JetStream(&js_, connection_, &o));
    name_ = fresh_name();
    char const* subject = name_.c_str();
    jsStreamConfig c;
    jsStreamConfig_Init(&c);
    c.Name = subject;
    c.Subjects = &subject;
    c.SubjectsLen = 1;
    check(js_AddStream(nullptr, js_, &c, nullptr, nullptr));
  }
  client(client const&) = delete;
  client& operator=(client const&) = delete;
  ~client() {
    jsCtx_Destroy(js_);
    natsConnection_Destroy(connection_);
  }
  void publish(std::string const& bytes) {
    check(js_Publish(nullptr, js_, name_.c_str(), bytes.data(), static_cast<int>(bytes.size()),
                     nullptr, nullptr));
  }
  void publish_later(std::string const& bytes) {
    check(
        js_PublishAsync(js_, name_.c_str(), bytes.data(), static_cast<int>(bytes.size()), nullptr));
  }
  void wait_for_all() { check(js_PublishAsyncComplete(js_, nullptr)); }
  [[nodiscard]] std::uint64_t entries() {
    jsStreamInfo* i = nullptr;
    check(js_GetStreamInfo(&i, js_, name_.c_str(), nullptr, nullptr));
    auto const n = i->State.Msgs;
    jsStreamInfo_Destroy(i);
    return n;
  }

 private:
  natsConnection* connection_ = nullptr;
  jsCtx* js_ = nullptr;
  std::string name_;
};
/// As large as the entry of one step.
std::string const entry(90, 'x');

timed client_one_by_one(int n) {
  client c;
  timed t = whole([&] {
    for (int i = 0; i != n; ++i) c.publish(entry);
    return std::uint64_t{0};
  });
  t.answer = c.entries();
  return t;
}
timed client_together(int n) {
  client c;
  timed t = whole([&] {
    for (int i = 0; i != n; ++i) c.publish_later(entry);
    c.wait_for_all();
    return std::uint64_t{0};
  });
  t.answer = c.entries();
  return t;
}

// ---- workers

/// This program, as a worker of the store.
class worker {
 public:
  worker(std::string const& name, std::string const& until) {
    std::string url = server().url();
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::string flag = "--work";
    std::string store = name;
    std::string ends = until;
    std::array<char*, 6> args{self.data(),  flag.data(), url.data(),
                              store.data(), ends.data(), nullptr};
    execv(self.c_str(), args.data());
    _exit(127);
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker() { end(SIGKILL); }
  void end(int signal) {
    if (pid_ <= 0) return;
    if (signal) ::kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};
int work(std::string url, std::string name, std::string_view until) {
  auto store = store_named(std::move(name), std::move(url));
  durable::engine e(
      {.until = until == "all_ended" ? durable::run_until::all_ended : durable::run_until::stopped},
      store, steps_process, marks_process);
  schedule([&] { return e.run(); });
  return 0;
}

timed shared_steps(int workers, int processes, int each) {
  std::string const name = fresh_name();
  auto store = store_named(name);
  durable::engine e(store, steps_process, marks_process);
  for (int i = 0; i != processes; ++i) e.start(std::to_string(i), steps_process, each);
  timed t = whole([&] {
    std::vector<std::unique_ptr<worker>> all;
    for (int i = 0; i != workers; ++i) all.push_back(std::make_unique<worker>(name, "all_ended"));
    for (auto& w : all) w->end(0);
    return std::uint64_t{0};
  });
  t.answer = weft::bench::sum_of_results(e, processes);
  return t;
}

double failover() {
  weft::tests::own_directory folder;
  std::string const path = folder.file("marks");
  setenv("WEFT_MARKS", path.c_str(), 1);
  auto const marked = [&] {
    std::error_code none;
    auto const n = std::filesystem::file_size(path, none);
    return none ? 0 : n;
  };
  std::string const name = fresh_name();
  auto store = store_named(name);
  durable::engine e(store, steps_process, marks_process);
  worker first(name, "stopped");
  e.start("p", marks_process, 1'000'000);
  while (marked() < 10) std::this_thread::sleep_for(1ms);
  worker second(name, "stopped");
  while (store.workers().size() < 2) std::this_thread::sleep_for(1ms);
  first.end(SIGKILL);
  auto const before = marked();
  auto const begin = std::chrono::steady_clock::now();
  while (marked() == before) std::this_thread::sleep_for(1ms);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--work") return work(argv[2], argv[3], argv[4]);
  weft::bench::suite bench("cluster", argc, argv);
  int const each = bench.is_quick() ? 3 : 2'000;
  bench.compare_runs(
      "append/1", [=] { return steps_on_a_server(1, each); }, "nats client",
      [=] { return client_one_by_one(each); }, static_cast<std::size_t>(each));
  int const processes = bench.is_quick() ? 10 : 1'000;
  int const many = bench.is_quick() ? 2 : 20;
  auto const all = static_cast<std::size_t>(processes) * static_cast<std::size_t>(many);
  bench.compare_rate_runs(
      "append/1000", [=] { return steps_on_a_server(processes, many); }, "nats client",
      [=] { return client_together(static_cast<int>(all)); }, all);
  bench.measure_rate_runs("workers/1", [=] { return shared_steps(1, processes, many); }, all, all);
  for (int const workers : {2, 4})
    bench.compare_rate_runs(
        "workers/" + std::to_string(workers),
        [=] { return shared_steps(workers, processes, many); }, "one worker",
        [=] { return shared_steps(1, processes, many); }, all);
  std::array<double, 3> times{};
  for (auto& t : times) t = failover();
  std::ranges::sort(times);
  bench.report("failover", times[1], "ms", "lease",
               std::chrono::duration<double, std::milli>(lease).count());
  return bench.run();
}
