// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/detail/json_object.hpp"
#include "weft/trace/detail/page_text.hpp"
#include "weft/trace/trace_files.hpp"

namespace weft {
namespace {

/// The text of a source file of the program; empty for a file of weft or of the system.
std::optional<std::string> source_text(std::string_view file) {
  std::filesystem::path const path(file);
  if (path.is_absolute() && file.starts_with("/usr/")) return {};
  for (std::string_view const top : {"deque/", "effects/", "io/", "sched/", "testing/", "weft/"})
    if (file.starts_with(top)) return {};
  if (file.find("/weft/") != file.npos) return {};
  auto const read = [](std::filesystem::path const& p) -> std::optional<std::string> {
    std::error_code error;
    if (!std::filesystem::is_regular_file(p, error)) return {};
    std::ifstream from(p);
    if (!from) return {};
    return std::string(std::istreambuf_iterator<char>(from), {});
  };
  if (auto found = read(path)) return found;
  // `bazel run` starts a program in another directory than that of its sources.
  if (char const* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY"))
    return read(std::filesystem::path(workspace) / path);
  return {};
}

class page_writer {
 public:
  page_writer(std::ostream& to, std::uint64_t dropped) : to_(to), dropped_(dropped) {}

  void write_all(trace_page const& page) {
    put(detail::page_head());
    put("{\"width\": 17, \"runs\": [");
    for (page_run const& r : page.runs) add(r, &r != &page.runs.front());
    put("],\n\"outcomes\": [");
    for (auto const& row : page.outcomes) add_strings(row, &row != &page.outcomes.front());
    put("],\n\"strings\": [");
    for (std::size_t i = 0; i != strings_.size(); ++i) put_string(*strings_[i], i != 0);
    put("],\n\"kinds\": [");
    for (auto k = trace_kind::perform; k <= trace_kind::end;
         k = static_cast<trace_kind>(static_cast<int>(k) + 1))
      put_string(name_of_kind(k), k != trace_kind::perform);
    put("],\n\"reasons\": [");
    for (auto r = put_reason::started; r <= put_reason::handed_over;
         r = static_cast<put_reason>(static_cast<int>(r) + 1))
      put_string(name_of_reason(r), r != put_reason::started);
    put("],\n\"sources\": {");
    bool is_next = false;
    for (std::size_t const file : files_)
      if (auto const source = source_text(*strings_[file])) {
        put_string(*strings_[file], std::exchange(is_next, true));
        put(": ");
        put_string(*source, false);
      }
    put("},\n\"dropped\": " + std::to_string(dropped_) + "}");
    put(detail::page_script());
    flush();
  }

 private:
  void put(std::string_view text) {
    text_ += text;
    if (text_.size() > std::size_t{1} << 16) flush();
  }
  void flush() {
    if (!to_.write(text_.data(), static_cast<std::streamsize>(text_.size())))
      throw std::runtime_error("weft: a trace cannot be written: its stream has failed");
    text_.clear();
  }
  void put_string(std::string_view s, bool is_next) {
    if (is_next) text_ += ',';
    detail::add_json_string(text_, s);
    put("");
  }
  void add_strings(std::vector<std::string> const& all, bool is_next) {
    put(is_next ? ",[" : "[");
    for (std::string const& s : all) put_string(s, &s != &all.front());
    put("]");
  }
  void add(page_run const& r, bool is_next) {
    put(is_next ? ",\n{\"title\": " : "{\"title\": ");
    put_string(r.title, false);
    put(", \"steps\": ");
    add_strings(r.steps, false);
    put(", \"events\": [");
    is_first_ = true;
    last_ = 0;
    for (trace_event const& e : r.events) add(e);
    put("]}");
  }
  /// The number of a string; -1 for the empty one.
  long number_of(std::string_view s) {
    if (s.empty()) return -1;
    auto const [at, is_new] = numbers_.try_emplace(std::string(s), strings_.size());
    if (is_new) strings_.push_back(&at->first);
    return static_cast<long>(at->second);
  }
  long number_of(process_id p) {
    auto const [at, is_new] = processes_.try_emplace(p.hash(), 0);
    if (is_new) at->second = number_of(p.text());
    return at->second;
  }
  long number_of_file(trace_event const& e) {
    if (e.line == 0) return -1;
    std::string_view file = e.file;
    if (file.starts_with("./")) file.remove_prefix(2);
    long const n = number_of(file);
    files_.insert(static_cast<std::size_t>(n));
    return n;
  }
  void add(trace_event const& e) {
    // -1 for a number that a double of the script may not hold exactly.
    auto const shown = [](std::uint64_t n) { return n >> 53 ? -1 : static_cast<std::int64_t>(n); };
    auto const worker = [](std::uint16_t w) { return w == trace_event::outside ? -1 : int{w}; };
    std::uint64_t const object =
        e.object == 0 ? 0 : objects_.try_emplace(e.object, objects_.size() + 1).first->second;
    std::int64_t const fields[] = {e.time - last_,
                                   static_cast<int>(e.kind),
                                   worker(e.worker),
                                   number_of(e.process),
                                   number_of(e.other),
                                   number_of(e.operation),
                                   number_of(e.handler),
                                   number_of_file(e),
                                   e.line,
                                   number_of(e.text),
                                   static_cast<std::int64_t>(object),
                                   shown(e.value),
                                   static_cast<int>(e.reason),
                                   e.is_replayed ? 1 : 0,
                                   worker(e.other_worker),
                                   number_of(e.under),
                                   e.depth == trace_event::unknown ? -1 : int{e.depth}};
    static_assert(std::size(fields) == 17);
    last_ = e.time;
    for (std::int64_t const f : fields) {
      if (!is_first_) text_ += ',';
      is_first_ = false;
      text_ += std::to_string(f);
    }
    put("\n");
  }

  std::ostream& to_;
  std::uint64_t dropped_;
  std::string text_;
  bool is_first_ = true;
  std::int64_t last_ = 0;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string const*> strings_;
  std::unordered_map<std::uint64_t, long> processes_;
  std::unordered_map<std::uint64_t, std::uint64_t> objects_;
  std::set<std::size_t> files_;
};

}  // namespace

void write_page(trace_page const& page, std::ostream& to) {
  page_writer(to, page.dropped).write_all(page);
}
void write_page(std::span<trace_event const> events, std::ostream& to, std::uint64_t dropped) {
  write_page(
      {.runs = {{.title = {}, .events = events, .steps = {}}}, .outcomes = {}, .dropped = dropped},
      to);
}

}  // namespace weft
