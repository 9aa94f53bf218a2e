// SPDX-License-Identifier: MIT

// The lost update of chapter 7: writes the page FILE of the schedule that fails.

// Never called: of all functions, only main may end without a return.
#pragma GCC diagnostic ignored "-Wreturn-type"
#define main run_chapter
#include "docs/07_every_schedule.cpp"
#undef main

int main(int, char** argv) {
  auto const found = explore({.page = argv[1]}, zero, increment_twice, is_two);
  return found.page.empty() ? 1 : 0;
}
