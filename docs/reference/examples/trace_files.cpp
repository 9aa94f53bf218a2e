// SPDX-License-Identifier: MIT
// A trace as text, for Perfetto, and as a page.
#include <filesystem>
#include <iostream>
#include <span>
#include <sstream>
#include <string>

#include <weft/trace/trace.hpp>
#include <weft/trace/trace_files.hpp>
using namespace weft;

int main() {
  weft::trace t;  // a traced scheduler adds its events to one
  trace_event made{.time = 1,
                   .process = process_id().child(1),
                   .other = process_id().child(2),
                   .operation = "proc::yield",
                   .handler = "weft::scheduler",
                   .file = "main.cpp",
                   .text = "text",
                   .object = 1,
                   .value = 2,
                   .line = 12,
                   .kind = trace_kind::put,
                   .reason = put_reason::woken,
                   .worker = 0,
                   .other_worker = 1};
  std::stringstream lines, page, perfetto;
  write_json_lines(std::span(&made, 1), lines);
  std::cout << lines.str();
  stored_trace const read = read_json_lines(lines);
  std::cout << read.events.size() << " event, " << read.texts.count("proc::yield") << " text\n";
  write_perfetto(read.events, perfetto);
  write_page(read.events, page, 3);  // three were dropped
  write_page(trace_page{.runs = {page_run{
                            .title = "a run", .events = read.events, .steps = {"1.1 begins"}}},
                        .outcomes = {{"ok", "1"}},
                        .dropped = 3},
             page);
  std::cout << (perfetto.str().find("proc::yield") != std::string::npos)
            << (page.str().find("a run") != std::string::npos) << '\n';

  std::string const file = std::filesystem::temp_directory_path() / "weft_trace_files.jsonl";
  write_trace(t, file);  // the ending says what is written
  write_trace(read.events, file, 0);
  std::cout << std::filesystem::file_size(file) / lines.str().size() << '\n';
  std::filesystem::remove(file);
}
