// SPDX-License-Identifier: MIT
#include <filesystem>

#include "tests/prelude.hpp"
#include "tests/support/deque_commands.hpp"

TEST_CASE("every version has the elements of a std::deque, after any commands and any failures") {
  auto const seed = GENERATE(range(0u, 60u));
  dice random(seed);
  auto const any_byte = [&] { return static_cast<std::uint8_t>(random(256)); };
  // Some programs draw any commands; others prefer a few, and so grow, shrink or fail often.
  std::array<std::uint8_t, 4> const favourites{any_byte(), any_byte(), any_byte(), any_byte()};
  std::vector<std::uint8_t> program(900);
  for (auto& byte : program)
    byte = seed % 3 == 0 && random(2) == 0 ? favourites[random(4)] : any_byte();
  CAPTURE(seed);
  CHECK_NOTHROW(run_deque_commands(program));
}

TEST_CASE("no program that the fuzzer found breaks a law again") {
  namespace fs = std::filesystem;
  std::size_t kept = 0;
  for (auto const& file : fs::directory_iterator("tests/deque/found")) {
    CAPTURE(file.path().string());
    std::ifstream in(file.path(), std::ios::binary);
    std::vector<std::uint8_t> const program{std::istreambuf_iterator<char>(in), {}};
    CHECK_NOTHROW(run_deque_commands(program));
    ++kept;
  }
  CHECK(kept != 0);  // the folder was found
}
