// SPDX-License-Identifier: MIT
#include "weft/testing/detail/reused.hpp"

#include "tests/prelude.hpp"

TEST_CASE("an element that was popped comes back with its memory") {
  detail::reused_stack<std::vector<int>> all;
  all.push().assign(100, 7);
  int const* const memory = all.back().data();
  all.pop();
  CHECK(all.empty());
  all.push().clear();
  CHECK(all.back().capacity() >= 100);
  all.back().push_back(1);
  CHECK(all.back().data() == memory);
  all.push();
  CHECK(all.size() == 2);
  all.clear();
  CHECK(all.empty());
}

TEST_CASE("a word table holds what a map holds, and forgets all at once") {
  seeds(30).for_each([](unsigned seed) {
    dice d(seed);
    detail::word_table<unsigned> table;
    for (int round = 0; round != 5; ++round) {
      std::map<std::uint64_t, unsigned> model;
      for (unsigned i = 0; i != 200; ++i) {
        std::uint64_t const word = std::uint64_t{d(50)} << d(60);
        auto const [value, is_new] = table.enter(word, i);
        CHECK(is_new == model.try_emplace(word, i).second);
        CHECK(value == model.at(word));
        if (d(2) == 0) value = model.at(word) = 1000 + i;
        std::uint64_t const other = std::uint64_t{d(50)} << d(60);
        unsigned const* const found = table.find(other);
        auto const it = model.find(other);
        CHECK((found != nullptr) == (it != model.end()));
        if (found && it != model.end()) CHECK(*found == it->second);
      }
      table.clear();
      for (auto const& [word, value] : model) CHECK(table.find(word) == nullptr);
    }
  });
}
