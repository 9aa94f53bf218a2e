// SPDX-License-Identifier: MIT
#include "tests/durable/tool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/durable/support.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/sqlite_store.hpp"

/// tools/weft-durable, on a store of three processes: one that has ended, one that waits, one that
/// is quarantined.

class tool {
 public:
  tool() {
    durable::sqlite_store s(file());
    make_three_processes(s);
  }
  [[nodiscard]] std::string file() const { return folder_.file("store.db"); }

  /// The exit status, and all that it prints; its stderr may be led elsewhere.
  std::pair<int, std::string> run(std::string const& words,
                                  std::string const& errors = "2>&1") const {
    return run_tool(file() + " " + words, {}, errors);
  }
  std::string good(std::string const& words) const {
    auto const [status, text] = run(words);
    CHECK(status == 0);
    return text;
  }

 private:
  own_directory folder_;
};

TEST_CASE("weft-durable lists and shows processes") {
  tool const t;
  CHECK_THAT(t.good("list"),
             Contains("ended  greets 1  completed  \"hello Ada 2\"\n") &&
                 Contains("waits  greets 1  waiting\n") &&
                 Contains("torn  greets 1  quarantined  weft: torn no longer fits its log"));
  CHECK_THAT(t.good("list --json"),
             Contains(R"({"id":"ended","function":"greets","version":1,"status":"completed",)"));
  CHECK_THAT(t.good("show waits"), Contains("arguments: [\"Bob\"]") &&
                                       Contains("published: \"greeting\"") &&
                                       Contains("status: waiting") && Contains("last: step count"));
  CHECK_THAT(t.good("show ended --json"), Contains(R"("result":"hello Ada 2")"));
}

TEST_CASE("weft-durable prints histories") {
  tool const t;
  CHECK(t.good("history waits") == "0  publish  null\n1  step count  [0,2]\n");
  CHECK_THAT(t.good("history waits --json"),
             Contains(R"({"position":1,"operation":"step count","answer":[0,2]})"));
  std::string const page = t.file() + ".html";
  (void)t.good("history ended --html=" + page);
  std::unique_ptr<FILE, int (*)(FILE*)> const in(std::fopen(page.c_str(), "r"), std::fclose);
  REQUIRE(in);
  std::array<char, 15> begin{};
  CHECK(std::fread(begin.data(), 1, begin.size(), in.get()) == begin.size());
  CHECK(std::string(begin.data(), begin.size()) == "<!doctype html>");
}

/// A terminal, to which a program may write a little.
class terminal {
 public:
  terminal() : ours_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (ours_ < 0 || grantpt(ours_) != 0 || unlockpt(ours_) != 0) FAIL("no terminal");
    name_ = ptsname(ours_);
    theirs_ = open(name_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // keeps what is written
    if (theirs_ < 0) FAIL("no terminal " + name_);
  }
  terminal(terminal const&) = delete;
  terminal& operator=(terminal const&) = delete;
  ~terminal() {
    close(theirs_);
    close(ours_);
  }
  [[nodiscard]] std::string const& name() const { return name_; }
  /// The text that programs have written since the last call.
  [[nodiscard]] std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    for (pollfd p{ours_, POLLIN, 0}; poll(&p, 1, 0) == 1;) {
      ssize_t const n = read(ours_, part.data(), part.size());
      if (n <= 0) break;
      all.append(part.data(), static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  int ours_;
  int theirs_ = -1;
  std::string name_;
};

TEST_CASE("weft-durable says how far it is if it is asked to, or on a terminal after a while") {
  tool const t;
  std::string const page = t.file() + ".html";
  std::string const saved = t.file() + ".list";
  SECTION("it says nothing elsewhere") {
    CHECK(t.run("list", "2>&1 >" + saved) == std::pair(0, std::string()));
    CHECK(t.run("history ended --html=" + page) == std::pair(0, std::string()));
  }
  SECTION("it writes lines elsewhere if it is asked to") {
    CHECK(t.run("list --progress", "2>&1 >" + saved).second == "weft-durable: 3 processes\n");
    CHECK(t.good("history waits --progress --html=" + page) ==
          "weft-durable: reading 2 entries\nweft-durable: writing " + page + "\n");
  }
  SECTION("on a terminal it rewrites one line, and clears it in the end") {
    terminal const screen;
    std::string const errors = "2> " + screen.name();
    CHECK(t.run("history waits --progress --html=" + page, errors).second.empty());
    CHECK(screen.text() == "\rweft-durable: reading 2 entries\x1b[K\rweft-durable: writing " +
                               page + "\x1b[K\r\x1b[K");
    CHECK(t.run("show nobody", errors).first == 1);
    CHECK(screen.text() == "weft: the store has no process nobody\r\n");
  }
}

TEST_CASE("weft-durable sends, cancels and resumes") {
  tool const t;
  noted_world w;
  (void)t.good("send waits string Hi");
  (void)t.good("resume torn");
  {
    durable::sqlite_store s(t.file());
    durable::engine e(until_idle(), s, greets_process);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
    CHECK(e.result<std::string>("waits") == "Hi Bob 2");
    CHECK(e.result<std::string>("torn") == "hello Eve 2");
    e.start("last", greets_process, "Zoe");
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  }
  (void)t.good("cancel last");
  durable::sqlite_store s(t.file());
  durable::engine e(until_idle(), s, greets_process);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.find("last")->status == durable::process_status::cancelled);
}

TEST_CASE("weft-durable says what is wrong") {
  tool const t;
  CHECK(t.run("show nobody") ==
        std::pair(1, std::string("weft: the store has no process nobody\n")));
  CHECK(t.run("resume ended").first == 1);
  CHECK(t.run("cancel nobody").first == 1);
  auto const [status, usage] = t.run("dance");
  CHECK(status == 2);
  CHECK_THAT(usage, Contains("subcommand") && Contains("--help"));
  CHECK(t.run("show").first == 2);
  CHECK(t.run("history ended --json --html=page.html").first == 2);
}

TEST_CASE("weft-durable says how it is used") {
  tool const t;
  CHECK_THAT(t.good("--help"), Contains("list") && Contains("history") && Contains("--creds") &&
                                   Contains("NATS_PASSWORD"));
  CHECK_THAT(t.good("send --help"), Contains("ID") && Contains("TYPE") && Contains("VALUE"));
}

TEST_CASE("weft-durable prints each process as an object of JSON") {
  tool const t;
  std::istringstream lines(t.good("list --json"));
  std::set<std::string> ids;
  for (std::string line; std::getline(lines, line);)
    ids.insert(nlohmann::json::parse(line).at("id").get<std::string>());
  CHECK(ids == std::set<std::string>{"ended", "torn", "waits"});
}
