// SPDX-License-Identifier: MIT
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/cluster/servers.hpp"
#include "tests/durable/support.hpp"
#include "weft/cluster/nats_store.hpp"
#include "weft/durable/engine.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// tools/weft-durable, on a store on a server: of the same processes as in tests/durable/tool_test.cpp.
using namespace weft;
using namespace weft::tests;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using row = durable::all<world>;

eff<std::string, row> greets(std::string whom) {
  int const n = co_await durable::step("count", act, "count", 2);
  auto const word = co_await durable::receive<std::string>();
  co_return word.message + " " + whom + " " + std::to_string(n);
}
constexpr durable::function greets_process{"greets", 1, greets};
eff<std::string, row> greets_otherwise(std::string whom) {
  co_return whom + std::to_string(co_await durable::step("other", act, "other", 1));
}

cluster::nats_store_options at(std::string const& url) { return {.url = url, .name = "hall"}; }

/// Runs what is ready, once.
template <class F>
void run_until_idle(std::string const& url, F f) {
  noted_world w;
  cluster::nats_store s(at(url));
  durable::engine e(until_idle(), s, f);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
}

/// One process that has ended, one that waits, one that is quarantined.
void make_three_processes(std::string const& url) {
  {
    cluster::nats_store s(at(url));
    durable::engine e(s, greets_process);
    e.start("ended", greets_process, "Ada");
    e.send("ended", std::string("hello"));
    e.start("waits", greets_process, "Bob");
    e.start("torn", greets_process, "Eve");
  }
  run_until_idle(url, greets_process);
  {
    cluster::nats_store s(at(url));
    durable::engine(s, greets_process).send("torn", std::string("hello"));
  }
  run_until_idle(url, durable::function{"greets", 1, greets_otherwise});
}

/// The exit status of the tool, and all that it prints.
std::pair<int, std::string> run_tool(std::string const& words, std::string const& before = {}) {
  std::string const command = before + " tools/weft-durable " + words + " 2>&1";
  FILE* const out = popen(command.c_str(), "r");
  if (!out) throw std::runtime_error("no process for the tool");
  std::string text;
  std::array<char, 4096> part{};
  while (std::size_t const n = fread(part.data(), 1, part.size(), out)) text.append(part.data(), n);
  int const status = pclose(out);
  return {WEXITSTATUS(status), text};
}
std::string good(std::string const& words, std::string const& before = {}) {
  auto const [status, text] = run_tool(words, before);
  CHECK(status == 0);
  return text;
}

TEST_CASE("weft-durable shows a store on a server") {
  nats_server const server;
  std::string const store = server.url() + "/hall ";
  make_three_processes(server.url());
  CHECK_THAT(good(store + "list"),
             Contains("ended  greets 1  completed  \"hello Ada 2\"\n") &&
                 Contains("waits  greets 1  waiting\n") &&
                 Contains("torn  greets 1  quarantined  weft: torn no longer fits its log"));
  CHECK_THAT(good(store + "show waits"),
             Contains("arguments: [\"Bob\"]") && Contains("last: step count"));
  CHECK(good(store + "history waits") == "0  step count  [0,2]\n");
}

TEST_CASE("weft-durable sends, cancels and resumes on a server") {
  nats_server const server;
  std::string const store = server.url() + "/hall ";
  make_three_processes(server.url());
  (void)good(store + "send waits string Hi");
  (void)good(store + "resume torn");
  run_until_idle(server.url(), greets_process);
  CHECK_THAT(good(store + "list"), Contains("waits  greets 1  completed  \"Hi Bob 2\"\n") &&
                                       Contains("torn  greets 1  completed  \"hello Eve 2\"\n"));
  {
    cluster::nats_store s(at(server.url()));
    durable::engine(s, greets_process).start("last", greets_process, "Zoe");
  }
  run_until_idle(server.url(), greets_process);
  (void)good(store + "cancel last");
  run_until_idle(server.url(), greets_process);
  CHECK_THAT(good(store + "show last"), Contains("status: cancelled"));
}

TEST_CASE("weft-durable lists the workers of a store, and how many processes each has") {
  nats_server const server;
  std::string const store = server.url() + "/hall ";
  cluster::nats_store s(at(server.url()));
  durable::engine(s, greets_process).start("one", greets_process, "Ada");
  CHECK(good(store + "workers").empty());
  s.join("anna", [] {});
  REQUIRE(s.claim(10).size() == 1);
  CHECK(good(store + "workers") == "anna  1\n");
  CHECK(good(store + "workers --json") == "{\"name\":\"anna\",\"processes\":1}\n");
  s.leave();
  CHECK(good(store + "workers").empty());
}

TEST_CASE("weft-durable logs in, and names no password") {
  nats_server const server({"--user", "ada", "--pass", "lovelace"});
  std::string const address = server.url().substr(std::string("nats://").size());
  make_three_processes("nats://ada:lovelace@" + address);
  CHECK_THAT(good("nats://ada:lovelace@" + address + "/hall list"), Contains("waits  greets 1"));
  CHECK_THAT(good("nats://" + address + "/hall list", "NATS_USER=ada NATS_PASSWORD=lovelace"),
             Contains("waits  greets 1"));
  CHECK(run_tool("nats://ada:byron@" + address + "/hall list") ==
        std::pair(1, "weft: the store hall at nats://" + address +
                         " cannot be reached: the server does not accept this user and "
                         "password, token or credentials\n"));
}

TEST_CASE("weft-durable says what is wrong with a store on a server") {
  nats_server const server;
  auto const [status, text] = run_tool(server.url() + "/hall list");
  CHECK(status == 1);
  CHECK_THAT(text, StartsWith("weft: the store hall at " + server.url() + " cannot be opened"));
  make_three_processes(server.url());
  CHECK(run_tool(server.url() + "/hall show nobody") ==
        std::pair(1, std::string("weft: the store has no process nobody\n")));
  CHECK(run_tool(server.url() + "/hall dance").first == 2);
  CHECK(run_tool(server.url() + "/hall list --creds=nowhere") ==
        std::pair(1, std::string("weft: the file nowhere cannot be read\n")));
}

}  // namespace
