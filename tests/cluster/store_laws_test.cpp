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

/// A store of a name of its own, and a second handle, as another program has it.
template <auto& Servers, unsigned Replicas>
class on_nats {
 public:
  on_nats() { reopen(); }
  weft::durable::store& operator*() { return *store_; }
  weft::durable::store* operator->() { return store_.get(); }
  weft::durable::store& other() {
    if (!other_) other_ = open();
    return *other_;
  }
  void reopen() {
    other_.reset();
    store_.reset();
    store_ = open();
  }

 private:
  [[nodiscard]] std::unique_ptr<nats_store> open() const {
    weft::cluster::nats_store_options o;
    o.url = Servers().url();
    o.name = name_;
    o.replicas = Replicas;
    return std::make_unique<nats_store>(o);
  }
  static std::string next_name() {
    static std::atomic<int> n = 0;
    return "laws_" + std::to_string(++n);
  }
  std::string name_ = next_name();
  std::unique_ptr<nats_store> store_;
  std::unique_ptr<nats_store> other_;
};

using on_one_server = on_nats<one_server, 1>;
using on_three_servers = on_nats<three_servers, 3>;
using stores_under_test = std::tuple<on_one_server, on_three_servers>;

}  // namespace

#include "tests/durable/store_laws_of_statuses.hpp"
