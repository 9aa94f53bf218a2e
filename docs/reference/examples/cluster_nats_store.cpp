// SPDX-License-Identifier: MIT
// A store on servers of NATS: how it is reached, and what it says if it cannot be.
#include <chrono>
#include <iostream>

#include <weft/cluster/nats_store.hpp>
using namespace weft;
using namespace std::chrono_literals;

void use(cluster::nats_store_options const& o) try {
  cluster::nats_store store(o);
  std::cout << store.workers().size() << " workers\n";
} catch (durable::store_error const& e) {
  std::cout << e.what() << '\n';
}

int main() {
  cluster::nats_store_options o;
  o.url = "nats://127.0.0.1:1";  // where no server is
  o.name = "orders.2026";
  o.creates = true;
  o.replicas = 3;
  o.patience = 100ms;
  o.sharing.lease = 5s;
  use(o);

  o.name = "orders-2026";
  o.user = "ada";
  o.password = "lovelace";
  use(o);

  cluster::nats_store_options with_tls;
  with_tls.url = "tls://127.0.0.1:1";
  with_tls.token = "sesame";
  with_tls.ca_file = "issuers.pem";
  with_tls.certificate_file = "worker.pem";
  with_tls.key_file = "worker.key";
  with_tls.credentials_file = "worker.creds";
  use(with_tls);
}
