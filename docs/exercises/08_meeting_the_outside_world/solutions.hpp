// SPDX-License-Identifier: MIT
#pragma once
// Solutions of the exercises of docs/08_meeting_the_outside_world.md.

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/io/blocking.hpp"
#include "weft/io/connection.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/when_all.hpp"

namespace meeting_the_outside_world {

using namespace weft;

// Exercise 1 (*): the other side has written "fourteen", and this process reads once, into enough
// room.  One read may be split.  Which texts can it get?  In any order.
inline std::vector<std::string> texts_of_one_read() { return {"f", "four", "fourteen"}; }

// Exercise 2 (**): the next line of the stream, without its '\n'; nothing at the end of the stream.
// Bytes that arrive behind the line belong to the next one: `rest` keeps them.  A last line without
// '\n' counts if it is not empty.
inline eff<std::optional<std::string>, networking> read_line(connection& c, std::string& rest) {
  for (;;) {
    std::size_t const end = rest.find('\n');
    if (end != std::string::npos) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      co_return line;
    }
    std::array<char, 64> text{};
    std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(text)));
    if (n == 0) break;
    rest.append(text.data(), n);
  }
  if (rest.empty()) co_return std::nullopt;
  co_return std::exchange(rest, {});
}

// Exercise 3 (**): connects, writes the question, finishes, and reads the answer up to its end.
// Nothing if all of it together takes longer than the patience, or if the network fails.
inline eff<std::optional<std::string>, networking, timing> ask(endpoint to, std::string question,
                                                               instant::duration patience) {
  instant const until = co_await timing::now{} + patience;
  try {
    connection c = co_await connect(to, until);
    co_await c.write(question, until);
    co_await c.finish();
    std::string answer;
    for (;;) {
      std::array<char, 64> text{};
      std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(text)), until);
      if (n == 0) co_return answer;
      answer.append(text.data(), n);
    }
  } catch (io_error const&) {
  }
  co_return std::nullopt;
}

// Exercise 4 (**): calls all functions on threads that may block, all at the same time, and yields
// their results in the order of the functions.
using slow_calls = std::vector<std::function<int()>>;
inline eff<std::vector<int>, tasking<blocking_work>> call_all(slow_calls calls) {
  co_return co_await when_all(
      calls | std::views::transform([](std::function<int()> const& f) { return off_thread(f); }));
}

// Exercise 5 (***): a dispatcher that collects three commands, and answers them by one call of
// `load_`, which gets the pages and returns their texts in the same order.  If `load_` throws, each
// of the three fails with that exception.
struct fetch : command<std::string> {
  explicit fetch(std::string p) : page(std::move(p)) {}
  std::string page;
};
class batches {
 public:
  using texts = std::vector<std::string>;
  explicit batches(std::function<texts(texts const& pages)> load) : load_(std::move(load)) {}

  void take(fetch f, reply<std::string> r) {
    pages_.push_back(std::move(f.page));
    replies_.push_back(std::move(r));
    if (pages_.size() == 3) answer();
  }

 private:
  void answer() {
    texts const pages = std::exchange(pages_, {});
    std::vector<reply<std::string>> to = std::exchange(replies_, {});
    try {
      texts loaded = load_(pages);
      for (std::size_t i = 0; i != to.size(); ++i) to[i].complete(std::move(loaded[i]));
    } catch (...) {
      for (reply<std::string>& r : to) r.fail(std::current_exception());
    }
  }
  std::function<texts(texts const& pages)> load_;
  texts pages_;
  std::vector<reply<std::string>> replies_;
};

}  // namespace meeting_the_outside_world
