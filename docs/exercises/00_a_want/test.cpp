// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/00_a_want/solutions.hpp"
#else
#include "docs/exercises/00_a_want/exercises.hpp"
#endif

namespace a_want {
namespace {

eff<std::string, wall_clock> four_hours() {
  std::string hours;
  for (int i = 0; i < 4; ++i) hours += std::to_string(co_await wall_clock::hour{}) + " ";
  co_return hours;
}

struct long_streets : handler<road_map> {
  int on(road_map::distance const& d) const { return static_cast<int>(d.to.size()); }
};

int fare(std::string const& street, bool is_rainy) {
  auto const sky = clauses{[is_rainy](weather::is_rainy) { return is_rainy; }};
  return run(handle(long_streets() | with<weather>(sky), fare_in_rain(street)));
}

eff<std::string, road_map> line_about(std::string street, int& lines) {
  int const km = co_await road_map::distance(street);
  ++lines;
  co_return street + " " + std::to_string(km);
}

// Knows the distance 1, 2, ... of any street, and fails at every third request.
class map_with_gaps : public handler<road_map> {
 public:
  int on(road_map::distance const&) {
    if (++requests_ % 3 == 0) throw std::runtime_error("the map does not answer");
    return requests_;
  }

 private:
  int requests_ = 0;
};

eff<std::string, road_map> all_of(std::string streets) {
  std::string text;
  for (char const street : streets)
    text += std::to_string(co_await road_map::distance(std::string(1, street))) + " ";
  co_return text;
}

std::string remembered(std::string const& streets) {
  return run(handle(remembering() | map_with_gaps(), all_of(streets)));
}

TEST_CASE("1: a ticking clock goes on by an hour with each request", "[1]") {
  CHECK(run(handle(ticking_clock(9), four_hours())) == "9 10 11 12 ");
  CHECK(run(handle(ticking_clock(22), four_hours())) == "22 23 0 1 ");
}

TEST_CASE("2: a ride in the rain costs five more", "[2]") {
  CHECK(fare("Mill Lane", false) == 18);
  CHECK(fare("Mill Lane", true) == 23);
  CHECK(fare("Quay", true) == 13);
}

TEST_CASE("3: the answer of a clause that resumes and adds a mark is predicted", "[3]") {
  CHECK(answer_of_marked() == run(handle(marked(), two_streets())));
}

TEST_CASE("4: a handler without a map answers for the whole computation", "[4]") {
  int lines = 0;
  CHECK(run(handle(no_map(), line_about("Quay", lines))) == "please call us about Quay");
  CHECK(run(handle(no_map(), line_about("Mill Lane", lines))) == "please call us about Mill Lane");
  CHECK(lines == 0);
}

TEST_CASE("5: a handler remembers the distances of a map that fails", "[5]") {
  CHECK(remembered("ab") == "1 2 ");
  CHECK(remembered("aba") == "1 2 1 ");
  CHECK(remembered("aaa") == "1 2 2 ");
  CHECK(remembered("abbab") == "1 2 2 4 5 ");
  CHECK(remembered("abc") == "please call us about c");
}

}  // namespace
}  // namespace a_want
