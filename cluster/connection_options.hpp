// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

namespace weft::cluster {

/// How a NATS server or cluster is reached.
struct connection_options {
  /// One server of the cluster or several: "nats://a:4222,nats://b:4222"; `tls://` for TLS.
  std::string url = "nats://127.0.0.1:4222";
  /// How long a call that needs an answer waits for a cluster that does not answer.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);

  // What the servers ask for; empty: nothing.  They stand in no message of weft.
  std::string user{};
  std::string password{};
  std::string token{};
  std::string credentials_file{};
  std::string ca_file{};
  std::string certificate_file{};
  std::string key_file{};
};

}  // namespace weft::cluster
