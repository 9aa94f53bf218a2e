// SPDX-License-Identifier: MIT
#pragma once
// The exercises of docs/08_meeting_the_outside_world.md.  Complete each function; its test says what it
// must do.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
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
inline std::vector<std::string> texts_of_one_read() { return {}; }

// Exercise 2 (**): the next line of the stream, without its '\n'; nothing at the end of the stream.
// Bytes that arrive behind the line belong to the next one: `rest` keeps them.  A last line without
// '\n' counts if it is not empty.
inline eff<std::optional<std::string>, networking> read_line(connection& c, std::string& rest) {
  std::array<char, 64> text{};
  std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(text)));
  if (n == 0) co_return std::nullopt;
  rest.clear();
  co_return std::string(text.data(), n);
}

// Exercise 3 (**): connects, writes the question, finishes, and reads the answer up to its end.
// Nothing if all of it together takes longer than the patience, or if the network fails.
inline eff<std::optional<std::string>, networking, timing> ask(endpoint to, std::string question,
                                                               instant::duration patience) {
  (void)co_await timing::now{};
  (void)patience;
  connection c = co_await connect(to);
  co_await c.write(question);
  co_await c.finish();
  co_return std::nullopt;
}

// Exercise 4 (**): calls all functions on threads that may block, all at the same time, and yields
// their results in the order of the functions.
using slow_calls = std::vector<std::function<int()>>;
inline eff<std::vector<int>, tasking<blocking_work>> call_all(slow_calls calls) {
  co_return std::vector<int>(calls.size());
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

  void take(fetch f, reply<std::string> r) { r.complete(load_({f.page}).at(0)); }

 private:
  std::function<texts(texts const& pages)> load_;
};

}  // namespace meeting_the_outside_world
