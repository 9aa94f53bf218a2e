// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/support/deque_commands.hpp"

using namespace weft::tests;

TEST_CASE("every version holds what a std::deque would, whatever is done and whatever fails") {
  auto const seed = GENERATE(range(0u, 60u));
  std::mt19937 random(seed);
  // Some programs grow, some fail often, some do anything.
  std::vector<std::uint8_t> favourites(4);
  std::generate(favourites.begin(), favourites.end(), [&] { return random() % 256; });
  std::vector<std::uint8_t> program(900);
  for (auto& byte : program)
    byte = static_cast<std::uint8_t>(seed % 3 == 0 && random() % 2 == 0
                                         ? favourites[random() % favourites.size()]
                                         : random() % 256);
  CAPTURE(seed);
  CHECK_NOTHROW(run_deque_commands(program));
}

TEST_CASE("what the fuzzer found once is not found again") {
  namespace fs = std::filesystem;
  std::size_t kept = 0;
  for (auto const& file : fs::directory_iterator("tests/found/persistent_deque")) {
    CAPTURE(file.path().string());
    std::ifstream in(file.path(), std::ios::binary);
    std::vector<std::uint8_t> const program{std::istreambuf_iterator<char>(in), {}};
    CHECK_NOTHROW(run_deque_commands(program));
    ++kept;
  }
  CHECK(kept != 0);  // the folder was found
}
