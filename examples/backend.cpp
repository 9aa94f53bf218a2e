// SPDX-License-Identifier: MIT
#include "examples/backend.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {
namespace {

bool is_traced_file(std::string_view file) {
  return file.ends_with(".html") || file.ends_with(".json") || file.ends_with(".jsonl");
}

}  // namespace

backend::backend(int argc, char** argv, std::string const& own) {
  std::map<std::string, kind> const names = {{"one_thread", kind::one_thread},
                                             {"sharing", kind::sharing},
                                             {"stealing", kind::stealing},
                                             {"random", kind::random}};
  CLI::App line;
  auto* const which = line.add_option("--backend", which_, "What runs the processes")
                          ->transform(CLI::CheckedTransformer(names))
                          ->option_text("one_thread | sharing | stealing | random");
  line.add_option("--threads", threads_, "How many threads: of sharing and stealing")
      ->check(CLI::NonNegativeNumber)
      ->needs(which)
      ->option_text("N");
  line.add_option("--seed", seed_, "Which random order")
      ->check(CLI::NonNegativeNumber)
      ->needs(which)
      ->option_text("N");
  line.add_option("--trace", trace_file_,
                  "A file for the trace of the run: a page, for ui.perfetto.dev, or lines")
      ->check([](std::string const& file) {
        return is_traced_file(file) ? "" : "it ends with .html, .json or .jsonl";
      })
      ->option_text("FILE");
  line.allow_extras(!own.empty());
  usage_ =
      line.help(argc > 0 ? argv[0] : "") + (own.empty() ? "" : "Its own argument: " + own + "\n");
  try {
    line.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    std::cout << usage_;
    std::exit(0);
  } catch (CLI::ParseError const& e) {
    std::cerr << e.what() << '\n';
    refuse();
  }
  auto const extras = line.remaining();
  if (extras.size() > 1) refuse();
  if (!extras.empty()) argument_ = extras[0];
  if (threads_ >= 0 && which_ != kind::sharing && which_ != kind::stealing) refuse();
  if (seed_ >= 0 && which_ != kind::random) refuse();
  // `bazel run` starts a program elsewhere than where the command was given.
  if (char const* const here = std::getenv("BUILD_WORKING_DIRECTORY"); here && !trace_file_.empty())
    trace_file_ = (std::filesystem::path(here) / trace_file_).string();
}

int backend::number(std::string_view text) const {
  char const* const end = text.data() + text.size();
  int n = -1;
  auto const [read_to, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc() || read_to != end || n < 0) refuse();
  return n;
}
void backend::refuse() const {
  std::cerr << usage_;
  std::exit(2);
}

}  // namespace examples
