// SPDX-License-Identifier: MIT

/// Orders on three workers, of which one is killed.
///
/// The program starts a server of NATS and three workers: itself, with arguments.  The workers share the
/// orders through the server: each order is run by one of them, and goes on where its log ends.  A
/// ledger has each step of an order that was done, by its key.
///
/// In the middle of the work one worker gets SIGKILL.  It is not heard of for its lease, a second;
/// then the others say that it is dead, and claim its orders.  A step that it was in is done again,
/// with the same key; no step is missing, and each message arrives once.
///
/// In the end the other workers get SIGTERM, as from a service manager: each lets its processes come to
/// where they wait, and leaves the store.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/cluster/nats_store.hpp>
#include <weft/durable/engine.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

// ---- the outside: a ledger, which takes its time

struct ledger {
  struct [[nodiscard]] note : op<void> {
    explicit note(std::string k) : key(std::move(k)) {}
    std::string key;
  };
  using operations = op_list<note>;
};
/// Writes a line for each step: which worker did it, and its key.
struct ledger_file : handler<ledger> {
  ledger_file(fs::path const& path, std::string w)
      : file(path, std::ios::app), worker(std::move(w)) {}
  void on(ledger::note const& n) {
    std::this_thread::sleep_for(10ms);
    file << worker + " " + n.key + "\n" << std::flush;
  }
  std::ofstream file;
  std::string worker;
};
eff<void, ledger> note(durable::idempotency_key const& key) { co_await ledger::note(key.text); }

// ---- the processes

constexpr int orders = 60;

eff<void, durable::all<ledger>> order(int amount) {
  co_await durable::step("charge", note);
  co_await durable::step("pack", note);
  co_await durable::step("ship", note);
  co_await durable::send("till", amount);
}
constexpr durable::function order_process{"order", 1, order};

eff<int, durable::all<ledger>> till() {
  int sum = 0;
  for (int i = 0; i != orders; ++i) sum += (co_await durable::receive<int>()).message;
  co_return sum;
}
constexpr durable::function till_process{"till", 1, till};

// ---- a worker: a program of its own

/// The store of all programs.
cluster::nats_store_options const of_orders{.name = "orders", .sharing = {.lease = 1s}};

int work(std::string const& url, std::string const& name, fs::path const& path) {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);  // also in the threads that begin later
  cluster::nats_store store({.url = url}, of_orders);
  durable::engine e({.worker = name}, store, order_process, till_process);
  std::thread waits([&] {
    int which = 0;
    sigwait(&end, &which);
    e.stop();
  });
  // If the store fails, this throws, and the program ends: others go on after its lease.
  schedule([&] { return e.run(); }, ledger_file(path, name));
  waits.join();
  return 0;
}

// ---- other programs

/// A program, which does not outlive this one.
class program {
 public:
  explicit program(std::vector<std::string> words) {
    std::vector<char*> args;
    for (auto& w : words) args.push_back(w.data());
    args.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execvp(args[0], args.data());
    ::_exit(127);
  }
  program(program const&) = delete;
  program& operator=(program const&) = delete;
  ~program() { end(SIGKILL); }
  [[nodiscard]] pid_t id() const { return pid_; }
  /// Whether it ended with 0 after the signal.
  bool end(int signal) {
    if (pid_ <= 0) return false;
    int status = 0;
    ::kill(pid_, signal);
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t pid_ = 0;
};

/// A server of NATS on a free port.
class server {
 public:
  explicit server(fs::path const& folder)
      : program_({"nats-server", "-js", "-a", "127.0.0.1", "-p", "-1", "-sd", folder / "js", "-l",
                  folder / "log", "--ports_file_dir", folder}),
        ports_(folder / ("nats-server_" + std::to_string(program_.id()) + ".ports")) {}
  /// It writes a file with its addresses: {"nats":["nats://127.0.0.1:41627"]}.
  [[nodiscard]] std::string url() const {
    for (int tries = 0; tries != 1'000; ++tries) {
      std::string text;
      std::getline(std::ifstream(ports_), text, '\0');
      auto const begin = text.find("nats://");
      auto const end = text.find('"', begin);
      if (begin != std::string::npos && end != std::string::npos)
        return text.substr(begin, end - begin);
      std::this_thread::sleep_for(10ms);
    }
    throw std::runtime_error("nats-server does not run: is the package nats-server installed?");
  }

 private:
  program program_;
  fs::path ports_;
};

// ---- the one command

using lines = std::vector<std::pair<std::string, std::string>>;  // a worker, and a key
lines lines_of(fs::path const& path) {
  lines all;
  std::ifstream in(path);
  for (std::string worker, key; in >> worker >> key;) all.emplace_back(worker, key);
  return all;
}

void run_all(fs::path const& folder) {
  server const nats(folder);
  std::string const url = nats.url();
  fs::path const ledger = folder / "ledger";
  cluster::nats_store store({.url = url}, of_orders);
  durable::engine e(store, order_process, till_process);
  std::map<std::string, std::unique_ptr<program>> workers;
  for (std::string const name : {"anna", "bert", "carl"})
    workers[name] = std::make_unique<program>(
        std::vector<std::string>{fs::read_symlink("/proc/self/exe"), url, name, ledger});
  while (store.workers().size() != workers.size()) std::this_thread::sleep_for(10ms);

  e.start("till", till_process);
  for (int i = 0; i != orders; ++i) e.start("order/" + std::to_string(i), order_process, 100 + i);
  std::cout << orders << " orders are shared by " << workers.size() << " workers\n";

  while (lines_of(ledger).size() < orders / 2) std::this_thread::sleep_for(1ms);
  std::string const victim = lines_of(ledger).back().first;
  workers[victim]->end(SIGKILL);
  workers.erase(victim);
  for (auto const& w : store.workers())
    if (w.name == victim && w.processes != 0)
      std::cout << "one is killed in the middle of its work\n";

  std::cout << "in the till: " << e.result<int>("till") << '\n';
  std::set<std::string> keys;
  for (auto const& [worker, key] : lines_of(ledger)) keys.insert(key);
  std::cout << "steps that were done: " << keys.size() << " of " << 3 * orders << '\n';

  for (auto& [name, w] : workers)
    if (w->end(SIGTERM)) std::cout << "a worker has left\n";
  std::cout << "workers of the store: " << store.workers().size() << '\n';
}

int main(int argc, char** argv) {
  if (argc == 4) return work(argv[1], argv[2], argv[3]);
  // Packages put servers where a user's PATH does not lead.
  std::string const path = std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin";
  ::setenv("PATH", (path + ":/usr/local/sbin:/usr/sbin").c_str(), 1);
  std::string folder = fs::temp_directory_path() / "weft_example_XXXXXX";
  if (!::mkdtemp(folder.data())) throw std::runtime_error("no folder " + folder);
  run_all(folder);
  fs::remove_all(folder);
}
