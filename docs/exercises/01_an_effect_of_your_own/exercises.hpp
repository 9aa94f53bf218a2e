// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/01_an_effect_of_your_own.md.  Complete each function; its test says what it
// must do.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"

namespace an_effect_of_your_own {

using namespace weft;

using text = std::optional<std::string>;

struct dice {
  struct [[nodiscard]] roll : op<int> {};
  using operations = op_list<roll>;
};

struct password {
  struct [[nodiscard]] ask : op<std::string> {};
  using operations = op_list<ask>;
};

struct web {
  struct [[nodiscard]] get : op<text> {  // no text: the server does not answer
    [[nodiscard]] explicit get(std::string u) : url(std::move(u)) {}
    std::string url;
  };
  using operations = op_list<get>;
};

struct retry {
  struct [[nodiscard]] again : op<bool> {  // whether to try again after this attempt, 1 or more
    [[nodiscard]] explicit again(int a) : attempt(a) {}
    int attempt;
  };
  using operations = op_list<again>;
};

struct cache {
  struct [[nodiscard]] find : op<text> {  // no text: there is none for this key
    [[nodiscard]] explicit find(std::string k) : key(std::move(k)) {}
    std::string key;
  };
  struct [[nodiscard]] keep : op<void> {
    [[nodiscard]] keep(std::string k, std::string v) : key(std::move(k)), value(std::move(v)) {}
    std::string key, value;
  };
  using operations = op_list<find, keep>;
};

struct journal {
  struct [[nodiscard]] note : op<void> {
    [[nodiscard]] explicit note(std::string l) : line(std::move(l)) {}
    std::string line;
  };
  using operations = op_list<note>;
};

// Exercise 1 (*): answers with the numbers of the list, one after the other, and begins again at the
// end.  The list is not empty.
class loaded_dice : public handler<dice> {
 public:
  explicit loaded_dice(std::vector<int> numbers) : numbers_(std::move(numbers)) {}

  int on(dice::roll) { return numbers_.front(); }

 private:
  std::vector<int> numbers_;
};

// Exercise 2 (**): asks until the password is right, and returns true.  After each wrong password,
// asks whether to try again, and returns false if not.
inline eff<bool, password, retry> log_in(std::string right) {
  std::string const given = co_await password::ask{};
  co_return given == right;
}

// Exercise 3 (**): passes each request on, up to `attempts` times, until there is an answer.
class retried : public handler<web> {
 public:
  explicit retried(int attempts) : attempts_(attempts) {}

  text on(web::get const& g, outer<web> up) const { return attempts_ > 0 ? up(g) : std::nullopt; }

 private:
  int attempts_;
};

// Exercise 4 (**): one note for each request that the server gets; URLs that differ in their
// fragments are one page.
struct shortened : handler<web> {
  text on(web::get const& g, outer<web> up) const {
    return up(web::get(g.url.substr(0, g.url.find('#'))));
  }
};
class cached : public handler<web> {
 public:
  text on(web::get const& g, outer<web> up) {
    text& page = pages_[g.url];
    if (!page) page = up(g);
    return page;
  }

 private:
  std::map<std::string, text> pages_;
};
struct noted : handler<web> {
  text on(web::get const& g, outer<web, journal> up) const {
    up(journal::note(g.url));
    return up(g);
  }
};
inline auto stack() { return cached() | noted() | shortened(); }

// Exercise 5 (***): keeps `size` texts at most, 1 or more.  If there is no room, forgets the text
// that was neither kept nor found for the longest time.
class small_cache : public handler<cache> {
 public:
  explicit small_cache(std::size_t size) : size_(size) {}

  text on(cache::find const&) { return std::nullopt; }
  void on(cache::keep) {}

  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
};

}  // namespace an_effect_of_your_own
