// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/commands/coroutine_stepper.hpp"
#include "weft/sched/commands/stepper.hpp"

/// A parser of lines, by hand and as a coroutine.  Bytes come in chunks of any size.
namespace weft::tests {

/// Asks for the next chunk of a source, which is empty at the end.
struct more : command<std::string> {
  explicit more(std::string f) : from(std::move(f)) {}
  std::string from;
};
/// Reports a line of a source.
struct line : command<> {
  line(std::string f, std::string t) : from(std::move(f)), text(std::move(t)) {}
  std::string from;
  std::string text;
};

/// The parser by hand.  The input names the source.  It asks for the next chunk while its lines are
/// in flight: it waits for chunks only.
class line_parser {
 public:
  using commands = command_list<more, line>;
  using input = std::string;
  using output = step_output<more, line>;

  void init(std::string_view method, std::string from) {
    static entry_points<bool> const methods{{"lines", false}, {"words", true}};
    splits_words_ = methods.at<line_parser>(method);
    from_ = std::move(from);
  }
  void step(std::span<event> events, output& out) {
    if (is_first_) {
      is_first_ = false;
      chunk_ = out.issue(more(from_));
    }
    for (event& e : events) {
      if (e.type == event_type::cancelled) return;
      if (e.tag == chunk_)
        parse(e.result<std::string>(), out);
      else
        --lines_, e.result<void>();
    }
    if (is_over_ && lines_ == 0) out.status = step_status::done;
  }
  void close() noexcept {}

 private:
  void parse(std::string const& chunk, output& out) {
    if (chunk.empty()) {
      if (!text_.empty()) found(out);
      is_over_ = true;
      return;
    }
    for (char const c : chunk) {
      if (c == '\n' || (splits_words_ && c == ' '))
        found(out);
      else
        text_ += c;
    }
    chunk_ = out.issue(more(from_));
  }
  void found(output& out) {
    out.issue(line(from_, std::exchange(text_, {})));
    ++lines_;
  }

  std::string from_;
  std::string text_;
  std::uint64_t chunk_ = 0;  // the tag of the command for the next chunk
  int lines_ = 0;            // in flight
  bool splits_words_ = false;
  bool is_first_ = true;
  bool is_over_ = false;
};
static_assert(stepper<line_parser>);

/// The parser as a coroutine.
inline eff<void, commands<more, line>> parses(std::string from, bool splits_words) {
  std::string text;
  std::vector<in_flight<void>> lines;
  for (;;) {
    std::string const chunk = co_await perform(more(from));
    if (chunk.empty()) break;
    for (char const c : chunk) {
      if (c != '\n' && !(splits_words && c == ' ')) {
        text += c;
        continue;
      }
      lines.push_back(co_await issue(line(from, std::exchange(text, {}))));
    }
  }
  if (!text.empty()) co_await perform(line(from, text));
  for (auto& l : lines) co_await l.wait();
}
inline eff<void, commands<more, line>> parses_lines(std::string from) {
  return parses(std::move(from), false);
}
inline eff<void, commands<more, line>> parses_words(std::string from) {
  return parses(std::move(from), true);
}
using parsing_coroutine = coroutine_stepper<std::string, more, line>;
static_assert(stepper<parsing_coroutine>);
inline parsing_coroutine line_parser_as_a_coroutine() {
  return {{"lines", parses_lines}, {"words", parses_words}};
}

}  // namespace weft::tests
