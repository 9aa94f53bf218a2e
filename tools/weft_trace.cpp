// SPDX-License-Identifier: MIT

// weft-trace: makes a page, or a file for ui.perfetto.dev, of a trace.
//
//     weft-trace trace.jsonl page.html

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "weft/trace/trace_files.hpp"

int main(int argc, char** argv) {
  std::string from;
  std::string to;
  CLI::App line("Makes a page, or a file for ui.perfetto.dev, of a trace.", "weft-trace");
  line.add_option("TRACE", from, "A trace as lines: trace.jsonl")->required();
  line.add_option("PAGE", to, "PAGE.html, or FILE.json for ui.perfetto.dev")->required();
  try {
    line.parse(argc, argv);
    // `bazel run` starts a program elsewhere than where the command was given.
    if (char const* const here = std::getenv("BUILD_WORKING_DIRECTORY"))
      std::filesystem::current_path(here);
    std::ifstream in(from);
    if (!in) throw std::runtime_error("weft: there is no file " + from);
    weft::write_trace(weft::read_json_lines(in).events, to);
  } catch (CLI::ParseError const& e) {
    return line.exit(e) == 0 ? 0 : 2;
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
