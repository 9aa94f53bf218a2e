// SPDX-License-Identifier: MIT
// A store on servers of NATS: how it is reached, and what it says if it cannot be.
#include <chrono>
#include <iostream>

#include <weft/cluster/nats_store.hpp>
using namespace weft;
using namespace std::chrono_literals;

void use(cluster::connection_options const& servers, cluster::nats_store_options const& o) try {
  cluster::nats_store store(servers, o);
  std::cout << store.workers().size() << " workers\n";
} catch (durable::store_error const& e) {
  std::cout << e.what() << '\n';
}

int main() {
  cluster::connection_options servers;
  servers.url = "nats://127.0.0.1:1";  // where no server is
  servers.patience = 100ms;
  cluster::nats_store_options o;
  o.name = "orders.2026";
  o.creates = true;
  o.replicas = 3;
  o.sharing.lease = 5s;
  use(servers, o);

  o.name = "orders-2026";
  servers.user = "ada";
  servers.password = "lovelace";
  use(servers, o);
}
