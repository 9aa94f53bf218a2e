// SPDX-License-Identifier: MIT
#include "weft/io/files.hpp"

#include <cerrno>
#include <filesystem>

#include "tests/prelude.hpp"
#include "tests/support/own_directory.hpp"
#include "weft/io/blocking.hpp"
#include "weft/io/thread_pool.hpp"

/// Files, by a pool of threads.

using children = spawning<proc, blocking_work>;
using program = eff<void, children, proc, blocking_work>;

/// `n` bytes of all values.
std::string bytes(std::size_t n) {
  std::string all;
  for (std::size_t i = 0; i != n; ++i) all += static_cast<char>(i * 7 + i / 251);
  return all;
}

TEST_CASE("a file of any length is written, overwritten and read back") {
  every_frame_dies const check;
  own_directory const here;
  for (std::size_t const n : {0U, 1U, 4096U, 16384U, 16385U, 100'000U}) {
    std::string got = "not read";
    schedule(
        [&, at = here.file("any")]() -> program {
          co_await write_file(at, bytes(n));
          got = co_await read_file(at);
        },
        thread_pool(1));
    CHECK(got == bytes(n));
  }
}

BACKENDS_TEST_CASE("many files are written and read at once", "", on_one_thread, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  own_directory const here;
  counter right = 0;
  run_on(
      chosen,
      [&]() -> program {
        auto const keeps = [](std::string at, std::size_t n, counter& to) -> program {
          co_await write_file(at, bytes(n));
          std::string const got = co_await read_file(at);
          if (got == bytes(n)) ++to;
        };
        for (std::size_t i = 0; i != 50; ++i)
          co_await spawn(keeps, here.file(std::to_string(i)), 1000 * i, std::ref(right));
      },
      thread_pool(3));
  CHECK(right == 50);
}

template <class Program>
std::error_code error_of(Program p, std::string& what) {
  try {
    schedule(std::move(p), blocking_at_once());
  } catch (std::system_error const& e) {
    what = e.what();
    return e.code();
  }
  return {};
}

TEST_CASE("an error of reading or writing names the file and the reason") {
  every_frame_dies const check;
  own_directory const here;
  std::string what;
  auto const missing = here.file("missing");
  auto const reads_missing = [missing]() -> program { (void)co_await read_file(missing); };
  CHECK(error_of(reads_missing, what) == std::errc::no_such_file_or_directory);
  CHECK_THAT(what, Contains("weft: read_file " + missing));

  auto const directory = here.file("");
  auto const reads_directory = [directory]() -> program { (void)co_await read_file(directory); };
  CHECK(error_of(reads_directory, what) == std::errc::is_a_directory);
  CHECK_THAT(what, Contains(directory));

  auto const nowhere = here.file("no/where");
  auto const writes = [nowhere]() -> program { co_await write_file(nowhere, "x"); };
  CHECK(error_of(writes, what) == std::errc::no_such_file_or_directory);
  CHECK_THAT(what, Contains("weft: write_file " + nowhere));
}

TEST_CASE("a full device is an error, even if that shows only at the end") {
  if (!std::filesystem::exists("/dev/full")) return;
  every_frame_dies const check;
  std::string what;
  for (std::size_t const n : {10U, 1'000'000U}) {
    auto const writes = [n]() -> program { co_await write_file("/dev/full", bytes(n)); };
    CHECK(error_of(writes, what) == std::errc::no_space_on_device);
    CHECK_THAT(what, Contains("weft: write_file /dev/full"));
  }
}
