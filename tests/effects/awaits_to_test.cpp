// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// effects/awaits_to.hpp.

struct ask {
  struct number : op<int> {};
  using operations = op_list<number>;
};

TEST_CASE("an operation, a computation and a masked operation yield their result") {
  STATIC_REQUIRE(awaits_to<ask::number, int>);
  STATIC_REQUIRE_FALSE(awaits_to<ask::number, long>);
  STATIC_REQUIRE(awaits_to<eff<std::string, ask>, std::string>);
  STATIC_REQUIRE(awaits_to<eff<void>, void>);
  STATIC_REQUIRE_FALSE(awaits_to<eff<void>, int>);
  STATIC_REQUIRE(awaits_to<decltype(outer_of<ask>(ask::number())), int>);
}

TEST_CASE("a type that no coroutine awaits yields nothing") {
  STATIC_REQUIRE_FALSE(awaits_to<int, int>);
  STATIC_REQUIRE_FALSE(awaits_to<std::string, void>);
}

TEST_CASE("a function of the library yields what its type says") {
  STATIC_REQUIRE(awaits_to<decltype(one_of(1, 2, 3)), int>);
  STATIC_REQUIRE(
      awaits_to<decltype(for_each(std::vector<int>(), [](int) -> eff<void> { co_return; })), void>);
}

TEST_CASE("an expression that another message refuses stands for any result") {
  STATIC_REQUIRE(awaits_to<detail::refused<void>, int>);
}
