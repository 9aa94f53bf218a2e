// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/programs_for_failures.hpp"
#include "tests/support/without_memory.hpp"

/// The n-th allocation of a program fails, for every n: of one program for each feature, on several
/// threads (memory_fails_test.cpp).

TEST_CASE("a program without memory on sharing gives its result or bad_alloc") {
  try_all_without_memory(for_failures::on_any_backend<on_sharing<2>>(), "sharing", sampled);
}

TEST_CASE("a program without memory on stealing gives its result or bad_alloc") {
  try_all_without_memory(for_failures::on_any_backend<on_stealing<2>>(), "stealing", sampled);
}

TEST_CASE("each allocation fails in turn on sharing", "[.full]") {
  try_all_without_memory(for_failures::on_any_backend<on_sharing<2>>(), "sharing", 1);
}

TEST_CASE("each allocation fails in turn on stealing", "[.full]") {
  try_all_without_memory(for_failures::on_any_backend<on_stealing<2>>(), "stealing", 1);
}
