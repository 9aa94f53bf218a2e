// SPDX-License-Identifier: MIT
#include <atomic>
#include <memory>
#include <string>
#include <tuple>

#include "tests/cluster/servers.hpp"
#include "tests/durable/stores.hpp"
#include "weft/cluster/nats_store.hpp"

/// The laws of stores, on one server of NATS and on three with copies.
namespace {

using weft::cluster::nats_store;

weft::tests::nats_server& one_server() {
  static weft::tests::nats_server s;
  return s;
}
weft::tests::nats_cluster& three_servers() {
  static weft::tests::nats_cluster c;
  return c;
}

/// A store of a name of its own.
template <auto& Servers, unsigned Replicas>
class on_nats : public weft::tests::opened_twice<on_nats<Servers, Replicas>> {
 public:
  [[nodiscard]] std::unique_ptr<weft::durable::store> open() const {
    return std::make_unique<nats_store>(
        weft::cluster::connection_options{.url = Servers().url()},
        weft::cluster::nats_store_options{.name = name_, .replicas = Replicas});
  }

 private:
  static std::string next_name() {
    static std::atomic<int> n = 0;
    return "laws_" + std::to_string(++n);
  }
  std::string name_ = next_name();
};

using on_one_server = on_nats<one_server, 1>;
using on_three_servers = on_nats<three_servers, 3>;
using stores_under_test = std::tuple<on_one_server, on_three_servers>;

}  // namespace

#include "tests/durable/store_laws_of_statuses.hpp"
