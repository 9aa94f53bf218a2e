// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

namespace weft::cluster {

/// How a NATS server or cluster is reached.  Texts and files that the servers do not ask for are empty.
/// User, password and token stand in no message.
struct connection_options {
  /// One server of the cluster or several: `nats://a:4222,nats://b:4222`; `tls://` for TLS.
  std::string url = "nats://127.0.0.1:4222";
  /// How long a call that needs an answer waits for a cluster that does not answer, beside the two
  /// seconds of a request.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);

  std::string user{};              ///< With `password`; or both in `url`, before an `@`.
  std::string password{};          ///< That of `user`.
  std::string token{};             ///< In place of a user.
  std::string credentials_file{};  ///< A file `.creds`, of a user with a key.
  std::string ca_file{};           ///< Issuers of servers' certificates, in PEM; asks for TLS.
  std::string certificate_file{};  ///< The certificate of this program, in PEM, for TLS.
  std::string key_file{};          ///< The key of `certificate_file`.
};

}  // namespace weft::cluster
