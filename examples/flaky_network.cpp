// SPDX-License-Identifier: MIT

/// A bank that is accessed over a network, and the network fails on demand.
///
/// A client asks to add five to a balance, and waits for the answer.  A message is one byte with
/// its length, and then that many bytes.  As long as nothing fails any code works.  So
/// `memory_network` gets a list of the faults that may happen, once in a run, and `explore` makes
/// them happen wherever they can.
///
/// The first bank takes the result of one read for the message.  One short read shows the mistake.
/// The first client asks once.  If a connection is reset, or is silent until the client's deadline
/// has passed, the client gets no answer; so the next client asks again.  That adds ten where only
/// the answer was lost.  The last client gives its request a number, by which the bank recognises
/// it, and is right in every schedule.
///
/// None of this uses a system socket, or takes real seconds.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/memory_network.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>

using namespace weft;
using namespace std::chrono_literals;

// ---- messages

eff<void, io, completions> send_message(connection& c, std::string message, instant until) {
  co_await c.write(std::string(1, static_cast<char>(message.size())) + message, until);
}
eff<std::string, io, completions> whole_message(connection& c, instant until) {
  std::array<std::byte, 1> length;
  co_await c.read_all(length, until);
  std::string message(std::to_integer<std::size_t>(length[0]), ' ');
  co_await c.read_all(std::as_writable_bytes(std::span(message)), until);
  co_return message;
}
/// The first version: one read is a message.
eff<std::string, io, completions> one_read(connection& c, instant until) {
  std::string message(100, ' ');
  std::size_t const n = co_await c.read(std::as_writable_bytes(std::span(message)), until);
  co_return message.substr(1, n - 1);
}

// ---- the bank

struct bank {
  memory_network net;
  int balance = 0;
  std::set<std::string> done{};  // requests with a number
  std::string answer{};          // as the client got it
};

using reading = eff<std::string, io, completions> (*)(connection&, instant until);

constexpr instant tonight = instant() + 1h;  // time begins at instant()

eff<void, io, completions> serve(bank& b, connection client, reading read) {
  try {
    std::string const request = co_await read(client, tonight);
    bool const is_numbered = request.find('#') != std::string::npos;
    if (!is_numbered || b.done.insert(request).second) b.balance += std::stoi(request);
    co_await send_message(client, "done", tonight);
  } catch (io_error const&) {  // a client that still needs an answer asks again
  }
}

// ---- its client

struct asking {
  std::string request;
  int attempts;
};

eff<std::string, io, completions> ask(endpoint to, std::string request, instant until) {
  connection c = co_await connect(to, until);
  co_await send_message(c, request, until);
  co_return co_await whole_message(c, until);
}
eff<void, io, completions> ask_again(bank& b, endpoint to, asking how) {
  for (int i = 1; i <= how.attempts && b.answer.empty(); ++i) {
    try {
      b.answer = co_await ask(to, how.request, instant() + i * 1s);
    } catch (io_error const&) {  // try again
    }
  }
}

// ---- a day of both

struct rules {
  reading read;
  asking ask;
};

eff<void, spawning<io, completions>, io, completions> day(bank& b, rules r) {
  listener counter = co_await listen(endpoint());
  co_await spawn(ask_again, std::ref(b), counter.local(), r.ask);
  try {
    for (;;) {
      connection client = co_await counter.accept(instant() + 1min);
      co_await spawn(serve, std::ref(b), std::move(client), r.read);
    }
  } catch (io_error const&) {  // no more clients
  }
}

run_result is_right(bank const& b) {
  bool const is_well = b.balance == 5 && b.answer == "done";
  return {is_well ? verdict::ok : verdict::failed,
          "a balance of " + std::to_string(b.balance) +
              (b.answer.empty() ? ", and no answer" : ", and an answer")};
}

// ---- what can go wrong

void every_schedule(std::string const& what, rules r, memory_network_options const& may_fail) {
  auto const found = explore(
      {.reduce = true}, [=] { return bank{memory_network(may_fail)}; },
      [=](bank& b) { return day(b, r); }, is_right, [](bank& b) -> auto& { return b.net; });
  std::cout << what << ": " << found.summary();
  if (auto const* const wrong = found.first_failure()) {
    std::cout << "  " << wrong->result.text << ':';
    for (auto const& step : wrong->trace)
      for (auto const& d : step.decisions)
        if (d.taken != 0) std::cout << ' ' << d.text() << ", by process " << step.process.text();
    std::cout << "\n  " << wrong->path.text() << '\n';
  }
}

eff<void> explorer() {
  asking const once = {"+5", 1};
  asking const twice = {"+5", 2};
  asking const with_number = {"+5 #1", 2};

  std::cout << "-- a read, a message\n";
  every_schedule("nothing fails", {one_read, once}, {});
  every_schedule("a split", {one_read, once}, {.splits = 1});

  std::cout << "-- asking once\n";
  every_schedule("two splits", {whole_message, once}, {.splits = 2});
  every_schedule("a reset", {whole_message, once}, {.resets = 1});
  every_schedule("silence", {whole_message, once}, {.silences = 1});

  std::cout << "-- asking twice\n";
  every_schedule("a reset", {whole_message, twice}, {.resets = 1});
  every_schedule("silence", {whole_message, twice}, {.silences = 1});

  std::cout << "-- asking twice, with a number\n";
  every_schedule("a reset", {whole_message, with_number}, {.delays = 1, .resets = 1});
  every_schedule("silence", {whole_message, with_number}, {.splits = 1, .silences = 1});
  every_schedule("a refusal", {whole_message, with_number}, {.short_writes = 1, .refusals = 1});
  co_return;
}

int main(int argc, char** argv) { examples::backend(argc, argv).schedule(explorer); }
