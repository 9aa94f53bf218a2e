// SPDX-License-Identifier: MIT

// weft-trace: makes a page, or a file for ui.perfetto.dev, of a trace.
//
//     weft-trace trace.jsonl page.html

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "weft/trace/trace_files.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: weft-trace TRACE.jsonl PAGE.html | FILE.json\n";
    return 2;
  }
  try {
    // `bazel run` starts a program elsewhere than where the command was given.
    if (char const* const here = std::getenv("BUILD_WORKING_DIRECTORY"))
      std::filesystem::current_path(here);
    std::ifstream from(argv[1]);
    if (!from) throw std::runtime_error(std::string("weft: there is no file ") + argv[1]);
    weft::write_trace(weft::read_json_lines(from).events, argv[2]);
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
