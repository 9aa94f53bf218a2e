// SPDX-License-Identifier: MIT

/// An echo server and a thousand clients, in one program, over real sockets: a process each.
///
/// All clients connect first; then the server begins to accept, and has descriptors for a fifth of
/// them.  So it runs out of descriptors, and the others wait until the first connections have been
/// closed.  None is lost.
///
/// By hand, in two terminals:
///
///     echo_server --serve=4000
///     echo_server --connect=4000

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "examples/backend.hpp"
#include "examples/echo.hpp"
#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/reactor.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;
using examples::attendance;
using examples::serving;

constexpr std::size_t clients = 1000;
constexpr std::size_t for_the_server = clients / 5;
constexpr int messages = 10;

struct answers {
  std::size_t right = 0;
  std::size_t wrong = 0;
};

/// Sends messages, and counts the right answers.
eff<void, networking, syncing> talk(connection& c, std::size_t number, shared<answers>& all) {
  for (int i = 0; i != messages; ++i) {
    std::string const said = "client " + std::to_string(number) + ", message " + std::to_string(i);
    co_await c.write(said);
    std::string heard(said.size(), ' ');
    co_await c.read_all(std::as_writable_bytes(std::span(heard)));
    bool const is_right = heard == said;
    co_await all.update([is_right](answers& a) { ++(is_right ? a.right : a.wrong); });
  }
}
eff<void, networking, syncing> client(endpoint server, std::size_t number, barrier& all_are_there,
                                      shared<answers>& all) {
  connection c = co_await connect(server);
  co_await all_are_there.arrive_and_wait();
  co_await talk(c, number, all);
}

// ---- three programs

using program = eff<void, serving, networking, syncing>;

/// Both sides, and the final counts.
program both() {
  shared<attendance> who;
  shared<answers> all;
  barrier all_are_there(clients + 1);
  listener door = co_await listen(endpoint());
  endpoint const at = door.local();
  for (std::size_t i = 0; i != clients; ++i)
    co_await spawn(client, at, i, std::ref(all_are_there), std::ref(all));
  co_await all_are_there.arrive_and_wait();
  co_await examples::echo_server(std::move(door), who, clients);
  co_await who.wait_for([](attendance const& a) { return a.gone == clients; });

  answers const a = co_await all.get();
  attendance const w = co_await who.get();
  std::cout << clients << " connections, " << a.right << " right answers, " << a.wrong
            << " wrong ones\n"
            << w.gone << " served, " << w.cut_off << " cut off\n"
            << (w.times_full != 0 ? "some had to wait for a descriptor\n" : "nobody had to wait\n");
}
program server_alone(std::uint16_t port) {
  shared<attendance> who;
  listener door = co_await listen(endpoint(port));
  std::cout << "serving at " << door.local().text() << std::endl;
  co_await examples::echo_server(std::move(door), who);
}
program client_alone(std::uint16_t port) {
  shared<answers> all;
  connection c = co_await connect(endpoint(port));
  co_await talk(c, 0, all);
  answers const a = co_await all.get();
  std::cout << a.right << " right answers, " << a.wrong << " wrong ones\n";
}

// ---- the choice between them

/// Limits the descriptors that can still be opened to `n`.
void leave_descriptors(std::size_t n) {
  int const next = ::dup(0);
  ::close(next);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = static_cast<rlim_t>(next) + n;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  std::cerr << "more open files are needed than there may be: see ulimit -Hn\n";
  std::exit(1);
}

std::uint16_t port_of(examples::backend const& on) {
  int const port = on.number(on.argument().substr(on.argument().find('=') + 1));
  if (port > 0xffff) on.refuse();
  return static_cast<std::uint16_t>(port);
}

int main(int argc, char** argv) try {
  examples::backend const on(argc, argv, "[--serve=PORT | --connect=PORT]");
  reactor net;
  if (on.argument().starts_with("--serve=")) {
    on.schedule([port = port_of(on)] { return server_alone(port); }, net);
  } else if (on.argument().starts_with("--connect=")) {
    on.schedule([port = port_of(on)] { return client_alone(port); }, net);
  } else if (on.argument().empty()) {
    leave_descriptors(1 + clients + for_the_server);
    on.schedule(both, net);
  } else {
    on.refuse();
  }
} catch (io_error const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
