// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "weft/cluster/connection_options.hpp"
#include "weft/durable/replicated_store.hpp"

namespace weft::cluster {

/// How a store on a NATS cluster is reached.
struct nats_store_options : connection_options {
  /// Stores of different names are independent.  Letters, digits, `-` and `_`.
  std::string name = "weft";
  /// Whether a store that does not exist is made; with how many copies, on servers of a cluster.
  bool creates = true;
  unsigned replicas = 1;

  durable::replicated_store_options sharing{};
};

namespace detail {
/// A log that is a JetStream stream.
class nats_log;
/// Owns the log of a nats_store, which is destroyed before it.
class nats_log_owner {
 public:
  explicit nats_log_owner(nats_store_options const& o);
  nats_log_owner(nats_log_owner const&) = delete;
  nats_log_owner& operator=(nats_log_owner const&) = delete;
  ~nats_log_owner();

 protected:
  std::unique_ptr<nats_log> stream_;
};
}  // namespace detail

/// A store on a NATS server or cluster with JetStream: for engines on many computers.  Its log is one
/// stream, `weft_NAME`, whose entries the servers keep in files, on `replicas` servers.
///
/// A server that is killed loses nothing that it had acknowledged; a server of NATS 2.9 whose
/// computer loses power may lose the last two minutes, unless others have copies.
///
/// Each call that changes the store waits for one answer of a server.  Calls wait while the cluster
/// cannot be reached, and throw durable::store_error when `patience` has passed: the change may be made
/// later, as a whole, unless this handle makes another one.  The constructor throws store_error
/// if there is no server, if it has no JetStream, or if the stream is not weft's.
class nats_store final : private detail::nats_log_owner, public durable::replicated_store {
 public:
  explicit nats_store(nats_store_options const& o);
};

}  // namespace weft::cluster
