// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/law_programs.hpp"

/// The law programs of the scheduler's tests in other orders: small ones in every order, larger
/// ones in random orders.

everything says_two_bits() { return says_bits(2); }
using words = std::vector<std::string>;

struct law {
  char const* name;
  everything (*program)();
  words says;  // sorted
};
law const small_ones[] = {
    {"nested forks", nested_forks, {"a", "b", "c", "d", "d", "e", "f", "f", "f"}},
    {"locals are copied", copies_its_locals, {"1", "10"}},
    {"two forks in a row", says_two_bits, {"00", "01", "10", "11"}},
    {"children of children", has_grandchildren, {"child", "grandchild", "parent"}},
    {"spawned once", spawns_before_it_forks, {"child", "end", "end", "end", "end", "other"}},
    {"spawned in vain", spawns_in_vain, {"2", "2"}},
};

words words_of(std::string const& text) {
  std::istringstream in(text);
  words all;
  for (std::string w; in >> w;) all.push_back(w);
  std::ranges::sort(all);
  return all;
}

TEST_CASE("small programs print the same words in every order") {
  for (auto const& l : small_ones) {
    every_frame_dies const check;
    auto const found =
        explore([] { return std::string(); }, [&l](std::string&) { return l.program(); },
                [&l](std::string const& said) { return words_of(said) == l.says; },
                [](std::string& said) { return console_to_string(said); });
    INFO(l.name << '\n' << found.report());
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules > 1);
  }
}

everything says_four_bits() { return says_bits(4); }

law const larger_ones[] = {
    {"four forks in a row",
     says_four_bits,
     {"0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111",  //
      "1000", "1001", "1010", "1011", "1100", "1101", "1110", "1111"}},
    {"forks, yields and exits",
     talks,
     {"0", "0", "1", "1", "2", "3", "end0", "end1", "end3", "s0", "s1", "s2"}},
};

TEST_CASE("larger programs print the same words in random orders") {
  for (auto const& l : larger_ones)
    for (std::uint64_t seed = 0; seed != 50; ++seed) {
      INFO(l.name << ", seed " << seed);
      every_frame_dies const check;
      std::string said;
      schedule<random_order>({.seed = seed}, l.program, console_to_string(said));
      CHECK(words_of(said) == l.says);
    }
}
