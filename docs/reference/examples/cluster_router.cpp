// SPDX-License-Identifier: MIT
// Messages between computers that may be lost.  Its argument is the address of a server.
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>

#include <weft/cluster/router.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

struct status {
  static constexpr std::string_view stored_name = "status";
  bool is_here = false;
  std::string text;
  MSGPACK_DEFINE(is_here, text)
};

eff<void, completions, timing> watch(cluster::router const& r) {
  cluster::listen_options few;
  few.capacity = 10;
  cluster::lossy_inbox<status> in = co_await r.listen<status>("presence.*", few);
  cluster::lossy_address<status> const alice = r.to<status>("presence.alice");
  alice.send({true, "writes"});
  status const first = co_await in.receive();
  std::cout << alice.subject() << ": " << first.text << '\n';
  auto const second = co_await in.receive_until(co_await timing::now{} + 10ms);
  std::cout << "another one: " << (second || in.try_receive()) << '\n';
  std::cout << "lost: " << in.overflowed() + in.unreadable() + r.unsent() << '\n';
}

int main(int argc, char** argv) try {
  cluster::connection_options o;
  o.url = argc == 2 ? argv[1] : "nats://127.0.0.1:1";  // where no server is
  o.patience = 100ms;
  o.user = "ada";
  o.password = "lovelace";
  cluster::router const r(o);
  schedule([&] { return watch(r); });
} catch (cluster::routing_error const& e) {
  std::cout << e.what() << '\n';
  cluster::connection_options with_tls;
  with_tls.url = "tls://127.0.0.1:1";
  with_tls.token = "sesame";
  with_tls.ca_file = "issuers.pem";
  with_tls.certificate_file = "worker.pem";
  with_tls.key_file = "worker.key";
  with_tls.credentials_file = "worker.creds";
  try {
    cluster::router const r(with_tls);
  } catch (cluster::routing_error const& none) {
    std::cout << none.what() << '\n';
  }
}
