// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

namespace weft::cluster {

/// How a NATS server or cluster is reached.  Options that the servers do not ask for stay empty.
/// No error message shows the user, the password or the token.
struct connection_options {
  /// One server of the cluster or several: `nats://a:4222,nats://b:4222`; `tls://` for TLS.
  std::string url = "nats://127.0.0.1:4222";
  /// How long a call that needs an answer of the cluster keeps trying.  Its last request may take
  /// two seconds more.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);

  std::string user{};              ///< The user; it may stand in `url` instead, before an `@`.
  std::string password{};          ///< The password of `user`.
  std::string token{};             ///< A token, in place of a user.
  std::string credentials_file{};  ///< A `.creds` file, which names a user and has its key.
  std::string ca_file{};           ///< The servers' certificate issuers, in PEM; turns TLS on.
  std::string certificate_file{};  ///< The certificate of this program, in PEM, for TLS.
  std::string key_file{};          ///< The key of `certificate_file`.
};

}  // namespace weft::cluster
