// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/trace_files.hpp"

namespace weft {
namespace {

/// Thrown within this file: the line is no event.
struct no_event {};

/// Reads the members of a flat JSON object one by one.  Their values are strings or whole numbers.
class flat_object {
 public:
  explicit flat_object(std::string_view line) : rest_(line) { expect('{'); }

  /// Reads the next member; false if there is none.  `value` is the text of a string or a number.
  bool next(std::string& name, std::string& value) {
    skip_spaces();
    if (rest_.starts_with('}')) return false;
    if (!std::exchange(is_first_, false)) expect(',');
    name = string();
    expect(':');
    skip_spaces();
    value = rest_.starts_with('"') ? string() : number();
    return true;
  }

 private:
  void skip_spaces() noexcept {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  void expect(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) throw no_event();
    rest_.remove_prefix(1);
  }
  char take() {
    if (rest_.empty()) throw no_event();
    char const c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  std::string string() {
    expect('"');
    std::string s;
    for (char c = take(); c != '"'; c = take()) {
      if (c == '\\') {
        c = take();
        if (c == 'u') c = escaped();
      }
      s += c;
    }
    return s;
  }
  /// Reads the four digits behind "\u": write_json_lines escapes only characters of one byte.
  char escaped() {
    unsigned n = 0;
    auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n, 16);
    if (error != std::errc() || end - rest_.data() != 4 || n > 0x7F) throw no_event();
    rest_.remove_prefix(4);
    return static_cast<char>(n);
  }
  std::string number() {
    std::size_t const n = rest_.find_first_not_of("0123456789");
    if (n == 0 || n == rest_.npos) throw no_event();
    std::string s(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return s;
  }

  std::string_view rest_;
  bool is_first_ = true;
};

template <class N>
N read_number(std::string_view s) {
  N n{};
  auto const [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (error != std::errc() || end != s.data() + s.size()) throw no_event();
  return n;
}
process_id read_process(std::string_view s) {
  auto const found = process_id::read(s);
  if (!found) throw no_event();
  return *found;
}
/// The value that has this name, among those up to `last`.  Throws no_event if none has it.
template <class Enum>
Enum read_name(std::string_view s, std::string_view (*name)(Enum) noexcept, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name(static_cast<Enum>(i)) == s) return static_cast<Enum>(i);
  throw no_event();
}

trace_event read_event(std::string_view line, stored_trace& to) {
  trace_event e;
  bool has_kind = false;
  // The event may refer to the strings: a std::set never moves its elements.
  auto const keep = [&to](std::string const& s) { return to.texts.insert(s).first->c_str(); };
  flat_object all(line);
  std::string name;
  std::string value;
  while (all.next(name, value)) {
    if (name == "time") {
      e.time = read_number<std::int64_t>(value);
    } else if (name == "kind") {
      e.kind = read_name(value, name_of_kind, trace_kind::end);
      has_kind = true;
    } else if (name == "worker") {
      e.worker = read_number<std::uint16_t>(value);
    } else if (name == "process") {
      e.process = read_process(value);
    } else if (name == "other") {
      e.other = read_process(value);
    } else if (name == "operation") {
      e.operation = keep(value);
    } else if (name == "handler") {
      e.handler = keep(value);
    } else if (name == "under") {
      e.under = keep(value);
    } else if (name == "depth") {
      e.depth = read_number<std::uint16_t>(value);
    } else if (name == "file") {
      e.file = keep(value);
    } else if (name == "line") {
      e.line = read_number<std::uint32_t>(value);
    } else if (name == "text") {
      e.text = *to.texts.insert(value).first;
    } else if (name == "object") {
      e.object = read_number<std::uint64_t>(value);
    } else if (name == "value") {
      e.value = read_number<std::uint64_t>(value);
    } else if (name == "reason") {
      e.reason = read_name(value, name_of_reason, put_reason::handed_over);
    } else if (name == "other_worker") {
      e.other_worker = read_number<std::uint16_t>(value);
    } else if (name == "replayed") {
      e.is_replayed = true;
    } else {
      throw no_event();
    }
  }
  if (!has_kind) throw no_event();
  return e;
}

}  // namespace

stored_trace read_json_lines(std::istream& from) {
  stored_trace all;
  std::size_t number = 0;
  for (std::string line; std::getline(from, line);) {
    ++number;
    try {
      all.events.push_back(read_event(line, all));
    } catch (no_event) {
      throw std::runtime_error("weft: line " + std::to_string(number) +
                               " is no event of a trace: " + line.substr(0, 80));
    }
  }
  return all;
}

}  // namespace weft
