// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/00_a_want.md.

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"

namespace a_want {

using namespace weft;

struct wall_clock {
  struct [[nodiscard]] hour : op<int> {};  // the hour of the day, 0 to 23
  using operations = op_list<hour>;
};

struct road_map {
  struct [[nodiscard]] distance : op<int> {  // in kilometres
    explicit distance(std::string street) : to(std::move(street)) {}
    std::string to;
  };
  using operations = op_list<distance>;
};

struct weather {
  struct [[nodiscard]] is_rainy : op<bool> {};
  using operations = op_list<is_rainy>;
};

// Exercise 1 (*): the first answer is the hour of the constructor, each further one an hour later;
// after 23 comes 0.
class ticking_clock : public handler<wall_clock> {
 public:
  explicit ticking_clock(int hour) : hour_(hour) {}

  int on(wall_clock::hour) { return std::exchange(hour_, (hour_ + 1) % 24); }

 private:
  int hour_;
};

// Exercise 2 (*): a kilometre costs 2, and a ride in the rain costs 5 more.
inline eff<int, road_map, weather> fare_in_rain(std::string street) {
  int const km = co_await road_map::distance(street);
  bool const is_rainy = co_await weather::is_rainy{};
  co_return 2 * km + (is_rainy ? 5 : 0);
}

// Exercise 3 (**): what does two_streets() return under marked?  Write it down before you run it.
struct marked : handler<road_map> {
  eff<std::string> on(road_map::distance d, resumption<int, std::string> k) {
    int const km = d.to == "Mill Lane" ? 7 : 4;
    std::string const rest = co_await std::move(k)(km);
    co_return rest + "!";
  }
};
inline eff<std::string, road_map> two_streets() {
  int const first = co_await road_map::distance("Harbour Street");
  int const second = co_await road_map::distance("Mill Lane");
  co_return std::to_string(first) + " and " + std::to_string(second);
}
inline std::string answer_of_marked() { return "4 and 7!!"; }

// Exercise 4 (**): answers with "please call us about " and the street.  The rest of the computation
// does not run.
struct no_map : handler<road_map> {
  std::string on(road_map::distance d, resumption<int, std::string>) {
    return "please call us about " + d.to;
  }
};

// Exercise 5 (***): asks the map outside.  If it throws, resumes with the last distance that the map
// gave for this street; if there was none, answers like no_map.
class remembering : public handler<road_map> {
 public:
  eff<std::string, road_map> on(road_map::distance d, resumption<int, std::string> k) {
    std::optional<int> km;
    try {
      km = co_await d;
      known_[d.to] = *km;
    } catch (std::runtime_error const&) {
      if (known_.contains(d.to)) km = known_[d.to];
    }
    if (!km) co_return "please call us about " + d.to;
    co_return co_await std::move(k)(*km);
  }

 private:
  std::map<std::string, int> known_;
};

}  // namespace a_want
