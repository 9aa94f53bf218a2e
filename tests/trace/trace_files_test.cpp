// SPDX-License-Identifier: MIT
#include "weft/trace/trace_files.hpp"

#include <filesystem>

#include "tests/prelude.hpp"

TEST_CASE("a line that is no event is refused, with its number") {
  for (char const* wrong :
       {"", "{", "{}", "[]", "{\"time\": 1}", "{\"kind\": \"nothing\"}", "{\"kind\": \"end\"",
        "{\"kind\": \"end\", \"line\": -1}", "{\"kind\": \"end\", \"process\": \"2\"}",
        "{\"kind\": \"end\", \"unknown\": 1}"}) {
    std::istringstream from(std::string("{\"kind\": \"end\"}\n") + wrong + '\n');
    INFO(wrong);
    CHECK_THROWS_WITH(read_json_lines(from), Catch::StartsWith("weft: line 2 is no event"));
  }
}

/// A message from one process to another, on two threads.
std::vector<trace_event> const events = {
    {.time = 1'000, .process = {}, .kind = trace_kind::resume, .worker = 0},
    {.time = 1'500,
     .process = {},
     .operation = "console::print",
     .handler = "to \"stream\"",
     .file = "a.cpp",
     .text = "x\n<",
     .under = "to \"stream\"\nweft::scheduler",
     .line = 7,
     .kind = trace_kind::perform,
     .worker = 0,
     .depth = 0,
     .is_replayed = true},
    {.time = 2'000, .process = {}, .object = 77, .kind = trace_kind::send, .worker = 0},
    {.time = 2'001,
     .process = process_id().child(2),
     .kind = trace_kind::put,
     .reason = put_reason::woken,
     .worker = 0},
    {.time = 2'500, .value = 3, .kind = trace_kind::steal, .worker = 1, .other_worker = 0},
    {.time = 2'600, .process = process_id().child(2), .kind = trace_kind::take, .worker = 1},
    {.time = 2'700,
     .process = process_id().child(2),
     .operation = "mail::receive",
     .value = 1,
     .kind = trace_kind::resume,
     .worker = 1},
    {.time = 2'800,
     .process = process_id().child(2),
     .object = 77,
     .kind = trace_kind::receive,
     .worker = 1},
    {.time = 3'000, .process = process_id().child(2), .kind = trace_kind::end, .worker = 1},
    {.time = 3'100, .kind = trace_kind::park, .worker = 0},
};

template <class Write>
std::string written(Write write) {
  std::ostringstream to;
  write(to);
  return to.str();
}

TEST_CASE("JSON lines have the fields that an event has") {
  CHECK(written([](std::ostream& to) { write_json_lines(events, to); }) ==
        R"({"time": 1000, "kind": "resume", "worker": 0, "process": "1", "value": 0}
{"time": 1500, "kind": "perform", "worker": 0, "process": "1", "operation": "console::print", "handler": "to \"stream\"", "under": "to \"stream\"\u000aweft::scheduler", "depth": 0, "file": "a.cpp", "line": 7, "text": "x\u000a\u003c", "replayed": 1}
{"time": 2000, "kind": "send", "worker": 0, "process": "1", "object": 77}
{"time": 2001, "kind": "put", "worker": 0, "process": "1.2", "value": 0, "reason": "woken"}
{"time": 2500, "kind": "steal", "worker": 1, "value": 3, "other_worker": 0}
{"time": 2600, "kind": "take", "worker": 1, "process": "1.2"}
{"time": 2700, "kind": "resume", "worker": 1, "process": "1.2", "operation": "mail::receive", "value": 1}
{"time": 2800, "kind": "receive", "worker": 1, "process": "1.2", "object": 77}
{"time": 3000, "kind": "end", "worker": 1, "process": "1.2"}
{"time": 3100, "kind": "park", "worker": 0}
)");
}

TEST_CASE("JSON lines that are read and written again are the same") {
  std::string const once = written([](std::ostream& to) { write_json_lines(events, to); });
  std::istringstream from(once);
  stored_trace const read = read_json_lines(from);
  CHECK(read.events.size() == events.size());
  CHECK(read.events[1].text == "x\n<");
  CHECK(read.events[1].under == events[1].under);
  CHECK(read.events[1].depth == 0);
  CHECK(written([&](std::ostream& to) { write_json_lines(read.events, to); }) == once);
}

TEST_CASE("a file for Perfetto has slices, arrows and counters") {
  CHECK(written([](std::ostream& to) { write_perfetto(events, to); }) ==
        R"({"displayTimeUnit": "ns", "traceEvents": [
{"ph": "M", "pid": 1, "tid": 0, "ts": 0.000, "name": "process_name", "args": {"name": "weft"}},
{"ph": "M", "pid": 1, "tid": 2, "ts": 0.000, "name": "thread_name", "args": {"name": "worker 0"}},
{"ph": "B", "pid": 1, "tid": 2, "ts": 1.000, "name": "1 begins", "args": {"process": "1", "value": 0}},
{"ph": "i", "pid": 1, "tid": 2, "ts": 1.500, "s": "t", "name": "perform", "args": {"process": "1", "operation": "console::print", "handler": "to \"stream\"", "under": "to \"stream\"\u000aweft::scheduler", "depth": 0, "file": "a.cpp", "line": 7, "text": "x\u000a\u003c", "replayed": 1}},
{"ph": "s", "pid": 1, "tid": 2, "ts": 2.000, "name": "message", "cat": "message", "id": 1},
{"ph": "C", "pid": 1, "tid": 0, "ts": 2.001, "name": "ready", "args": {"worker 0": 1}},
{"ph": "i", "pid": 1, "tid": 2, "ts": 2.001, "s": "t", "name": "put", "args": {"process": "1.2", "value": 0, "reason": "woken"}},
{"ph": "M", "pid": 1, "tid": 3, "ts": 0.000, "name": "thread_name", "args": {"name": "worker 1"}},
{"ph": "i", "pid": 1, "tid": 3, "ts": 2.500, "s": "t", "name": "steal", "args": {"value": 3, "other_worker": 0}},
{"ph": "C", "pid": 1, "tid": 0, "ts": 2.600, "name": "ready", "args": {"worker 0": 0, "worker 1": 0}},
{"ph": "B", "pid": 1, "tid": 3, "ts": 2.700, "name": "1.2 mail::receive", "args": {"process": "1.2", "operation": "mail::receive", "value": 1}},
{"ph": "s", "pid": 1, "tid": 2, "ts": 2.001, "name": "wake-up", "cat": "wake-up", "id": 2},
{"ph": "f", "pid": 1, "tid": 3, "ts": 2.700, "name": "wake-up", "cat": "wake-up", "id": 2, "bp": "e"},
{"ph": "f", "pid": 1, "tid": 3, "ts": 2.800, "name": "message", "cat": "message", "id": 1, "bp": "e"},
{"ph": "E", "pid": 1, "tid": 3, "ts": 3.000},
{"ph": "i", "pid": 1, "tid": 3, "ts": 3.000, "s": "t", "name": "end", "args": {"process": "1.2"}},
{"ph": "E", "pid": 1, "tid": 2, "ts": 3.100},
{"ph": "i", "pid": 1, "tid": 2, "ts": 3.100, "s": "t", "name": "park", "args": {}}
]}
)");
}

TEST_CASE("a receipt that comes before its message, by the clock, is no arrow for Perfetto") {
  std::vector<trace_event> const in_time = {
      {.time = 1'000, .process = {}, .object = 7, .kind = trace_kind::receive, .worker = 1},
      {.time = 1'001, .process = {}, .object = 7, .kind = trace_kind::send, .worker = 0},
      {.time = 2'000, .process = {}, .object = 7, .kind = trace_kind::send, .worker = 0},
      {.time = 2'001, .process = {}, .object = 7, .kind = trace_kind::receive, .worker = 1},
  };
  std::string const file = written([&](std::ostream& to) { write_perfetto(in_time, to); });
  auto const count = [&file](std::string_view what) {
    int n = 0;
    for (auto at = file.find(what); at != file.npos; at = file.find(what, at + 1)) ++n;
    return n;
  };
  CHECK(count("\"ph\": \"s\"") == 1);
  CHECK(count("\"ph\": \"f\"") == 1);
  CHECK(count("\"name\": \"receive\"") == 1);
  CHECK(count("\"name\": \"send\"") == 1);
  CHECK(file.find("\"ts\": 2.000, \"name\": \"message\"") != file.npos);
}

TEST_CASE("a page has the events, and no tag out of a text") {
  std::string const page = written([](std::ostream& to) { write_page(events, to, 5); });
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find("\"x\\u000a\\u003c\"") != page.npos);
  CHECK(page.find("\"dropped\": 5") != page.npos);
  CHECK(page.find("http") == page.npos);
}

TEST_CASE("the ending of a file's name says what is written") {
  auto const folder = std::filesystem::temp_directory_path();
  auto const begin_of = [&](char const* name) {
    std::string const file = (folder / name).string();
    write_trace(events, file);
    std::ifstream from(file);
    std::string line;
    std::getline(from, line);
    return line;
  };
  CHECK(begin_of("weft_trace_files_test.jsonl").starts_with("{\"time\": 1000"));
  CHECK(begin_of("weft_trace_files_test.json").starts_with("{\"displayTimeUnit\""));
  CHECK(begin_of("weft_trace_files_test.html") == "<!doctype html>");
  CHECK_THROWS_AS(write_trace(events, (folder / "a.txt").string()), std::invalid_argument);
  CHECK_THROWS_AS(write_trace(events, "/nowhere/a.json"), std::runtime_error);
}
