// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/01_an_effect_of_your_own/solutions.hpp"
#else
#include "docs/exercises/01_an_effect_of_your_own/exercises.hpp"
#endif

namespace an_effect_of_your_own {
namespace {

using strings = std::vector<std::string>;

eff<std::vector<int>, dice> rolls(int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(co_await dice::roll{});
  co_return all;
}

struct login {
  bool is_in;
  std::size_t asked;
};
login log_in_with(strings const& given, int attempts) {
  std::size_t asked = 0;
  auto const user = with<password>(clauses{[&](password::ask) { return given.at(asked++); }});
  auto const policy =
      with<retry>(clauses{[attempts](retry::again a) { return a.attempt < attempts; }});
  bool const is_in = run(handle(user | policy, log_in("tulip")));
  return {is_in, asked};
}

// Is silent `failures` times, and then answers with the URL.
class slow_web : public handler<web> {
 public:
  explicit slow_web(int failures) : failures_(failures) {}

  text on(web::get const& g) {
    ++requests;
    return failures_-- > 0 ? std::nullopt : text("page " + g.url);
  }

  int requests = 0;

 private:
  int failures_;
};

eff<strings, web> read_all(strings urls) {
  strings pages;
  for (std::string const& url : urls) {
    text const page = co_await web::get(url);
    pages.push_back(page.value_or("nothing"));
  }
  co_return pages;
}

// Each step is a key to find, or "key=value" to keep.  Returns what was found, "-" for nothing.
eff<std::string, cache> steps(strings all) {
  std::string found;
  for (std::string const& step : all) {
    std::size_t const sign = step.find('=');
    if (sign != std::string::npos) {
      co_await cache::keep(step.substr(0, sign), step.substr(sign + 1));
    } else {
      text const value = co_await cache::find(step);
      found += value.value_or("-");
    }
  }
  co_return found;
}
std::string found_in(std::size_t size, strings all) {
  return run(handle(small_cache(size), steps(std::move(all))));
}

TEST_CASE("1: loaded dice roll the numbers of their list in turn", "[1]") {
  CHECK(run(handle(loaded_dice({6, 1, 4}), rolls(7))) == std::vector{6, 1, 4, 6, 1, 4, 6});
  CHECK(run(handle(loaded_dice({3}), rolls(2))) == std::vector{3, 3});
}

TEST_CASE("2: a login asks until the password is right or the policy ends it", "[2]") {
  login const at_once = log_in_with({"tulip"}, 3);
  CHECK(at_once.is_in);
  CHECK(at_once.asked == 1);
  login const at_last = log_in_with({"rose", "aster", "tulip"}, 3);
  CHECK(at_last.is_in);
  CHECK(at_last.asked == 3);
  login const too_late = log_in_with({"rose", "aster", "tulip"}, 2);
  CHECK(!too_late.is_in);
  CHECK(too_late.asked == 2);
}

TEST_CASE("3: a request is passed on until there is an answer", "[3]") {
  slow_web slow(2);
  CHECK(run(handle(retried(3) | slow, read_all({"/a", "/b"}))) == strings{"page /a", "page /b"});
  CHECK(slow.requests == 4);
  slow_web slower(4);
  CHECK(run(handle(retried(3) | slower, read_all({"/a", "/b"}))) == strings{"nothing", "page /b"});
  CHECK(slower.requests == 5);
}

TEST_CASE("4: each request that the server gets is noted once", "[4]") {
  strings notes;
  slow_web server(0);
  auto const notebook =
      with<journal>(clauses{[&notes](journal::note const& n) { notes.push_back(n.line); }});
  run(handle(stack() | notebook | server, read_all({"/a#1", "/b", "/a#2", "/b", "/a"})));
  CHECK(server.requests == 2);
  CHECK(notes == strings{"/a", "/b"});
}

TEST_CASE("5: a small cache forgets the text that was not used for the longest time", "[5]") {
  CHECK(found_in(2, {"a", "a=1", "b=2", "a", "b"}) == "-12");
  CHECK(found_in(2, {"a=1", "b=2", "c=3", "a", "b", "c"}) == "-23");
  CHECK(found_in(2, {"a=1", "b=2", "a", "c=3", "a", "b", "c"}) == "11-3");
  CHECK(found_in(2, {"a=1", "b=2", "a=3", "c=4", "a", "b", "c"}) == "3-4");
  CHECK(found_in(1, {"a=1", "a=2", "a", "b=3", "a", "b"}) == "2-3");
}

}  // namespace
}  // namespace an_effect_of_your_own
