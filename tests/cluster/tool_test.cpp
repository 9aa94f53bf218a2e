// SPDX-License-Identifier: MIT
#include "tests/durable/tool.hpp"

#include "tests/cluster/servers.hpp"
#include "tests/prelude.hpp"
#include "weft/cluster/nats_store.hpp"
#include "weft/durable/engine.hpp"

cluster::nats_store hall_at(std::string const& url) {
  return cluster::nats_store({.url = url}, {.name = "hall"});
}
void make_three_processes(std::string const& url) {
  auto s = hall_at(url);
  weft::tests::make_three_processes(s);
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
  CHECK(good(store + "history waits") == "0  publish  null\n1  step count  [0,2]\n");
}

void run_until_idle(std::string const& url) {
  auto s = hall_at(url);
  weft::tests::run_until_idle(s, greets_process);
}

TEST_CASE("weft-durable sends, cancels and resumes on a server") {
  nats_server const server;
  std::string const store = server.url() + "/hall ";
  make_three_processes(server.url());
  (void)good(store + "send waits string Hi");
  (void)good(store + "resume torn");
  run_until_idle(server.url());
  CHECK_THAT(good(store + "list"), Contains("waits  greets 1  completed  \"Hi Bob 2\"\n") &&
                                       Contains("torn  greets 1  completed  \"hello Eve 2\"\n"));
  {
    auto s = hall_at(server.url());
    durable::engine(s, greets_process).start("last", greets_process, "Zoe");
  }
  run_until_idle(server.url());
  (void)good(store + "cancel last");
  run_until_idle(server.url());
  CHECK_THAT(good(store + "show last"), Contains("status: cancelled"));
}

TEST_CASE("weft-durable lists the workers of a store, and how many processes each has") {
  nats_server const server;
  std::string const store = server.url() + "/hall ";
  auto s = hall_at(server.url());
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

/// tools/weft-durable, on a store on a server: of the same processes as in tests/durable/tool_test.cpp.
using Catch::Matchers::StartsWith;

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
        std::pair(1, "weft: the store hall at " + server.url() +
                         " cannot be reached: the file nowhere cannot be read\n"));
}
