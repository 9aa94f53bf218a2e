// SPDX-License-Identifier: MIT

// The program of chapter 9, traced: writes the page FILE.

// Never called: of all functions, only main may end without a return.
#pragma GCC diagnostic ignored "-Wreturn-type"
#define main run_chapter
#include "docs/09_two_futures.cpp"
#undef main

#include <weft/trace/trace_files.hpp>
#include <weft/trace/tracing.hpp>

int main(int, char** argv) {
  weft::trace t;
  std::string printed;
  schedule<tracing<>>({.trace = &t}, traveller, console_to_string(printed));
  write_trace(t, argv[1]);
}
