// SPDX-License-Identifier: MIT

/// A query of PostgreSQL without a thread that blocks: libpq's socket is in the same loop as the
/// scheduler.  The argument says how to connect: `postgres_query "host=... dbname=..."`.  Without one
/// it tries a port at which no server listens.
#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "examples/libraries/descriptor_loop.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/timing.hpp>
using namespace weft;
using namespace std::chrono_literals;
using examples::descriptor_loop;

namespace {

/// A connection; the loop forgets its descriptor in time.
class connected {
 public:
  connected(descriptor_loop& loop, std::string const& how)
      : loop_(loop), c_(PQconnectStart(how.c_str())) {
    if (PQstatus(c_) == CONNECTION_BAD) fail();
  }
  connected(connected const&) = delete;
  connected& operator=(connected const&) = delete;
  ~connected() {
    loop_.forget(PQsocket(c_));
    PQfinish(c_);
  }

  [[nodiscard]] PGconn* get() const { return c_; }
  /// Is completed when the socket is ready.  The socket may change while connecting.
  [[nodiscard]] completion<short> when(short events) { return loop_.when(PQsocket(c_), events); }
  [[noreturn]] void fail() const {
    std::string const text = PQerrorMessage(c_);
    throw std::runtime_error(text.substr(0, text.find('\n')));
  }

 private:
  descriptor_loop& loop_;
  PGconn* c_;
};

eff<void, completions> finish_connecting(connected& c) {
  auto next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    auto ready = c.when(next == PGRES_POLLING_READING ? POLLIN : POLLOUT);
    (void)co_await ready.wait();
    next = PQconnectPoll(c.get());
    if (next == PGRES_POLLING_FAILED) c.fail();
  }
  PQsetnonblocking(c.get(), 1);
}

/// The first value of the first row.
eff<std::string, completions> value_of(connected& c, std::string sql) {
  if (PQsendQuery(c.get(), sql.c_str()) == 0) c.fail();
  while (PQflush(c.get()) == 1) {
    auto ready = c.when(POLLOUT);
    (void)co_await ready.wait();
  }
  std::string value;
  for (;;) {
    while (PQisBusy(c.get()) != 0) {
      auto ready = c.when(POLLIN);
      (void)co_await ready.wait();
      if (PQconsumeInput(c.get()) == 0) c.fail();
    }
    std::unique_ptr<PGresult, decltype(&PQclear)> const r(PQgetResult(c.get()), &PQclear);
    if (!r) break;
    if (PQresultStatus(r.get()) != PGRES_TUPLES_OK) c.fail();
    value = PQgetvalue(r.get(), 0, 0);
  }
  co_return value;
}

eff<void, timing> counts() {
  for (int i = 1; i != 3; ++i) {
    co_await timing::sleep_for(100ms);
    std::cout << "meanwhile " << i << '\n';
  }
}
eff<void, completions> asks(descriptor_loop& loop, std::string how) {
  try {
    connected c(loop, how);
    co_await finish_connecting(c);
    std::string const value = co_await value_of(c, "select 6 * 7 from pg_sleep(0.5)");
    std::cout << "the answer is " << value << '\n';
  } catch (std::runtime_error const& e) {
    std::cout << e.what() << '\n';
  }
}
eff<void, spawning<timing, completions>> program(descriptor_loop& loop, std::string how) {
  co_await spawn(asks, std::ref(loop), std::move(how));
  co_await spawn(counts);
}

}  // namespace

int main(int argc, char** argv) {
  std::string const how = argc > 1 ? argv[1] : "host=127.0.0.1 port=1";
  descriptor_loop loop;
  scheduler<> s;
  s.start([&] { return program(loop, how); });
  loop.run(s);
}
