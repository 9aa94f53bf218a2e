// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "weft/durable/replicated_store.hpp"

namespace weft::cluster {

/// How a store on a NATS cluster is reached: as connection_options say, and which one it is.  (It is not
/// derived from them, so that `{.url = u, .name = n}` compiles.)  User, password and token stand in no
/// message.
struct nats_store_options {
  /// One server of the cluster or several: `nats://a:4222,nats://b:4222`; `tls://` for TLS.
  std::string url = "nats://127.0.0.1:4222";
  /// Stores of different names are independent.  Letters, digits, `-` and `_`.
  std::string name = "weft";
  /// Whether a store that does not exist is made.
  bool creates = true;
  /// On how many servers of a cluster a store that is made has its log.
  unsigned replicas = 1;
  /// How long a call waits for a cluster that does not answer, beside the two seconds of a request.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);

  std::string user{};              ///< With `password`; or both in `url`, before an `@`.
  std::string password{};          ///< That of `user`.
  std::string token{};             ///< In place of a user.
  std::string credentials_file{};  ///< A file `.creds`, of a user with a key.
  std::string ca_file{};           ///< Issuers of servers' certificates, in PEM; asks for TLS.
  std::string certificate_file{};  ///< The certificate of this program, in PEM, for TLS.
  std::string key_file{};          ///< The key of `certificate_file`.

  /// Leases, for the workers of this handle.
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
/// later, as a whole, unless this handle makes another one.  Other errors are thrown at once, among them
/// that a server's disk is full; what was stored stays.
///
/// Throws durable::store_error when it is opened if there is no server, if it refuses this program or has
/// no JetStream, if a file of the options cannot be read, if `name` has other characters, or if the
/// stream is not weft's.  O(size of the log) to open.  Allocates as replicated_store does.  Thread safe.
class nats_store final : private detail::nats_log_owner, public durable::replicated_store {
 public:
  explicit nats_store(nats_store_options const& o);
};

}  // namespace weft::cluster
