// SPDX-License-Identifier: MIT

/// A crawler that is killed, and goes on: no page is fetched again whose text was stored.
///
/// The crawler runs in a child process of the system, which kills itself, with SIGKILL, in the
/// middle of its work, twice.  Each time another one is started on the same file.  A page that
/// was being fetched when its program was killed is fetched again: a step runs at least once.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <weft/durable/engine.hpp>
#include <weft/durable/sqlite_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

// ---- a small web

struct web {
  struct [[nodiscard]] fetch : op<std::vector<std::string>> {
    explicit fetch(std::string p) : page(std::move(p)) {}
    std::string page;
  };
  using operations = op_list<fetch>;
};
/// Answers with the links of a page; kills its process at a page.
struct small_web : handler<web> {
  explicit small_web(std::string page) : deadly(std::move(page)) {}
  std::vector<std::string> on(web::fetch const& f) const {
    std::printf("fetch %s\n", f.page.c_str());
    std::fflush(stdout);
    if (f.page == deadly) raise(SIGKILL);
    static std::map<std::string, std::vector<std::string>> const links{
        {"/", {"/book", "/code"}},
        {"/book", {"/book/1", "/book/2"}},
        {"/code", {"/", "/book"}},
        {"/book/1", {"/book/2"}},
        {"/book/2", {"/code"}}};
    return links.at(f.page);
  }
  std::string deadly;
};
eff<std::vector<std::string>, web> links_of(std::string const& page) {
  co_return co_await web::fetch(page);
}

// ---- the process

eff<int, durable::all<web>> crawl(std::string from) {
  std::deque<std::string> next{from};
  std::set<std::string> seen{from};
  while (!next.empty()) {
    std::string const page = next.front();
    next.pop_front();
    for (auto const& link : co_await durable::step("fetch", links_of, page))
      if (seen.insert(link).second) next.push_back(link);
  }
  co_return static_cast<int>(seen.size());
}
constexpr durable::function crawl_process{"crawl", 1, crawl};

// ---- the children

/// In a process of its own; whether it came to its end.
bool run_once(std::string const& file, std::string const& deadly) {
  pid_t const child = fork();
  if (child == 0) {
    durable::sqlite_store store(file);
    durable::engine e({.until = durable::run_until::all_ended}, store, crawl_process);
    e.start("crawl", crawl_process, "/");
    schedule([&] { return e.run(); }, small_web(deadly));
    std::printf("%d pages\n", e.result<int>("crawl"));
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status);
}

int main() {
  auto const folder = std::filesystem::temp_directory_path() / "weft_example_crawler";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  for (std::string const deadly : {"/book", "/book/2", "none"}) {
    if (!run_once(folder / "crawl.db", deadly)) std::printf("-- killed\n");
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
}
