// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "weft/cluster/connection_options.hpp"
#include "weft/durable/replicated_store.hpp"

namespace weft::cluster {

/// Which store of a NATS cluster is opened, and how engines share it.
struct nats_store_options {
  /// Stores of different names are independent.  Letters, digits, `-` and `_`.
  std::string name = "weft";
  /// Whether a store that does not exist is made.
  bool creates = true;
  /// On how many servers of a cluster the log of a new store is kept.
  unsigned replicas = 1;
  /// How workers on this nats_store hold their processes: by leases (replicated_store.hpp).
  durable::replicated_store_options sharing{};
};

namespace detail {
/// A log that is a JetStream stream.
class nats_log;
/// Owns the log of a nats_store.  It is the store's first base, so the log is destroyed last.
class nats_log_owner {
 public:
  nats_log_owner(connection_options const& servers, nats_store_options const& o);
  nats_log_owner(nats_log_owner const&) = delete;
  nats_log_owner& operator=(nats_log_owner const&) = delete;
  ~nats_log_owner();

 protected:
  std::unique_ptr<nats_log> stream_;
};
}  // namespace detail

/// A store on a NATS server or cluster with JetStream: for engines on many computers.  Its log is
/// one stream, `weft_NAME`, whose entries are kept in files, on `replicas` servers.
///
/// A server that is killed loses nothing that it had acknowledged; a server of NATS 2.9 whose
/// computer loses power may lose the last two minutes, unless others have copies.
///
/// Each call that changes the store waits for one answer of a server.  Calls wait while the cluster
/// cannot be reached, and throw durable::store_error when `patience` has passed: the change may
/// still be made later, as a whole, unless this nats_store makes another one.  Other errors are
/// thrown at once, such as a full disk of a server; entries that were stored stay.
///
/// The constructor throws durable::store_error if there is no server, if the server refuses this
/// program or has no JetStream, if a file of the options cannot be read, if `name` is empty or has
/// a character that is not allowed, or if the stream does not exist and is not to be made, is not
/// weft's, or has lost its first entries.  O(size of the log) to open.  Allocates as
/// replicated_store does.  Thread safe.
class nats_store final : private detail::nats_log_owner, public durable::replicated_store {
 public:
  explicit nats_store(connection_options const& servers, nats_store_options const& o = {});
};

}  // namespace weft::cluster
