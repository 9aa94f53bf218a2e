// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/programs_for_failures.hpp"
#include "tests/support/without_memory.hpp"

/// The n-th allocation of a program fails, for every n: of one program for each feature, on one
/// thread.  The program then has the same result as with memory, or throws bad_alloc; it ends, and
/// nothing of it is left.
///
/// Without sanitizers the pool has memory for most allocations: all failures are tested with
/// --config=asan, by the target memory_fails_in_full_test.

TEST_CASE("a program without memory on one_thread gives its result or bad_alloc") {
  try_all_without_memory(for_failures::on_any_backend<on_one_thread>(), "one_thread", sampled);
}

TEST_CASE("a program without memory in a random order gives its result or bad_alloc") {
  try_all_without_memory(for_failures::on_any_backend<in_random_order>(), "random_order", sampled);
}

TEST_CASE("checkpoints without memory give their result or bad_alloc") {
  try_all_without_memory(for_failures::on_one_thread(), "one_thread", sampled);
}

TEST_CASE("each allocation fails in turn on one_thread", "[.full]") {
  try_all_without_memory(for_failures::on_any_backend<on_one_thread>(), "one_thread", 1);
}

TEST_CASE("each allocation fails in turn in a random order", "[.full]") {
  try_all_without_memory(for_failures::on_any_backend<in_random_order>(), "random_order", 1);
}

TEST_CASE("each allocation of a checkpoint fails in turn", "[.full]") {
  try_all_without_memory(for_failures::on_one_thread(), "one_thread", 1);
}
